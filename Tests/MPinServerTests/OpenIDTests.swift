import MPinSecrets
import MPinServer
import MPinStore
import XCTest

/// Tests of the OpenID provider that need to be in the server's process: its limits, its start, its audit log. `make
/// oidc-test` has the others. Row numbers are those of the checklist by which the provider was built; each comment says
/// what its row demands.
final class OpenIDTests: XCTestCase {
    private static let secret = "a secret for tests, longer than it must be"
    private static let hash = Hex.encode(SHA256.hash(Array(secret.utf8)))
    private static let clients = """
        - id: app
          secret-sha256: \(hash)
          redirect-uri: [https://app.example/cb]
          first-party: true
          auth-method: client_secret_post
        """
    private static let form = ["Content-Type": "application/x-www-form-urlencoded"]

    private func token(_ server: InProcess, _ body: String) throws -> Answer {
        try server.backend.call("POST", "/oidc/token", body, headers: Self.form)
    }

    /// Row 43: after some wrong secrets, requests of that client or address get 429. Requests with the right secret are
    /// not limited.
    func testRow43Guesses() throws {
        let server = try InProcess(
            change: {
                $0.rates.tokenAddress = RateLimit("60/60000")
                $0.rates.tokenClient = RateLimit("5/60000")
            }, clients: Self.clients
        ).keep(in: self)
        let right =
            "grant_type=authorization_code&redirect_uri=https://app.example/cb&client_id=app&client_secret="
            + (Self.secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
        for number in 0..<5 {
            let answer = try token(server, "client_id=app&client_secret=guess\(number)&grant_type=x")
            XCTAssertEqual([answer.status, answer.object["error"] as? String == "invalid_client" ? 1 : 0], [401, 1])
        }
        let refused = try token(server, "client_id=app&client_secret=guess&grant_type=x")
        XCTAssertEqual(refused.status, 429)
        XCTAssertNotNil(refused.headers["retry-after"])
        // The right secret is accepted, although wrong ones of this client get 429.
        XCTAssertEqual(try token(server, right).object["error"] as? String, "invalid_request")
        var statuses: [Int] = []
        for number in 0..<60 where statuses.last != 429 {
            statuses.append(try token(server, "client_id=nobody\(number)&client_secret=guess&grant_type=x").status)
        }
        XCTAssertEqual(statuses.last, 429)
        XCTAssertEqual(statuses.count, 55)
    }

    /// Rows 1 and 73: refuses issuers with http, because browsers would send cookies unencrypted, and issuers that are
    /// no plain URL.
    func testRows1And73IssuersThatAreNone() throws {
        let all = AllInOne(stateFolder: NSTemporaryDirectory() + "mpin-openid-" + UUID().uuidString)
        defer { try? FileManager.default.removeItem(atPath: all.stateFolder) }
        let website = try XCTUnwrap(try all.parts().rpa)
        for issuer in [
            "https://id.example", "https://id.example:8443/path", "http://127.0.0.1:8005", "http://localhost:8005",
        ] {
            XCTAssertEqual(try OpenIDConfig(issuer: issuer, website: website).issuer, issuer)
        }
        for issuer in [
            "http://id.example", "https://id.example?x=1", "https://id.example#x", "id.example", "ftp://id.example",
            "https://user@id.example", "https://ID.example", "com.example.app:id", "",
        ] {
            XCTAssertThrowsError(try OpenIDConfig(issuer: issuer, website: website), issuer)
        }
    }

    /// Malformed and too large requests get an error that says what is wrong, and the server goes on.
    func testRequestsThatAreNone() throws {
        let server = try InProcess(clients: Self.clients).keep(in: self)
        let long = String(repeating: "x", count: 9000)
        let cases: [(String, String, String?, [Int])] = [
            ("GET", "/authorize?" + long, nil, [414]), ("POST", "/oidc/token", long + long, [401]),
            ("POST", "/oidc/token", String(repeating: long, count: 8), [413]),
            ("GET", "/authorize?client_id=%ff", nil, [400]), ("GET", "/authorize", nil, [400]),
            ("POST", "/authorize/login", "id=x", [400]), ("POST", "/authorize/confirm", "", [400]),
            ("GET", "/authorize/login", nil, [400]), ("PUT", "/authorize", nil, [405]),
            ("DELETE", "/oidc/userinfo", nil, [405]), ("GET", "/oidc/userinfo", nil, [401]),
        ]
        for (method, target, body, statuses) in cases {
            let answer = try server.backend.call(method, target, body, headers: Self.form)
            XCTAssertTrue(statuses.contains(answer.status), "\(method) \(target.prefix(40)): \(answer.status)")
            XCTAssertNil(answer.headers["location"])
        }
    }
}
