import Foundation
import MPinOpenID
import MPinServer
import MPinStore
import XCTest

/// Tests the part of the admin API for who may use the API: its tokens, and those of the projects' back ends, by host and origin.
final class AdminTokenTests: AdminAPITestCase {
    func testOnlyAValidTokenIsAccepted() throws {
        let server = try start()
        let right = try token(server, "right", [.usersRead])
        XCTAssertEqual(try ask(server, "GET", "/users", token: right).status, 200)
        let short = try token(server, "short", [.usersRead], days: 1)
        let long = try token(server, "long", [.usersRead], days: 2)
        for header in [
            nil, "", "Bearer", "Bearer ", "Bearer x", "Bearer \(right)x", "Bearer \(right.dropLast())",
            "Bearer  \(right)", "Basic \(right)", right, "Bearer \(String(right.reversed()))",
        ] {
            let headers = header.map { ["Authorization": $0] } ?? [:]
            let answer = try ask(server, "GET", "/users", token: nil, headers: headers)
            XCTAssertEqual(answer.status, 401, header ?? "")
            XCTAssertEqual(answer.headers["www-authenticate"], "Bearer")
        }
        XCTAssertEqual(try ask(server, "GET", "/users?token=\(right)&access_token=\(right)", token: nil).status, 401)
        server.advance(seconds: 86_400)
        XCTAssertEqual(try ask(server, "GET", "/users", token: short).status, 401, "expired")
        XCTAssertEqual(try ask(server, "GET", "/users", token: long).status, 200)
        let database = server.backend.stateFolder + "/rps.sqlite"
        try finish { try await AdminTokenAdministration(database: database, audit: .off).remove("long") }
        XCTAssertEqual(try ask(server, "GET", "/users", token: long).status, 401, "removed")
        XCTAssertTrue(try audit(server).contains("\"event\":\"admin-refused\""))
        let file = try Data(contentsOf: URL(fileURLWithPath: database))
        for text in [right, short, long] { XCTAssertNil(file.range(of: Data(text.utf8)), "a token is in the database") }
    }

    func testEachOperationNeedsItsScope() throws {
        let server = try start()
        let operations: [(String, String, Set<AdminScope>)] = [
            ("GET", "/users", [.usersRead, .usersWrite]), ("GET", "/users/x", [.usersRead, .usersWrite]),
            ("POST", "/users/x/block", [.usersWrite]), ("POST", "/users/x/unblock", [.usersWrite]),
            ("POST", "/users/x/revoke", [.usersWrite]), ("POST", "/users/x/renew", [.usersWrite]),
            ("POST", "/users/x/suspend", [.usersWrite]), ("POST", "/users/x/resume", [.usersWrite]),
            ("GET", "/suspensions", [.usersRead, .usersWrite]), ("GET", "/users/x/export", [.usersWrite]),
            ("DELETE", "/users/x", [.usersWrite]), ("GET", "/clients", [.clientsRead, .clientsWrite]),
            ("POST", "/clients", [.clientsWrite]), ("GET", "/clients/x", [.clientsRead, .clientsWrite]),
            ("PATCH", "/clients/x", [.clientsWrite]), ("DELETE", "/clients/x", [.clientsWrite]),
            ("POST", "/clients/x/disable", [.clientsWrite]), ("POST", "/clients/x/rotate-secret", [.clientsWrite]),
            ("GET", "/projects", [.projects]), ("POST", "/projects/x/tokens", [.projects]),
            ("GET", "/projects/x/tokens", [.projects]), ("DELETE", "/projects/x/tokens/y", [.projects]),
            ("GET", "/sessions", [.sessions]), ("DELETE", "/sessions/x", [.sessions]),
            ("GET", "/users/x/sessions", [.sessions]), ("DELETE", "/users/x/sessions", [.sessions]),
            ("GET", "/signing-keys", [.keys]), ("DELETE", "/signing-keys/x", [.keys]),
            ("POST", "/signing-keys/rotate", [.keys]),
            ("GET", "/audit?from=999999", [.audit]), ("POST", "/otp/verify", [.otp]),
        ]
        for scope in AdminScope.allCases {
            let token = try token(server, scope.rawValue.replacing(":", with: "."), [scope])
            for (method, target, scopes) in operations {
                let answer = try ask(server, method, target, token: token)
                let challenge = answer.headers["www-authenticate"] ?? ""
                XCTAssertEqual(
                    [answer.status == 403, challenge.contains("insufficient_scope")],
                    [!scopes.contains(scope), !scopes.contains(scope)],
                    "\(method) \(target) with \(scope): \(answer.status)")
            }
        }
    }

    /// The tokens of the projects' back ends, as by `mpind project token`.
    func testServiceTokensAreMadeAndRemoved() async throws {
        let server = try start()
        let now = server.now
        let database = server.backend.stateFolder + "/rps.sqlite"
        let projects = try await ProjectAdministration(database: database, audit: .off) { now }
        _ = try await projects.add("shop", ProjectChange())
        let admin = try token(server, "admin", [.projects])
        func call(_ method: String, _ target: String, _ body: String? = nil) throws -> Answer {
            try ask(server, method, "/projects" + target, body, token: admin)
        }
        let list = try call("GET", "").object["projects"] as? [[String: Any]]
        XCTAssertEqual(list?.map { $0["id"] as? String }, ["shop"])
        let made = try call("POST", "/shop/tokens", #"{"name":"backend","days":5}"#).object
        XCTAssertEqual((made["token"] as? String)?.utf8.count, 86)
        XCTAssertEqual(try call("POST", "/shop/tokens", #"{"name":"backend"}"#).status, 409)
        let found = try call("GET", "/shop/tokens")
        XCTAssertEqual((found.object["tokens"] as? [[String: Any]])?.map { $0["name"] as? String }, ["backend"])
        XCTAssertFalse(found.text.contains(made["token"] as? String ?? "none"))
        let refused = [
            try call("POST", "/none/tokens", #"{"name":"a"}"#), try call("GET", "/none/tokens"),
            try call("DELETE", "/shop/tokens/x"), try call("POST", "/shop/tokens", #"{"name":"a b"}"#),
            try call("POST", "/shop/tokens", #"{"name":"a","days":0}"#), try call("POST", "/shop/tokens", "{}"),
        ]
        XCTAssertEqual(refused.map(\.status), [404, 404, 404, 400, 400, 400])
        XCTAssertEqual(try call("DELETE", "/shop/tokens/backend").object["removed"] as? String, "backend")
        XCTAssertEqual(try call("DELETE", "/shop/tokens/backend").status, 404)
    }

    /// The project of this server's pages has no back end, so a token of the scope `projects` gives no authority over its users.
    func testTheProjectOfOurPagesHasNoServiceTokens() async throws {
        let server = try start()
        let now = server.now
        let database = server.backend.stateFolder + "/rps.sqlite"
        let projects = try await ProjectAdministration(database: database, audit: .off) { now }
        _ = try await projects.add("browser", ProjectChange())
        let admin = try token(server, "admin", [.projects])
        let answer = try ask(server, "POST", "/projects/browser/tokens", #"{"name":"backend"}"#, token: admin)
        XCTAssertEqual(answer.status, 403)
    }

    func testTheCredentialOfABackEndIsNoAdminToken() async throws {
        let server = try start()
        let now = server.now
        let database = server.backend.stateFolder + "/rps.sqlite"
        let projects = try await ProjectAdministration(database: database, audit: .off) { now }
        _ = try await projects.add("shop", ProjectChange())
        let service = try await projects.addToken("backend", project: "shop", days: 1).token
        for target in ["/users", "/clients", "/projects", "/sessions"] {
            XCTAssertEqual(try ask(server, "GET", target, token: service).status, 401, target)
        }
    }

    func testTheSecretOfAClientIsNoAdminToken() async throws {
        let server = try start()
        let database = server.backend.stateFolder + "/rps.sqlite"
        let clients = try await ClientAdministration(database: database, file: nil, audit: .off)
        var change = ClientChange()
        change.set(try XCTUnwrap(ClientMember.named("redirect-uri")), ["https://shop.example/cb"])
        let made = try await clients.add("shop", change, secret: nil)
        let secret = try XCTUnwrap(made.secret)
        for target in ["/users", "/clients", "/projects", "/sessions"] {
            for token in [secret, "shop:" + secret] {
                XCTAssertEqual(try ask(server, "GET", target, token: token).status, 401, target)
            }
        }
    }

    /// A page in a browser on this machine must not be able to use the API, even by a name that leads to the machine.
    func testHostAndOriginAreChecked() throws {
        let server = try start()
        let token = try token(server, "right", [.usersRead])
        func status(_ host: String?, _ more: String = "") throws -> Int {
            let head = "GET /users HTTP/1.1\r\nConnection: close\r\nAuthorization: Bearer \(token)\r\n\(more)"
            return try Sockets.raw(Self.port, Data((head + (host.map { "Host: \($0)\r\n" } ?? "") + "\r\n").utf8))
                .status
        }
        for host in ["127.0.0.1", "127.0.0.1:\(Self.port)", "localhost:9", "LOCALHOST", "[::1]:80", "[::1]"] {
            XCTAssertEqual(try status(host), 200, host)
        }
        for host in [
            "evil.example", "evil.example:\(Self.port)", "127.0.0.1.evil.example", "localhost.evil.example",
            "[::1].evil.example", "[::1", "10.0.0.1", "", "0.0.0.0", "localhost:1@evil.example",
            "localhost:x", "localhost:80:80", "[::1]:80@evil.example", "user@localhost", "localhost:999999",
        ] {
            XCTAssertTrue([400, 421].contains(try status(host)), host)
        }
        XCTAssertEqual(try status("evil.example"), 421)
        XCTAssertNotEqual(try status(nil), 200)
        for origin in ["http://127.0.0.1:\(Self.port)", "https://evil.example", "null"] {
            XCTAssertEqual(try status("127.0.0.1", "Origin: \(origin)\r\n"), 403, origin)
        }
    }

    /// A page could read metrics by a name that leads to this machine.
    func testHealthAndMetricsAreNotAskedForByAnotherName() throws {
        _ = try start()
        func status(_ path: String, _ host: String) throws -> Int {
            let head = "GET \(path) HTTP/1.1\r\nConnection: close\r\nHost: \(host)\r\n\r\n"
            return try Sockets.raw(Self.port, Data(head.utf8)).status
        }
        for path in ["/health/live", "/health/ready", "/metrics"] {
            XCTAssertEqual(try status(path, "127.0.0.1:9"), 200, path)
            for host in ["probe.example", "localhost:1@evil.example", "127.0.0.1.evil.example"] {
                XCTAssertTrue([400, 421].contains(try status(path, host)), "\(path) \(host)")
            }
        }
    }

    func testWrongTokensAreLimitedAndRightOnesAreNot() throws {
        let server = try start { $0.rates.adminAddress = RateLimit("5/60000") }
        let right = try token(server, "right", [.usersRead])
        for _ in 0..<5 { XCTAssertEqual(try ask(server, "GET", "/users", token: "wrong").status, 401) }
        let refused = try ask(server, "GET", "/users", token: "wrong")
        XCTAssertEqual(refused.status, 429)
        XCTAssertNotNil(refused.headers["retry-after"])
        XCTAssertEqual(try ask(server, "GET", "/users", token: right).status, 200)
        XCTAssertEqual(
            try audit(server).split(separator: "\n").filter { $0.contains("admin-refused") }.count, 5,
            "guesses above the limit do not fill the log")
        let metrics = try server.backend.call("GET", "/metrics", port: Self.port).text
        for line in ["\"unauthorized\"} 5", "\"limited\"} 1", "\"done\"} 1"] {
            let whole = "mpin_admin_requests_total{operation=\"user list\",outcome=" + line
            XCTAssertTrue(metrics.contains(whole), "\(whole) is not in \(metrics)")
        }
    }

    func testNamesScopesAndDaysOfTokens() throws {
        let tokens = AdminTokens(in: MemoryStore())
        let now = Moment.now()
        func fault(_ name: String, _ scopes: Set<AdminScope>, _ days: Int) throws -> AdminTokenFault? {
            try finish {
                do { _ = try await tokens.add(name, scopes: scopes, days: days, at: now) } catch {
                    return error as? AdminTokenFault
                }
                return nil
            }
        }
        XCTAssertEqual(try fault("a b", [.audit], 1), .name)
        XCTAssertEqual(try fault("", [.audit], 1), .name)
        XCTAssertEqual(try fault("a", [], 1), .noScope)
        XCTAssertEqual(try fault("a", [.audit], 0), .days)
        XCTAssertEqual(try fault("a", [.audit], 3651), .days)
        XCTAssertNil(try fault("a", [.audit], 3650))
        XCTAssertEqual(try fault("a", [.audit], 1), .exists("a"))
    }
}
