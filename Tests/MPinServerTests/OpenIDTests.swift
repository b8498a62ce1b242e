import Foundation
import LoopbackServer
import MPinOpenID
import MPinSecrets
import MPinServer
import MPinStore
import StoreEngines
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
          grant: [authorization_code, refresh_token]
          scope: [openid, offline_access]
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

    /// Row 43: without the operator's settings, 60 wrong secrets of a client get through at once, and further ones get
    /// 429 until a minute has passed.
    func testRow43TheDefaultLimit() throws {
        let server = try InProcess(change: { $0.rates = .standard }, clients: Self.clients).keep(in: self)
        func guess() throws -> Int {
            try token(server, "client_id=app&client_secret=guess&grant_type=x").status
        }
        for number in 1...60 { XCTAssertEqual(try guess(), 401, "\(number)") }
        // One request a second is allowed again, so on a slow machine the limit takes a few more.
        var status = 401
        for _ in 0..<1000 where status != 429 { status = try guess() }
        XCTAssertEqual(status, 429)
        XCTAssertEqual(RateLimits.standard.tokenAddress, RateLimit("60/60"))
        XCTAssertEqual(RateLimits.standard.tokenClient, RateLimit("60/60"))
    }

    /// Row 43: wrong codes are limited like wrong secrets.
    func testRow43GuessesOfCodes() throws {
        let server = try InProcess(change: { $0.rates.tokenClient = RateLimit("5/60000") }, clients: Self.clients)
            .keep(in: self)
        let statuses = try (0..<6).map { _ in try redeem(server, "wrong").status }
        XCTAssertEqual(statuses, [400, 400, 400, 400, 400, 429])
    }

    /// Rows 1 and 73: refuses issuers with http, because browsers would send cookies unencrypted, and issuers that are
    /// no plain URL.
    func testRows1And73IssuersThatAreNone() throws {
        let all = AllInOne(stateFolder: NSTemporaryDirectory() + "mpin-openid-" + UUID().uuidString)
        defer { try? FileManager.default.removeItem(atPath: all.stateFolder) }
        let parts = try all.parts()
        let (site, service) = (try XCTUnwrap(parts.rpa?.site), try XCTUnwrap(parts.rps))
        for issuer in [
            "https://id.example", "https://id.example:8443/path", "http://127.0.0.1:8005", "http://localhost:8005",
        ] {
            XCTAssertEqual(try OpenIDConfig(issuer: issuer, site: site, service: service).issuer, issuer)
        }
        for issuer in [
            "http://id.example", "https://id.example?x=1", "https://id.example#x", "id.example", "ftp://id.example",
            "https://user@id.example", "https://ID.example", "com.example.app:id", "",
        ] {
            XCTAssertThrowsError(try OpenIDConfig(issuer: issuer, site: site, service: service), issuer)
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

    private static let query =
        "client_id=app&redirect_uri=https://app.example/cb&response_type=code&scope=openid+offline_access"

    private func redeem(_ server: InProcess, _ code: String) throws -> Answer {
        try token(
            server, Self.credentials + "&grant_type=authorization_code&redirect_uri=https://app.example/cb&code=" + code
        )
    }

    private static let credentials =
        "client_id=app&client_secret=" + (secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")

    /// Returns the value of a parameter in the URL that a browser is sent to. Nil if it is not there.
    private func parameter(_ name: String, in url: String?) -> String? {
        url.flatMap(URLComponents.init(string:))?.queryItems?.first { $0.name == name }?.value
    }

    /// Logs a user in at a session that the client has opened by JSON (row 6). Returns the URL for the client.
    /// `meanwhile` runs after the PIN was entered.
    private func logIn(
        _ server: InProcess, _ client: TestClient, _ user: TestClient.User, meanwhile: () throws -> Void = {}
    ) throws -> String {
        let json = ["Content-Type": "application/json"]
        let opened = try server.backend.call("POST", "/authorize?" + Self.query, "{}", headers: json).object
        let wid = try XCTUnwrap(opened["accessId"] as? String)
        let webOTT = try XCTUnwrap(opened["webOTT"] as? String)
        let authOTT = try client.prove(user, wid: wid)
        try meanwhile()
        let phone = Later { try client.authenticateMobile(authOTT) }
        var url: String?
        let question = "{\"webOTT\":\"\(webOTT)\",\"wait\":30,\"status\":\"new\"}"
        while url == nil {
            let answer = try server.backend.call("POST", "/authorize/access", question, headers: json)
            guard answer.status == 200 else { throw Sockets.Failure(text: "access: \(answer.status) \(answer.text)") }
            url = answer.object["redirectURL"] as? String
        }
        _ = try phone.get()
        return try XCTUnwrap(url)
    }

    /// Rows 39, 56 and 59: the audit log has a line for tokens that were granted, for a code and for a refresh token,
    /// and for a code or refresh token that was used again; the counters count them.
    func testGrantsAndReuseAreRecorded() throws {
        let port = freePorts(1)[0]
        let listen = try ListenAddress(host: "127.0.0.1", port: port)
        let server = try InProcess(change: { $0.adminListen = listen }, clients: Self.clients).keep(in: self)
        let client = TestClient(backend: server.backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        let code = try XCTUnwrap(parameter("code", in: try logIn(server, client, alice)))
        var refresh = try XCTUnwrap(try redeem(server, code).object["refresh_token"] as? String)
        let used = refresh
        for _ in 0..<2 {
            let form = Self.credentials + "&grant_type=refresh_token&refresh_token=" + refresh
            refresh = try XCTUnwrap(try token(server, form).object["refresh_token"] as? String)
        }
        let reuse = try token(server, Self.credentials + "&grant_type=refresh_token&refresh_token=" + used)
        XCTAssertEqual(reuse.object["error"] as? String, "invalid_grant")
        XCTAssertEqual(try redeem(server, code).object["error"] as? String, "invalid_grant")
        let metrics = try server.backend.call("GET", "/metrics", port: port).text
        for (grant, result, count) in [
            ("authorization_code", "granted", 1), ("refresh_token", "granted", 2), ("refresh_token", "reused", 1),
            ("authorization_code", "reused", 1), ("", "invalid_grant", 2),
        ] {
            let line = "mpin_token_requests_total{grant=\"\(grant)\",outcome=\"\(result)\"} \(count)\n"
            XCTAssertTrue(metrics.contains(line), "\(line) is not in \(metrics)")
        }
        for algorithm in SigningAlgorithm.allCases {
            let line = "mpin_signature_cpu_seconds_count{algorithm=\"\(algorithm.rawValue)\"} 3\n"
            XCTAssertTrue(metrics.contains(line), "\(line) is not in \(metrics)")
        }
        let times = try SigningAlgorithm.allCases.map { try signatureSeconds(metrics, $0) }
        XCTAssertTrue(times.allSatisfy { $0 > 0 }, "\(times)")
        XCTAssertGreaterThan(times[0], times[1], "RS256 takes longer than ES256")
        let log = server.backend.stateFolder + "/audit/audit.jsonl"
        func events() throws -> [String] {
            try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").compactMap { line in
                let line = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any] ?? [:]
                guard let event = line["event"] as? String, event.hasPrefix("tokens-") else { return nil }
                return [event, line["client"] as? String, line["grant"] as? String].compactMap(\.self)
                    .joined(separator: " ")
            }
        }
        // The lines are written by another thread.
        let end = Date(timeIntervalSinceNow: 60)
        while try events().count < 7, Date() < end { usleep(10_000) }
        XCTAssertEqual(
            try events(),
            [
                "tokens-granted app authorization_code", "tokens-granted app refresh_token",
                "tokens-granted app refresh_token", "tokens-revoked app refresh_token", "tokens-refused app",
                "tokens-revoked app authorization_code", "tokens-refused app",
            ])
    }

    /// The processor time of all signatures.
    private func signatureSeconds(_ metrics: String, _ algorithm: SigningAlgorithm) throws -> Double {
        let start = "mpin_signature_cpu_seconds_sum{algorithm=\"\(algorithm.rawValue)\"} "
        let line = metrics.split(separator: "\n").first { $0.hasPrefix(start) }
        return try XCTUnwrap(line.flatMap { Double($0.dropFirst(start.count)) }, "\(start) is not in \(metrics)")
    }

    /// A user whom the operator revokes between the PIN and the end of the login gets no code.
    func testAUserWhoIsRevokedDuringALogin() throws {
        let file = NSTemporaryDirectory() + "revoked-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: file) }
        try "".write(toFile: file, atomically: true, encoding: .utf8)
        let server = try InProcess(change: { $0.revokedUsersFile = file }, clients: Self.clients).keep(in: self)
        let client = TestClient(backend: server.backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        let url = try logIn(server, client, alice) {
            try "alice@example.com\n".write(toFile: file, atomically: true, encoding: .utf8)
        }
        XCTAssertEqual(parameter("error", in: url), "access_denied")
        XCTAssertNil(parameter("code", in: url))
    }

    /// A user whose identity the operator revokes between the PIN and the end of the login gets no tokens.
    func testAnIdentityThatIsRevokedDuringALogin() throws {
        let server = try InProcess(clients: Self.clients).keep(in: self)
        let client = TestClient(backend: server.backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        let url = try logIn(server, client, alice) {
            let revoked = try finish {
                try await server.users().change(.revoke, user: "alice@example.com", identity: nil, audit: .off)
            }
            XCTAssertFalse(revoked.isEmpty)
        }
        let answer = try redeem(server, parameter("code", in: url) ?? "")
        XCTAssertEqual(answer.status, 400)
        XCTAssertEqual(answer.object["error"] as? String, "invalid_grant")
        XCTAssertNil(answer.object["access_token"])
    }

    /// Opens the login page. Returns the cookie of its browser and the name of its login.
    private func open(
        _ server: InProcess, _ query: String = OpenIDTests.query
    ) throws -> (cookie: [String: String], id: String) {
        let page = try server.backend.call("GET", "/authorize?" + query)
        let cookie = String(try XCTUnwrap(page.cookies.first).prefix { $0 != ";" })
        let id = String(try XCTUnwrap(page.text.firstMatch(of: /name="id" value="([A-Za-z0-9_-]{43})"/)).1)
        return (["Cookie": cookie, "Origin": "http://127.0.0.1"].merging(Self.form) { first, _ in first }, id)
    }

    /// Logs a user in by an access number, up to the page that asks whether the login is the person's. Returns the
    /// headers and the form of the answer "yes", and the phone's answer.
    private func proposed(
        _ server: InProcess, _ client: TestClient, _ user: TestClient.User
    ) throws -> (headers: [String: String], form: String, phone: Later<Answer>) {
        let (headers, id) = try open(server)
        let page = try server.backend.call("GET", "/authorize/login?id=\(id)&way=number", headers: headers).text
        let number = String(try XCTUnwrap(page.firstMatch(of: /id="number"[^>]*>([0-9]+)</)).1)
        let webOTT = String(try XCTUnwrap(page.firstMatch(of: /data-web-ott="([0-9a-f]+)"/)).1)
        let authOTT = try client.prove(user, wid: number)
        let phone = Later { try client.authenticateMobile(authOTT) }
        let question = "{\"webOTT\":\"\(webOTT)\",\"wait\":30,\"status\":\"new\"}"
        var status = ""
        while status != "authenticate" {
            status = try server.backend.call("POST", "/rps/access", question).object["status"] as? String ?? ""
        }
        _ = try server.backend.call("POST", "/authorize/login", "id=\(id)", headers: headers)
        return (headers, "id=\(id)&step=confirmation&answer=yes", phone)
    }

    /// The form of a page comes twice, and each step of the two requests happens at the same time. One of them gets a
    /// code, and the other a page that says that the login is over.
    func testAFormThatComesTwiceGivesOneCode() throws {
        let (gate, count) = (TripGate(), Count())
        let server = try InProcess(
            changeRPS: {
                // The first store is the lasting one. Only the other one, with the login, holds the requests.
                $0.layer = { store in
                    count.add()
                    return count.value == 1 ? store : FarStore(store, gate)
                }
            }, clients: Self.clients
        ).keep(in: self)
        let client = TestClient(backend: server.backend)
        let (headers, form, phone) = try proposed(server, client, try client.register("alice@example.com", pin: "1234"))
        _ = try phone.get()
        // Both read the login, note the answer, read it again, and end it.
        gate.expect([2, 2, 2, 2])
        let answers = parallel(2) { try server.backend.call("POST", "/authorize/confirm", form, headers: headers) }
        XCTAssertEqual(gate.result().failures, [])
        XCTAssertEqual(answers.map(\.status).sorted(), [303, 400])
        XCTAssertEqual(answers.compactMap { parameter("code", in: $0.headers["location"]) }.count, 1)
        XCTAssertTrue(answers.contains { $0.status == 400 && $0.text.contains("This login is over") })
    }

    /// A browser session lasts for an hour after each use, and ends when the operator revokes its user.
    func testASessionIsUsedAndRevoked() throws {
        let file = NSTemporaryDirectory() + "revoked-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: file) }
        try "".write(toFile: file, atomically: true, encoding: .utf8)
        let server = try InProcess(change: { $0.revokedUsersFile = file }, clients: Self.clients).keep(in: self)
        let client = TestClient(backend: server.backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        let (headers, form, phone) = try proposed(server, client, alice)
        let end = try server.backend.call("POST", "/authorize/confirm", form, headers: headers)
        XCTAssertNotNil(parameter("code", in: end.headers["location"]), end.text)
        _ = try phone.get()
        let session = ["Cookie": String(try XCTUnwrap(end.cookies.first).prefix { $0 != ";" })]
        func silent() throws -> String? {
            let answer = try server.backend.call("GET", "/authorize?prompt=none&" + Self.query, headers: session)
            return parameter("error", in: answer.headers["location"])
        }
        for _ in 0..<2 {
            server.advance(seconds: 3000)
            XCTAssertNil(try silent())
        }
        try "alice@example.com\n".write(toFile: file, atomically: true, encoding: .utf8)
        XCTAssertEqual(try silent(), "login_required")
        try "".write(toFile: file, atomically: true, encoding: .utf8)
        XCTAssertNil(try silent())
        server.advance(seconds: 3601)
        XCTAssertEqual(try silent(), "login_required")
    }

    /// Whoever comes too late learns it, and can begin anew.
    func testAnExpiredLogin() throws {
        let server = try InProcess(clients: Self.clients).keep(in: self)
        let (headers, id) = try open(server)
        server.advance(seconds: 1000)
        let page = try server.backend.call("POST", "/authorize/login", "id=\(id)", headers: headers)
        XCTAssertEqual(page.status, 200)
        XCTAssertTrue(page.text.contains("This has expired."), page.text)
        XCTAssertTrue(page.text.contains("/authorize/login?id=\(id)"))
        server.advance(seconds: 1000)
        let over = try server.backend.call("POST", "/authorize/login", "id=\(id)", headers: headers)
        XCTAssertEqual(over.status, 400)
        XCTAssertTrue(over.text.contains("This login is over"), over.text)
    }

    /// Row 8: the log says which redirect URI was asked for and which are registered, because that is the most frequent
    /// mistake of those who set a client up.
    func testRow8TheLogTellsAWrongRedirectURI() throws {
        let server = try InProcess(clients: Self.clients).keep(in: self)
        let wrong = Self.query.replacingOccurrences(of: "/cb", with: "/other")
        XCTAssertEqual(try server.backend.call("GET", "/authorize?" + wrong).status, 400)
        let line = server.logText.split(separator: "\n").first { $0.contains("redirect URI is not registered") }
        let members = try XCTUnwrap(line)
        XCTAssertTrue(members.contains("https://app.example/other") || members.contains("app.example\\/other"))
        XCTAssertTrue(members.contains("https://app.example/cb") || members.contains("app.example\\/cb"))
    }

    /// Rows 1 and 3: if the issuer has a path, all endpoints are below it, and the document for OAuth clients is at both
    /// places. Row 73: over https the cookies have the prefix `__Host-`, so they are good for this host and https only.
    func testRows1And73AnIssuerWithAPath() throws {
        let issuer = "https://id.example/tenant"
        let server = try InProcess(clients: Self.clients, issuer: issuer).keep(in: self)
        let document = try server.backend.call("GET", "/tenant/.well-known/openid-configuration")
        XCTAssertEqual(document.object["issuer"] as? String, issuer)
        XCTAssertEqual(document.object["token_endpoint"] as? String, issuer + "/oidc/token")
        for place in [
            "/tenant/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/tenant",
        ] {
            XCTAssertEqual(
                try server.backend.call("GET", place).object as NSDictionary, document.object as NSDictionary)
        }
        XCTAssertEqual(try server.backend.call("GET", "/tenant/oidc/certs").status, 200)
        let page = try server.backend.call("GET", "/tenant/authorize?" + Self.query)
        XCTAssertTrue(page.text.contains("action=\"/tenant/authorize/login\""), page.text)
        let cookie = try XCTUnwrap(page.cookies.first).components(separatedBy: "; ")
        XCTAssertNotNil(cookie[0].wholeMatch(of: /__Host-mpin-authorize=[A-Za-z0-9_-]{43}/), cookie[0])
        XCTAssertEqual(Set(cookie.dropFirst()), ["Path=/", "Secure", "HttpOnly", "SameSite=Lax"])
    }

    /// A client that the operator disables gets nothing more: neither the end of a login that has begun, nor (after the
    /// ten seconds for which the origins are remembered) answers in its pages.
    func testAClientThatIsDisabledMeanwhile() throws {
        let server = try InProcess(clients: Self.clients).keep(in: self)
        let origin = "https://shop.example"
        func call(_ work: @escaping @Sendable (ClientRegistry) async throws -> Void) throws {
            let path = server.backend.stateFolder + "/rps.sqlite"
            try finish { try await work(ClientRegistry(in: try await ServiceDatabase(path).open())) }
        }
        func mayRead() throws -> Bool {
            let answer = try server.backend.call("OPTIONS", "/oidc/token", headers: ["Origin": origin])
            return answer.headers["access-control-allow-origin"] == origin
        }
        try call { registry in
            var shop = Client(id: "shop", name: "Shop", created: .now())
            shop.redirectURIs = [try RedirectURI("https://shop.example/cb")]
            shop.origins = [try XCTUnwrap(WebOrigin(origin))]
            try await registry.add(shop, at: .now())
        }
        XCTAssertTrue(try mayRead())
        let query = "client_id=shop&redirect_uri=https://shop.example/cb&response_type=code&scope=openid"
        let (headers, id) = try open(server, query)
        try call { registry in
            var change = ClientChange()
            change.set(try XCTUnwrap(ClientMember.named("disabled")), ["true"])
            _ = try await registry.change("shop", change, at: .now())
        }
        let declined = try server.backend.call(
            "POST", "/authorize/confirm", "id=\(id)&step=login&answer=cancel", headers: headers)
        XCTAssertEqual(declined.status, 400)
        XCTAssertNil(declined.headers["location"])
        server.advance(seconds: 11)
        XCTAssertFalse(try mayRead())
    }
}
