import Foundation
import MPinWire
import XCTest

/// Sends recorded requests to a server and compares its answers with the recorded ones.
struct TranscriptPlayer: Sendable {
    let server: InProcess

    /// Members of recorded answers that our server leaves out, because Milagro's clients do not need them.
    private static let notServed: Set = ["someUserData"]

    struct Exchange {
        let headers: [[String]]
        let body: [String: Any]?
        let status: Int
        let answer: JSONValue
    }

    /// Returns a recorded exchange of this flow whose request has this method and a target that begins with `target`.
    /// Skips the first `number` of them. `hop`: the server that was asked; nil for requests of clients.
    func recorded(
        _ flow: String, _ method: String, _ target: String, _ number: Int = 0, hop: String? = nil
    ) throws -> Exchange {
        var number = number
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Vectors/transcripts/\(flow).json")
        let content = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let exchanges = try XCTUnwrap(content?["exchanges"] as? [[String: Any]])
        let hops = hop.map { [$0] } ?? ["rpa", "cloud"]
        for exchange in exchanges where hops.contains(exchange["hop"] as? String ?? "") {
            guard let request = exchange["request"] as? [String: Any], request["method"] as? String == method,
                (request["target"] as? String)?.hasPrefix(target) ?? false,
                let response = exchange["response"] as? [String: Any]
            else { continue }
            number -= 1
            guard number < 0 else { continue }
            return Exchange(
                headers: request["headers"] as? [[String]] ?? [], body: request["body"] as? [String: Any],
                status: response["status"] as? Int ?? 0, answer: try json(response["body"] ?? ""))
        }
        throw Sockets.Failure(text: "\(flow) holds no \(method) \(target)")
    }

    /// Sends a request of Milagro's client with fresh values in its body, and compares the answer with the recorded
    /// one.
    func play(
        _ flow: String, _ method: String, _ target: String, as old: String? = nil,
        number: Int = 0, body: [String: Any]? = nil, hop: String? = nil, port: Int? = nil
    ) throws -> Answer {
        let data = try body.map { try JSONSerialization.data(withJSONObject: $0, options: .prettyPrinted) }
        return try send(flow, method, target, as: old, number: number, body: data, hop: hop, port: port)
    }

    /// Does the same as `play` with a body that is already encoded.
    func send(
        _ flow: String, _ method: String, _ target: String, as old: String? = nil, number: Int = 0, body: Data?,
        hop: String? = nil, port: Int? = nil
    ) throws -> Answer {
        let exchange = try recorded(flow, method, old ?? target, number, hop: hop)
        let port = hop == "rps" ? server.backend.privatePort : port
        var headers: [String: String] = [:]
        for header in exchange.headers where !["Host", "Content-Length", "Connection", "Accept"].contains(header[0]) {
            headers[header[0]] = header[1]
        }
        let answer = try server.backend.call(
            method, target, body ?? (method == "GET" ? nil : Data()), headers: headers, port: port)
        XCTAssertEqual(answer.status, exchange.status, "\(flow) \(method) \(target): \(answer.text)")
        XCTAssertEqual(answer.statuses.first == 100, headers["Expect"] != nil, "\(flow) \(method): \(answer.statuses)")
        guard case .object(let members) = exchange.answer else { return answer }
        let ours: JSONValue = try answer.json()
        for (name, value) in members where !Self.notServed.contains(name) {
            XCTAssertEqual(kind(ours[name]), kind(value), "\(flow) \(method) \(old ?? target): \(name)")
        }
        return answer
    }

    private func json(_ value: Any) throws -> JSONValue {
        try JSONDecoder().decode(
            JSONValue.self, from: JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed))
    }

    private func kind(_ value: JSONValue?) -> String {
        switch value {
        case nil: "nothing"
        case .null: "null"
        case .bool: "boolean"
        case .int, .double: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}
