import MPinSecrets
import MPinServer
import MPinStore
import XCTest

/// Tests of the OpenID provider's limits for guesses: of user codes, and of a client's secret. They need to be in the
/// server's process; `make oidc-test` has the others.
final class OpenIDDeviceTests: XCTestCase {
    private static let secret = "a secret for tests, longer than it must be"
    private static let hash = Hex.encode(SHA256.hash(Array(secret.utf8)))
    private static let clients = """
        - id: app
          secret-sha256: \(hash)
          redirect-uri: [https://app.example/cb]
        - id: tv
          auth-method: none
          grant: [urn:ietf:params:oauth:grant-type:device_code]
        """
    private static let form = ["Content-Type": "application/x-www-form-urlencoded"]

    /// Row 74: after some codes of one address, right or wrong, further ones get 429. So nobody finds the code of a
    /// device by trying.
    func testRow74GuessesOfUserCodes() throws {
        let server = try InProcess(
            change: { $0.rates.deviceAddress = RateLimit("5/60000") }, clients: Self.clients
        ).keep(in: self)
        let device = try server.backend.call(
            "POST", "/oidc/device", "client_id=tv&scope=openid", headers: Self.form)
        let code = try XCTUnwrap(device.object["user_code"] as? String)
        func type(_ code: String) throws -> Int {
            let headers = Self.form.merging(["Sec-Fetch-Site": "same-origin"]) { own, _ in own }
            return try server.backend.call("POST", "/device", "user_code=\(code)", headers: headers).status
        }
        XCTAssertEqual(try type(code), 200)
        for _ in 0..<4 { XCTAssertEqual(try type("BBBB-BBBB"), 400) }
        XCTAssertEqual(try type(code), 429)
    }

    /// Whoever has seen the code of a device could decline in its user's place. A device hears only of somebody who has
    /// logged in.
    func testNobodyDeclinesADeviceWithoutALogin() throws {
        let server = try InProcess(clients: Self.clients).keep(in: self)
        let device = try server.backend.call(
            "POST", "/oidc/device", "client_id=tv&scope=openid", headers: Self.form)
        let code = try XCTUnwrap(device.object["user_code"] as? String)
        var headers = Self.form.merging(["Sec-Fetch-Site": "same-origin"]) { $1 }
        let page = try server.backend.call("POST", "/device", "user_code=\(code)", headers: headers)
        let id = try String(XCTUnwrap(page.text.firstMatch(of: /name="id" value="([^"]+)"/)).1)
        headers["Cookie"] = page.cookies.compactMap { $0.components(separatedBy: "; ").first }.joined(separator: "; ")
        _ = try server.backend.call(
            "POST", "/authorize/confirm", "id=\(id)&step=login&answer=no", headers: headers)
        let grant = "urn:ietf:params:oauth:grant-type:device_code"
        let secret = try XCTUnwrap(device.object["device_code"] as? String)
        let poll = try server.backend.call(
            "POST", "/oidc/token", "grant_type=\(grant)&device_code=\(secret)&client_id=tv", headers: Self.form)
        XCTAssertEqual(poll.object["error"] as? String, "authorization_pending", poll.text)
    }

    /// Row 74: the requests of devices are counted with the login pages of their address.
    func testRow74ManyDevices() throws {
        let server = try InProcess(
            change: { $0.rates.accessAddress = RateLimit("3/60000") }, clients: Self.clients
        ).keep(in: self)
        let statuses = try (0..<4).map { _ in
            try server.backend.call("POST", "/oidc/device", "client_id=tv&scope=openid", headers: Self.form).status
        }
        XCTAssertEqual(statuses, [200, 200, 200, 429])
    }

    /// Row 43: wrong secrets in a Basic header count for the client that they are tried for, whatever they are, and also
    /// at the other endpoints that clients call.
    func testRow43GuessesInAHeader() throws {
        let server = try InProcess(
            change: { $0.rates.tokenClient = RateLimit("5/60000") }, clients: Self.clients
        ).keep(in: self)
        let paths = ["/oidc/token", "/oidc/revoke", "/oidc/introspect"]
        let statuses = try (0..<6).map { number in
            let guess = Data("app:guess\(number)".utf8).base64EncodedString()
            let headers = Self.form.merging(["Authorization": "Basic " + guess]) { own, _ in own }
            return try server.backend.call("POST", paths[number % 3], "token=x", headers: headers).status
        }
        XCTAssertEqual(statuses, [401, 401, 401, 401, 401, 429])
    }
}
