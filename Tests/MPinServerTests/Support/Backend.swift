import Foundation
import LoopbackServer
import XCTest

/// The ports and folders of a running server, and requests to it.
struct Backend: Sendable {
    var port: Int
    var privatePort: Int
    var dta1Port: Int
    var dta2Port: Int
    var stateFolder: String
    var mailFolder: String
    /// The bearer token for the private listener; nil if that requires none.
    var privateToken: String?
    /// The last two bytes of the loopback address from which requests are sent; 1 means 127.0.0.1.
    var source: UInt16 = 1
    /// The secrets that were sent and received. The server's logs are searched for them.
    let traffic = Traffic()

    static func onFreePorts() -> Backend {
        let ports = freePorts(4)
        let state = NSTemporaryDirectory() + "mpind-test-" + UUID().uuidString
        return Backend(
            port: ports[0], privatePort: ports[1], dta1Port: ports[2], dta2Port: ports[3], stateFolder: state,
            mailFolder: state + "/mail")
    }

    /// The same server, asked from another loopback address.
    func from(_ source: UInt16) -> Backend {
        var other = self
        other.source = source
        return other
    }

    func call(
        _ method: String, _ target: String, _ body: String? = nil, headers: [String: String] = [:], port: Int? = nil
    ) throws -> Answer {
        try call(method, target, body.map { Data($0.utf8) }, headers: headers, port: port)
    }

    /// Sends a request as Milagro's client does: on a new connection, with the same headers as that client and no
    /// others.
    func call(
        _ method: String, _ target: String, _ body: Data?, headers: [String: String] = [:], port: Int? = nil
    ) throws -> Answer {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAccept: text/plain\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if let body { head += "Content-Length: \(body.count)\r\n" }
        let answer = try Sockets.raw(port ?? self.port, Data((head + "\r\n").utf8) + (body ?? Data()), from: source)
        traffic.add(target, headers, body ?? Data(), answer)
        return answer
    }

    func callPrivate(_ method: String, _ target: String, _ body: String? = nil) throws -> Answer {
        let headers = privateToken.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        return try call(method, target, body, headers: headers, port: privatePort)
    }

    /// Returns path and query of the newest activation link for `user` in the mail folder.
    func link(to user: String) throws -> String {
        let files = try FileManager.default.contentsOfDirectory(atPath: mailFolder).filter { $0.hasSuffix(".eml") }
        for file in files.sorted().reversed() {
            let text = try String(contentsOfFile: mailFolder + "/" + file, encoding: .utf8)
            guard text.contains("To: <\(user)>") else { continue }
            let line = text.components(separatedBy: "\r\n").first { $0.hasPrefix("http") }
            let url = try XCTUnwrap(line)
            return try "/" + XCTUnwrap(url.components(separatedBy: "/").last)
        }
        throw Sockets.Failure(text: "no mail to \(user)")
    }
}

extension String {
    /// Returns this text as a JSON string, including the quotes.
    var quoted: String {
        String(decoding: (try? JSONEncoder().encode(self)) ?? Data(), as: UTF8.self)
    }
}
