import Foundation
import XCTest

/// Tests line breaks, NUL, other separators and 8 KB of text in every text field, header and query. The server must
/// refuse each of them or treat it as text, so that a caller cannot insert a line into an answer, a mail or a log.
final class AbuseInjectionTests: XCTestCase {
    private static let marker = "Injected: 1"
    private let values =
        ["\r", "\n", "\r\n", "\u{0}", "\u{2028}", "\"}\n{\"", "\"\u{2028}"].map { "a@b\($0)\(marker)" }
        + [String(repeating: "a", count: 8192)]

    /// A request with one field whose text the test chooses.
    private struct Place {
        let target: String
        var method = "POST"
        let body: (String) -> String
        var port: KeyPath<Backend, Int> = \.port
    }

    private let places = [
        Place(target: "/rps/user", method: "PUT") { "{\"userId\":\($0)}" },
        Place(target: "/rps/user", method: "PUT") { "{\"userId\":\"a@b.c\",\"deviceName\":\($0)}" },
        Place(target: "/rps/user", method: "PUT") { "{\"userId\":\"a@b.c\",\"userData\":\($0)}" },
        Place(target: "/rps/user", method: "PUT") { "{\"userId\":\"a@b.c\",\"activateCode\":\($0)}" },
        Place(target: "/rps/user", method: "PUT") { "{\"userId\":\"a@b.c\",\"mobile\":\($0)}" },
        Place(target: "/rps/user/7b7d", method: "PUT") { "{\"userId\":\"a@b.c\",\"regOTT\":\($0)}" },
        Place(target: "/rps/pass1") { "{\"mpin_id\":\($0),\"U\":\"\",\"UT\":\"\"}" },
        Place(target: "/rps/pass1") { "{\"mpin_id\":\"7b7d\",\"U\":\($0),\"UT\":\($0)}" },
        Place(target: "/rps/pass2") { "{\"mpin_id\":\"7b7d\",\"V\":\($0),\"WID\":\"0\",\"OTP\":false}" },
        Place(target: "/rps/pass2") { "{\"mpin_id\":\"7b7d\",\"V\":\"00\",\"WID\":\($0),\"OTP\":\($0)}" },
        Place(target: "/rps/access") { "{\"webOTT\":\($0)}" },
        Place(target: "/rps/access") { "{\"webOTT\":\"00\",\"status\":\($0)}" },
        Place(target: "/rps/codeStatus") { "{\"wid\":\($0),\"status\":\"wid\"}" },
        Place(target: "/rps/codeStatus") { "{\"wid\":\"00\",\"status\":\($0),\"userId\":\($0)}" },
        Place(target: "/mpinAuthenticate") { "{\"mpinResponse\":{\"authOTT\":\($0)}}" },
        Place(target: "/mpinAuthenticate") {
            "{\"mpinResponse\":{\"authOTT\":\"00\",\"version\":\($0)},\"scope\":\($0)}"
        },
        Place(target: "/authenticate", body: { "{\"authOTT\":\($0)}" }, port: \.privatePort),
        Place(target: "/authenticate", body: { "{\"authOTT\":\"00\",\"logoutURL\":\($0)}" }, port: \.privatePort),
        Place(
            target: "/loginResult", body: { "{\"authOTT\":\"00\",\"status\":200,\"message\":\($0)}" },
            port: \.privatePort),
    ]

    func testNoFieldMakesALineOfItsOwn() throws {
        let server = try InProcess()
        for place in places {
            for value in values {
                let answer = try ask(server, place, Data(place.body(value.quoted).utf8))
                XCTAssertTrue(200..<500 ~= answer.status, "\(place.target) \(value.prefix(20)): \(answer.status)")
                XCTAssertNil(answer.headers["injected"], place.target)
            }
        }
        try check(server)
    }

    /// Bytes that HTTP forbids in a header must give 400. Others must be treated as text.
    func testNoHeaderOrQueryMakesALineOfItsOwn() throws {
        let server = try InProcess()
        for name in ["Host", "Origin", "User-Agent", "X-Request-Id", "X-Forwarded-For", "Referer", "Cookie", "Accept"] {
            for value in values where value != "a@b\r\n\(Self.marker)" {
                let head = "GET /rps/clientSettings HTTP/1.1\r\n" + (name == "Host" ? "" : "Host: h\r\n")
                let request = Data((head + "\(name): \(value)\r\nConnection: close\r\n\r\n").utf8)
                let answer = try Sockets.raw(server.backend.port, request)
                let isForbidden = value.unicodeScalars.contains { "\r\n\0".unicodeScalars.contains($0) }
                XCTAssertTrue(
                    isForbidden ? answer.status == 400 : 200..<500 ~= answer.status, "\(name): \(answer.status)")
                XCTAssertNil(answer.headers["injected"], name)
            }
        }
        for value in values.compactMap({ $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) }) {
            for target in ["/rps/signature/7b7d?regOTT=", "/mpinActivate?i=7b7d&e=0&s=", "/rps/timePermit/", "/"] {
                let answer = try server.backend.call("GET", target + value)
                XCTAssertTrue(200..<500 ~= answer.status, "\(target): \(answer.status)")
                XCTAssertNil(answer.headers["injected"], target)
            }
        }
        try check(server)
    }

    private func ask(_ server: InProcess, _ place: Place, _ body: Data) throws -> Answer {
        let head = "\(place.method) \(place.target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
        let length = "Content-Length: \(body.count)\r\n\r\n"
        return try Sockets.raw(server.backend[keyPath: place.port], Data((head + length).utf8) + body)
    }

    /// Checks that each line of both logs is one JSON object, and that no mail has an additional line.
    private func check(_ server: InProcess) throws {
        let backend = server.backend
        for path in [server.log.path, backend.stateFolder + "/audit/audit.jsonl"] {
            for line in try Data(contentsOf: URL(fileURLWithPath: path)).split(separator: 0x0A) {
                let object = try? JSONSerialization.jsonObject(with: line)
                XCTAssertNotNil(object as? [String: Any], String(decoding: line, as: UTF8.self))
            }
        }
        for file in (try? FileManager.default.contentsOfDirectory(atPath: backend.mailFolder)) ?? [] {
            let mail = try Data(contentsOf: URL(fileURLWithPath: backend.mailFolder + "/" + file))
            for line in mail.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
                XCTAssertFalse(line.starts(with: Data(Self.marker.utf8)), file)
            }
        }
    }
}
