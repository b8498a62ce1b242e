import Foundation
import MPinOpenID
import XCTest

/// Tests the part of the admin API for the clients of the OpenID provider.
final class AdminClientTests: AdminAPITestCase {
    func testClientsAreManagedAsByCommand() throws {
        let server = try start()
        let token = try token(server, "deploy", [.clientsWrite])
        func ask(_ method: String, _ target: String, _ body: String? = nil, _ status: Int = 200) throws -> Answer {
            let answer = try self.ask(server, method, target, body, token: token)
            XCTAssertEqual(answer.status, status, "\(method) \(target) \(body ?? ""): \(answer.text)")
            return answer
        }
        let shop = "{\"id\":\"shop\",\"redirect-uri\":[\"https://shop.example/cb\"],\"name\":\"The shop\"}"
        let added = try ask("POST", "/clients", shop)
        let secret = try XCTUnwrap(added.object["secret"] as? String)
        XCTAssertNotNil(secret.wholeMatch(of: /[A-Za-z0-9_-]{43}/))
        func isSecret(_ secret: String) throws -> Bool {
            let answer = try server.backend.call(
                "POST", "/oidc/token", "grant_type=authorization_code",
                headers: [
                    "Content-Type": "application/x-www-form-urlencoded",
                    "Authorization": "Basic " + Data("shop:\(secret)".utf8).base64EncodedString(),
                ])
            return answer.object["error"] as? String == "invalid_request"
        }
        XCTAssertTrue(try isSecret(secret))
        let shown = try ask("GET", "/clients/shop")
        XCTAssertEqual(shown.object["name"] as? String, "The shop")
        XCTAssertFalse(shown.text.contains(secret))
        _ = try ask("POST", "/clients", shop, 409)
        let set = try ask(
            "PATCH", "/clients/shop",
            "{\"first-party\":true,\"access-token-seconds\":60,\"scope\":[\"openid\"],\"name\":\"S\"}")
        XCTAssertEqual(set.object["first-party"] as? Bool, true)
        XCTAssertEqual(set.object["access-token-seconds"] as? Int, 60)
        XCTAssertEqual(set.object["scope"] as? [String], ["openid"])
        for body in [
            "{}", "[]", "{\"colour\":\"red\"}", "{\"first-party\":\"true\"}", "{\"name\":1}", "{\"name\":null}",
            "{\"redirect-uri\":\"https://shop.example\"}", "{\"redirect-uri\":[]}", "{\"redirect-uri\":[1]}",
            "{\"access-token-seconds\":\"60\"}", "{\"access-token-seconds\":1}", "{\"id\":\"other\"}", "nonsense",
            "{\"name\":\"a\",\"name\":\"b\"}", "{\"secrets\":[]}",
        ] {
            _ = try ask("PATCH", "/clients/shop", body, 400)
        }
        let rotated = try XCTUnwrap(try ask("POST", "/clients/shop/rotate-secret").object["secret"] as? String)
        XCTAssertEqual([try isSecret(secret), try isSecret(rotated)], [true, true], "both during the overlap")
        let own = String(repeating: "x", count: 40)
        let replaced = try ask("POST", "/clients/shop/rotate-secret", "{\"secret\":\"\(own)\",\"overlap-seconds\":0}")
        XCTAssertNil(replaced.object["secret"])
        XCTAssertEqual([try isSecret(rotated), try isSecret(own)], [false, true])
        for body in ["{\"secret\":\"short\"}", "{\"overlap-seconds\":-1}", "{\"name\":\"x\"}", "{\"secret\":1}"] {
            _ = try ask("POST", "/clients/shop/rotate-secret", body, 400)
        }
        _ = try ask("POST", "/clients/shop/rotate-secret", "{\"secret\":\"\(own)\"}", 409)
        XCTAssertEqual(try ask("POST", "/clients/shop/disable").object["disabled"] as? Bool, true)
        XCTAssertFalse(try isSecret(own))
        _ = try ask(
            "POST", "/clients", "{\"id\":\"app\",\"auth-method\":\"none\",\"redirect-uri\":[\"com.example:/\"]}")
        _ = try ask("POST", "/clients/app/rotate-secret", nil, 409)
        let listed = try ask("GET", "/clients").object["clients"] as? [[String: Any]] ?? []
        XCTAssertEqual(listed.compactMap { $0["id"] as? String }, ["app", "blog", "shop"])
        XCTAssertEqual(listed.compactMap { $0["read-only"] as? String }, ["clients.yaml:1"])
        _ = try ask("DELETE", "/clients/shop")
        for (method, target) in [("GET", "/clients/shop"), ("DELETE", "/clients/shop"), ("GET", "/clients/%00")] {
            _ = try ask(method, target, nil, 404)
        }
        _ = try ask("PATCH", "/clients/shop", "{\"name\":\"x\"}", 404)
        _ = try ask("POST", "/clients", "{\"redirect-uri\":[\"https://shop.example/cb\"]}", 400)
        let log = try audit(server)
        for command in ["add", "set", "rotate-secret", "disable", "remove"] {
            XCTAssertTrue(log.contains("\"command\":\"client \(command)\""), command)
        }
        for text in [secret, rotated, own] { XCTAssertFalse(log.contains(text)) }
        try requireGoodAudit(server)
    }

    func testClientsOfAFileAreReadOnly() throws {
        let server = try start()
        let token = try token(server, "deploy", [.clientsWrite])
        for (method, target, body) in [
            ("PATCH", "/clients/blog", "{\"name\":\"x\"}"), ("DELETE", "/clients/blog", nil),
            ("POST", "/clients/blog/disable", nil), ("POST", "/clients/blog/rotate-secret", nil),
            ("POST", "/clients", "{\"id\":\"blog\",\"redirect-uri\":[\"https://blog.example/cb\"]}"),
        ] as [(String, String, String?)] {
            let answer = try ask(server, method, target, body, token: token)
            XCTAssertEqual(answer.status, 409, "\(method) \(target)")
            XCTAssertTrue(answer.text.contains("clients.yaml:1"), answer.text)
        }
        XCTAssertEqual(
            try ask(server, "GET", "/clients/blog", token: token).object["read-only"] as? String, "clients.yaml:1")
    }
}
