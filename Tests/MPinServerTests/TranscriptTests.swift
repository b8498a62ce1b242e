import Foundation
import MPinSecrets
import MPinWire
import XCTest

/// The recorded exchanges of an old client with the old server, played again: the old client's own headers and body
/// layout, and answers with at least the recorded members, each of the recorded JSON type.
final class TranscriptTests: XCTestCase {
    /// Members that old clients do not need, of things that are not served.
    private let notServed: Set = ["accessNumberURL", "getAccessNumberURL", "someUserData"]

    func testTheOldClientsFlowGetsTheAnswersThatItWasRecordedWith() throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        _ = try play(server, "std-01-clientSettings", "GET", "/rps/clientSettings")

        var wish = try XCTUnwrap(recorded("verify-01-register-needs-confirmation", "PUT", "/rps/user").body)
        wish["userId"] = "alice@example.com"
        let registered = try play(server, "verify-01-register-needs-confirmation", "PUT", "/rps/user", body: wish)
        let id = try XCTUnwrap(registered.object["mpinId"] as? String)
        let regOTT = try XCTUnwrap(registered.object["regOTT"] as? String)
        let signature = "/rps/signature/\(id)?regOTT=\(regOTT)"
        _ = try play(server, "verify-02-confirm-before-activation-401", "GET", signature, as: "/rps/signature/")
        wish["regOTT"] = regOTT
        _ = try play(server, "verify-03-restart-registration", "PUT", "/rps/user/" + id, as: "/rps/user/", body: wish)
        let link = try server.backend.link(to: "alice@example.com")
        for method in ["GET", "POST"] {
            _ = try play(server, "verify-04-activate-by-mail-link", method, link, as: "/mpinActivate")
        }
        let first = try play(server, "verify-05-confirm-after-activation", "GET", signature, as: "/rps/signature/")
        let params = try XCTUnwrap(first.object["params"] as? String)
        _ = try play(
            server, "verify-05-confirm-after-activation", "GET", "/clientSecret?" + params, as: "/v3/clientSecret?",
            port: server.backend.dta2Port)
        _ = try play(server, "std-03-setupDone", "POST", "/rps/setupDone/" + id, as: "/rps/setupDone/")
        _ = try play(server, "std-03-setupDone", "GET", "/rps/setupDone/" + id, as: "/rps/setupDone/")

        let user = try client.finishRegistration(
            .init(mpinId: id, regOTT: regOTT, active: true, expireTime: "", nowTime: ""), pin: "1234")
        try permits(server, id)
        try logIn(server, client, user, "9999", "std-07-wrong-pin-then-right")
        try logIn(server, client, user, "1234", "std-05-authenticate-right-pin")
    }

    /// The permit storage says 404, then D-TA 2 is asked.
    private func permits(_ server: InProcess, _ id: String) throws {
        let flow = "std-04-timePermits-storage404-then-dta"
        let answer = try play(server, flow, "GET", "/rps/timePermit/" + id, as: "/rps/timePermit/")
        let storage = try XCTUnwrap(TestClient(backend: server.backend).settings().timePermitsStorageURL)
        let hash = try XCTUnwrap(answer.object["storageId"] as? String)
        let date = try XCTUnwrap(answer.object["date"] as? Int)
        XCTAssertEqual(try server.backend.call("GET", "\(storage)/app/\(date)/\(hash)").status, 404)
        let signature = try XCTUnwrap(answer.object["signature"] as? String)
        _ = try play(
            server, flow, "GET", "/timePermit?hash_mpin_id=\(hash)&app_id=x&mobile=1&signature=\(signature)",
            as: "/v3/timePermit?", port: server.backend.dta2Port)
    }

    private func logIn(
        _ server: InProcess, _ client: TestClient, _ user: TestClient.User, _ pin: String, _ flow: String
    ) throws {
        let permit = try client.timePermit(user)
        let commitment = try client.commitment(user, pin: pin, permit: permit)
        var pass1 = try XCTUnwrap(recorded(flow, "POST", "/rps/pass1").body)
        XCTAssertEqual(Set(pass1.keys), ["pass", "mpin_id", "U", "UT"])
        pass1["mpin_id"] = user.id
        pass1["U"] = Hex.encode(commitment.u)
        pass1["UT"] = Hex.encode(commitment.ut)
        let challenge = try play(server, flow, "POST", "/rps/pass1", body: pass1)
        let y = try XCTUnwrap(Hex.decode(XCTUnwrap(challenge.object["y"] as? String)))
        let login = TestClient.Login(user: user, x: commitment.x, sec: commitment.sec, y: y)
        var pass2 = try XCTUnwrap(recorded(flow, "POST", "/rps/pass2").body)
        XCTAssertEqual(Set(pass2.keys), ["pass", "mpin_id", "V", "WID", "OTP"])
        pass2["mpin_id"] = user.id
        pass2["V"] = try client.proof(login)
        let ott = try play(server, flow, "POST", "/rps/pass2", body: pass2)
        _ = try play(server, flow, "POST", "/mpinAuthenticate", body: ["mpinResponse": ott.object])
    }

    private struct Exchange {
        let headers: [[String]]
        let body: [String: Any]?
        let status: Int
        let answer: JSONValue
    }

    /// The first recorded exchange of a client with that method and beginning of the target.
    private func recorded(_ flow: String, _ method: String, _ target: String) throws -> Exchange {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Vectors/transcripts/\(flow).json")
        let content = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let exchanges = try XCTUnwrap(content?["exchanges"] as? [[String: Any]])
        for exchange in exchanges where ["rpa", "cloud"].contains(exchange["hop"] as? String) {
            guard let request = exchange["request"] as? [String: Any], request["method"] as? String == method,
                (request["target"] as? String)?.hasPrefix(target) ?? false,
                let response = exchange["response"] as? [String: Any]
            else { continue }
            return Exchange(
                headers: request["headers"] as? [[String]] ?? [], body: request["body"] as? [String: Any],
                status: response["status"] as? Int ?? 0, answer: try json(response["body"] ?? ""))
        }
        throw Sockets.Failure(text: "\(flow) holds no \(method) \(target)")
    }

    /// Sends what the old client sent, with fresh values, and compares the answer with the recorded one.
    private func play(
        _ server: InProcess, _ flow: String, _ method: String, _ target: String, as old: String? = nil,
        body: [String: Any]? = nil, port: Int? = nil
    ) throws -> Answer {
        let exchange = try recorded(flow, method, old ?? target)
        var headers: [String: String] = [:]
        for header in exchange.headers where !["Host", "Content-Length", "Connection", "Accept"].contains(header[0]) {
            headers[header[0]] = header[1]
        }
        let data = try body.map { try JSONSerialization.data(withJSONObject: $0, options: .prettyPrinted) }
        let answer = try server.backend.call(
            method, target, data ?? (method == "GET" ? nil : Data()), headers: headers, port: port)
        XCTAssertEqual(answer.status, exchange.status, "\(flow) \(method) \(target): \(answer.text)")
        XCTAssertEqual(answer.statuses.first == 100, headers["Expect"] != nil, "\(flow) \(method): \(answer.statuses)")
        guard case .object(let members) = exchange.answer else { return answer }
        let ours: JSONValue = try answer.json()
        for (name, value) in members where !notServed.contains(name) {
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
