import Foundation
import LoopbackServer
import MPinOpenID
import MPinSecrets
import MPinServer
import MPinService
import MPinStore
import MPinWire
import StoreEngines
import XCTest

/// Tests the admin API of a server in the test's process.
final class AdminAPITests: XCTestCase {
    private static let port = freePorts(1)[0]
    private static let clients = """
        - id: blog
          auth-method: none
          redirect-uri: [https://blog.example/cb]
        """

    private func start(_ change: (inout AllInOne) -> Void = { _ in }) throws -> InProcess {
        try InProcess(
            change: {
                $0.adminListen = try? ListenAddress(host: "127.0.0.1", port: Self.port)
                change(&$0)
            }, clients: Self.clients
        ).keep(in: self)
    }

    /// Makes a token by the command's code, and returns its text.
    private func token(_ server: InProcess, _ name: String, _ scopes: Set<AdminScope>, days: Int = 1) throws -> String {
        let database = server.backend.stateFolder + "/rps.sqlite"
        let now = server.now
        return try finish {
            try await AdminTokenAdministration(database: database, audit: .off, clock: { now })
                .add(name, scopes: scopes, days: days).token
        }
    }

    private func ask(
        _ server: InProcess, _ method: String, _ target: String, _ body: String? = nil, token: String?,
        headers: [String: String] = [:]
    ) throws -> Answer {
        let bearer = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        return try server.backend.call(
            method, target, body, headers: headers.merging(bearer) { $1 }, port: Self.port)
    }

    private func audit(_ server: InProcess) throws -> String {
        try String(contentsOfFile: server.backend.stateFolder + "/audit/audit.jsonl", encoding: .utf8)
    }

    private func requireGoodAudit(_ server: InProcess) throws {
        let state = server.backend.stateFolder
        let place = try AuditPlace(log: state + "/audit/audit.jsonl", keyFile: state + "/audit.key")
        XCTAssertEqual(try AuditVerification(place).findings, [])
    }

    // MARK: Tokens

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
            ("GET", "/users/x/export", [.usersWrite]),
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
            "[::1].evil.example", "[::1", "10.0.0.1", "", "0.0.0.0",
        ] {
            XCTAssertTrue([400, 421].contains(try status(host)), host)
        }
        XCTAssertEqual(try status("evil.example"), 421)
        XCTAssertNotEqual(try status(nil), 200)
        for origin in ["http://127.0.0.1:\(Self.port)", "https://evil.example", "null"] {
            XCTAssertEqual(try status("127.0.0.1", "Origin: \(origin)\r\n"), 403, origin)
        }
        let health = try Sockets.raw(
            Self.port, Data("GET /health/live HTTP/1.1\r\nConnection: close\r\nHost: probe.example\r\n\r\n".utf8))
        XCTAssertEqual(health.status, 200, "health checks are asked for by any name")
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

    // MARK: Users

    func testUsersAreFoundShownAndChanged() throws {
        let server = try start { $0.delivery = .forceActivate }
        let (token, client) = (try token(server, "desk", [.usersWrite]), TestClient(backend: server.backend))
        let phone = try client.register("alice@example.com", pin: "1234")
        let tablet = try client.register("alice@example.com", pin: "1234")
        let bob = try client.register("a/b%?+ c", pin: "1234")
        func devices(_ answer: Answer) -> [String: String] {
            let devices = answer.object["devices"] as? [[String: Any]] ?? []
            return devices.reduce(into: [:]) { $0[$1["identity"] as? String ?? ""] = $1["state"] as? String }
        }
        let (first, second) = (Hex.encode(phone.hash), Hex.encode(tablet.hash))
        let alice = "/users/alice%40example.com"
        XCTAssertEqual(devices(try ask(server, "GET", alice, token: token)), [first: "active", second: "active"])
        XCTAssertEqual(try ask(server, "GET", "/users/alice", token: token).status, 404)
        XCTAssertEqual(try ask(server, "GET", "/users/%ff", token: token).status, 400)
        let strange = try ask(server, "GET", "/users/a%2Fb%25%3F+%20c", token: token)
        XCTAssertEqual(strange.object["user"] as? String, "a/b%?+ c")
        XCTAssertEqual(devices(strange), [Hex.encode(bob.hash): "active"])

        let permit = try client.timePermit(phone)
        let one = "{\"identity\":\"\(first)\"}"
        XCTAssertEqual(devices(try ask(server, "POST", alice + "/block", one, token: token)), [first: "blocked"])
        XCTAssertEqual(try client.login(phone, pin: "1234", permit: permit).status, 410)
        XCTAssertEqual(try client.login(tablet, pin: "1234").status, 200)
        XCTAssertEqual(
            devices(try ask(server, "POST", alice + "/unblock", token: token)), [first: "active", second: "active"])
        XCTAssertEqual(try client.login(phone, pin: "1234", permit: permit).status, 200)
        XCTAssertEqual(
            devices(try ask(server, "POST", alice + "/revoke", token: token)), [first: "revoked", second: "revoked"])
        XCTAssertEqual(try client.login(tablet, pin: "1234", permit: permit).status, 410)
        XCTAssertEqual(try ask(server, "POST", alice + "/block", "{\"identity\":\"00\"}", token: token).status, 404)
        XCTAssertEqual(try ask(server, "POST", alice + "/block", "[]", token: token).status, 400)
        XCTAssertEqual(try ask(server, "POST", "/users/nobody/block", token: token).status, 404)
        let lines = try audit(server).split(separator: "\n").filter { $0.contains("\"token\":\"desk\"") }
        for (event, count) in [("blocked", 1), ("unblocked", 2), ("revoked", 2)] {
            XCTAssertEqual(lines.filter { $0.contains("\"event\":\"\(event)\"") }.count, count, event)
        }
        try requireGoodAudit(server)
    }

    /// A block by the operator ends sessions until the unblock; a block by wrong PINs does not, because a stranger who
    /// knows the M-Pin ID could cause it.
    func testABlockOfTheOperatorReachesSessions() throws {
        let server = try start()
        let (token, client) = (try token(server, "desk", [.usersWrite]), TestClient(backend: server.backend))
        let alice = try client.register("alice@example.com", pin: "1234")
        func isRevoked() throws -> Bool {
            switch try server.backend.callPrivate("GET", "/user/" + alice.id).status {
            case 200: false
            case 410: true
            case let status: throw Sockets.Failure(text: "status \(status)")
            }
        }
        for _ in 0..<3 { XCTAssertNotEqual(try client.login(alice, pin: "9999").status, 200) }
        XCTAssertFalse(try isRevoked())
        for (change, expected) in [("block", true), ("unblock", false)] {
            let answer = try ask(server, "POST", "/users/alice%40example.com/\(change)", token: token)
            XCTAssertEqual(answer.status, 200)
            XCTAssertEqual(try isRevoked(), expected, change)
        }
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
    }

    func testASearchReturnsPagesInTheOrderOfUserIDs() throws {
        let store = MemoryStore()
        let users = UserAdministration(in: store, clock: Moment.now)
        let names = (0..<700).map { "user\(1000 + $0)@example.com" } + ["", "use", "usf", "Äther", "a\u{308}b"]
        try finish {
            let records = Table<IdentityRecord>("identity", in: store)
            for (index, name) in (names + names).shuffled().enumerated() {
                let record = IdentityRecord(
                    mpinID: "00", userID: UserID.normal(name), keyID: "1", registered: .now())
                _ = try await records.create(Hex.encode(SHA256.hash(Array("\(index)".utf8))), record, at: .now())
            }
        }
        func all(_ prefix: String, limit: Int) throws -> [String] {
            var (found, last): ([String], String?) = ([], nil)
            repeat {
                let after = last
                let page = try finish { try await users.search(prefix: prefix, after: after, limit: limit) }
                XCTAssertLessThanOrEqual(page.users.count, limit)
                XCTAssertTrue(page.users.allSatisfy { $0.devices.count == 2 })
                found += page.users.map(\.id)
                last = page.next
            } while last != nil
            return found
        }
        for limit in [1, 7, 350, 700, 1000] {
            XCTAssertEqual(try all("user1", limit: limit), names.filter { $0.hasPrefix("user1") }.sorted(), "\(limit)")
        }
        XCTAssertEqual(try all("us", limit: 500).count, 702)
        XCTAssertEqual(try all("", limit: 500).count, 704)
        XCTAssertEqual(try all("user1234", limit: 5), ["user1234@example.com"])
        XCTAssertEqual(try all("A\u{308}", limit: 5), ["Äther"], "another Unicode form of the same letter")
        XCTAssertEqual(try all("userx", limit: 5), [])
    }

    /// Neither a search nor the look at one user reads the identities of all others.
    func testASearchReadsNoOtherUsers() throws {
        let gate = TripGate()
        let store = FarStore(MemoryStore(), gate)
        let users = UserAdministration(in: store, clock: Moment.now)
        try finish {
            let records = Table<IdentityRecord>("identity", in: store)
            for index in 0..<50 {
                let record = IdentityRecord(mpinID: "00", userID: "user\(index / 2)", keyID: "1", registered: .now())
                _ = try await records.create(Hex.encode(SHA256.hash(Array("\(index)".utf8))), record, at: .now())
            }
            // The first search indexes what was stored without indexes.
            let all = try await users.search(prefix: "", after: nil, limit: 500)
            XCTAssertEqual(all.users.count, 25)
        }
        for isSearch in [true, false] {
            gate.expect([])
            let found = try finish {
                guard isSearch else { return try await users.find(user: "user7") }
                return try await users.search(prefix: "user7", after: nil, limit: 5).users.flatMap(\.devices)
            }
            XCTAssertEqual(found.count, 2)
            let calls = gate.result().calls
            XCTAssertFalse(calls.contains("list identity"), "\(calls)")
            XCTAssertEqual(calls.filter { $0 == "read identity" }.count, 2, "\(calls)")
        }
    }

    func testTheSearchTakesItsParametersFromTheQuery() throws {
        let server = try start()
        let (token, client) = (try token(server, "desk", [.usersRead]), TestClient(backend: server.backend))
        for name in ["alice", "alina", "bob"] { _ = try client.register("\(name)@example.com", pin: "1234") }
        func users(_ query: String) throws -> [String] {
            let answer = try ask(server, "GET", "/users" + query, token: token)
            XCTAssertEqual(answer.status, 200, answer.text)
            let found = answer.object["users"] as? [[String: Any]] ?? []
            return found.compactMap { $0["user"] as? String } + [answer.object["next"] as? String].compactMap { $0 }
        }
        XCTAssertEqual(try users(""), ["alice@example.com", "alina@example.com", "bob@example.com"])
        XCTAssertEqual(try users("?prefix=ali&limit=1"), ["alice@example.com", "alice@example.com"])
        XCTAssertEqual(try users("?prefix=ali&limit=1&after=alice%40example.com"), ["alina@example.com"])
        for query in ["limit=0", "limit=501", "limit=x", "limit="] {
            XCTAssertEqual(try ask(server, "GET", "/users?" + query, token: token).status, 400, query)
        }
    }

    func testADeletedUserIsExportedAndGoneAndTheAuditLogStaysValid() throws {
        for names in AuditPlace.Users.allCases {
            let server = try start { $0.auditUsers = names }
            let (token, client) = (try token(server, "desk", [.usersWrite]), TestClient(backend: server.backend))
            let alice = try client.register("alice@example.com", pin: "1234")
            let bob = try client.register("bob@example.com", pin: "1234")
            let permit = try client.timePermit(alice)
            XCTAssertEqual(try client.login(alice, pin: "1234", permit: permit).status, 200)
            let pending = try client.startRegistration("alice@example.com")
            let exported = try ask(server, "GET", "/users/alice%40example.com/export", token: token)
            let deleted = try ask(server, "DELETE", "/users/alice%40example.com", token: token)
            for answer in [exported, deleted] {
                XCTAssertEqual(answer.status, 200, answer.text)
                let records = answer.object["records"] as? [[String: Any]] ?? []
                XCTAssertEqual(
                    records.compactMap { $0["table"] as? String },
                    ["oidc_profile", "registration", "registration", "identity", "device", "user"])
                for text in [alice.id, pending.mpinId] { XCTAssertTrue(answer.text.contains(text)) }
                for text in ["bob@example.com", bob.id, "regOTT"] { XCTAssertFalse(answer.text.contains(text), text) }
            }
            for target in ["/users/alice%40example.com", "/users/alice%40example.com/export"] {
                XCTAssertEqual(try ask(server, "GET", target, token: token).status, 404)
            }
            XCTAssertEqual(try ask(server, "DELETE", "/users/alice%40example.com", token: token).status, 404)
            XCTAssertEqual(try server.backend.callPrivate("GET", "/user/" + alice.id).status, 410, "no session goes on")
            XCTAssertEqual(try client.login(alice, pin: "1234", permit: permit).status, 401)
            XCTAssertThrowsError(try client.confirm("alice@example.com"))
            XCTAssertEqual(try client.login(bob, pin: "1234").status, 200)
            let log = try audit(server)
            XCTAssertTrue(log.contains("\"event\":\"deleted\",\"identity\":\"\(Hex.encode(alice.hash))\""))
            XCTAssertEqual(log.contains("alice@example.com"), names == .plain)
            XCTAssertEqual(log.contains("\"user\":"), names != .identities)
            try requireGoodAudit(server)
            server.stop()
        }
    }

    /// What the OpenID provider and the operator have stored of a user is found and deleted, and that of others stays.
    func testAnExportHasTheItemsOfEveryTable() throws {
        struct Grant: Encodable { let authorization: Authorization }
        let store = MemoryStore()
        let users = UserAdministration(in: store, clock: Moment.now)
        try finish {
            let now = Moment.now()
            let client = Client(id: "shop", name: "Shop", created: now)
            for user in ["alice", "bob"] {
                let login = UserLogin(userID: user, mpinID: "7b7d", time: now)
                _ = try await BrowserSessions(in: store).begin(login, at: now)
                try await Consents(in: store).allow(["openid"], of: client, by: user, at: now)
                try await ActivationCodes(in: store).issue(
                    "ABCD", user: user, until: now.adding(seconds: 60), at: now)
                let authorization = Authorization(
                    clientID: "shop", login: login, sessionID: nil, scopes: ["openid"], claims: RequestedClaims(),
                    nonce: nil)
                let item = StoredItem(value: try JSON.bytes(Grant(authorization: authorization)))
                _ = try await store.create(ItemKey("oidc_grant", user), item, at: now)
            }
        }
        func tables(_ export: UserAdministration.Export?) throws -> [String] {
            let text = try JSONEncoder().encode(XCTUnwrap(export))
            let object = try JSONSerialization.jsonObject(with: text) as? [String: Any]
            let records = object?["records"] as? [[String: Any]] ?? []
            XCTAssertFalse(String(decoding: text, as: UTF8.self).contains("salt"))
            return records.compactMap { $0["table"] as? String }
        }
        let all = ["oidc_session", "oidc_user_session", "oidc_grant", "oidc_consent", "activation_code"]
        XCTAssertEqual(try tables(finish { try await users.export(user: "alice") }), all)
        XCTAssertEqual(try tables(finish { try await users.delete(user: "alice", audit: .off) }), all)
        XCTAssertNil(try finish { try await users.export(user: "alice") })
        XCTAssertEqual(try tables(finish { try await users.export(user: "bob") }), all)
    }

    // MARK: Sessions

    func testSessionsAreListedAndEnded() throws {
        let server = try start { $0.delivery = .forceActivate }
        let (token, now) = (try token(server, "desk", [.sessions]), server.now)
        let client = TestClient(backend: server.backend)
        let devices = [
            "alice": try client.register("alice", pin: "1234").id, "bob": try client.register("bob", pin: "1234").id,
        ]
        let ids = try finish { [database = server.backend.stateFolder + "/rps.sqlite"] in
            let sessions = BrowserSessions(in: try SQLiteStore(path: database))
            var ids: [String: [String]] = [:]
            for user in ["alice", "alice", "bob", "bob", "bob"] {
                let login = UserLogin(userID: user, mpinID: devices[user] ?? "", time: now)
                let begun = try await sessions.begin(login, for: "shop", at: now)
                ids[user, default: []].append(try XCTUnwrap(begun).1.id)
            }
            return ids
        }
        func ask(_ method: String, _ target: String, _ status: Int = 200) throws -> Answer {
            let answer = try self.ask(server, method, target, token: token)
            XCTAssertEqual(answer.status, status, "\(method) \(target): \(answer.text)")
            return answer
        }
        func listed(_ target: String) throws -> [String] {
            (try ask("GET", target).object["sessions"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
        }
        func ended(_ target: String) throws -> [String] {
            let ended = try ask("DELETE", target).object["ended"] as? [[String: Any]] ?? []
            return ended.compactMap { $0["session"] as? String }
        }
        let all = ids.values.joined().sorted()
        XCTAssertEqual(try listed("/sessions"), all)
        let first = try ask("GET", "/sessions?limit=2")
        XCTAssertEqual(first.object["next"] as? String, all[1])
        XCTAssertEqual(try listed("/sessions?limit=2&after=\(all[1])"), Array(all[2..<4]))
        let last = try ask("GET", "/sessions?limit=2&after=\(all[3])")
        XCTAssertNil(last.object["next"])
        XCTAssertEqual(Set(try listed("/users/alice/sessions")), Set(ids["alice"] ?? []))
        let shown = try XCTUnwrap(first.object["sessions"] as? [[String: Any]]).first
        XCTAssertEqual(shown?["clients"] as? [String], ["shop"])
        XCTAssertEqual(shown?["state"] as? String, "active")

        let one = try XCTUnwrap(ids["bob"]?.first)
        XCTAssertEqual(try ask("DELETE", "/sessions/\(one)").object["user"] as? String, "bob")
        _ = try ask("DELETE", "/sessions/\(one)", 404)
        XCTAssertEqual(Set(try ended("/users/bob/sessions?everywhere=true")), Set(ids["bob"]?.dropFirst() ?? []))
        XCTAssertEqual(try ended("/users/bob/sessions"), [])
        XCTAssertEqual(try listed("/sessions"), ids["alice"]?.sorted())
        for target in ["/sessions?limit=0", "/sessions?limit=501"] { _ = try ask("GET", target, 400) }
        _ = try ask("DELETE", "/users/alice/sessions?everywhere=perhaps", 400)
        let log = try audit(server)
        for command in ["session list", "session end"] { XCTAssertTrue(log.contains("\"command\":\"\(command)\"")) }
        XCTAssertEqual(log.split(separator: "\n").filter { $0.contains("\"event\":\"session-ended\"") }.count, 3)
        try requireGoodAudit(server)
    }

    // MARK: Signing keys

    /// The server that answers uses the changed keys at once.
    func testSigningKeysAreRotatedAndWithdrawn() throws {
        let server = try start()
        let token = try token(server, "keys", [.keys])
        func keys(_ method: String, _ target: String) throws -> [[String: Any]] {
            let answer = try ask(server, method, target, token: token)
            XCTAssertEqual(answer.status, 200, "\(method) \(target): \(answer.text)")
            return answer.object["keys"] as? [[String: Any]] ?? []
        }
        func published() throws -> Set<String> {
            let keys = try server.backend.call("GET", "/oidc/certs").object["keys"] as? [[String: Any]] ?? []
            return Set(keys.compactMap { $0["kid"] as? String })
        }
        func states(_ keys: [[String: Any]]) -> [String] { keys.compactMap { $0["state"] as? String }.sorted() }
        func kids(_ keys: [[String: Any]]) -> Set<String> { Set(keys.compactMap { $0["kid"] as? String }) }
        let before = try keys("GET", "/signing-keys")
        XCTAssertEqual(states(before), ["signing", "signing"])
        let rotated = try keys("POST", "/signing-keys/rotate")
        XCTAssertEqual(states(rotated), ["next", "next", "signing", "signing"])
        XCTAssertEqual(kids(rotated), try published())
        let leaked = try XCTUnwrap(before.first?["kid"] as? String)
        let left = try keys("DELETE", "/signing-keys/\(leaked)")
        XCTAssertEqual(states(left), ["next", "signing", "signing"])
        XCTAssertEqual(kids(left), kids(rotated).subtracting([leaked]))
        XCTAssertEqual(kids(left), try published())
        XCTAssertEqual(try ask(server, "DELETE", "/signing-keys/\(leaked)", token: token).status, 404)
        let log = try audit(server)
        for command in ["list", "rotate", "withdraw"] {
            XCTAssertTrue(log.contains("\"command\":\"signing-key \(command)\""), command)
        }
        XCTAssertTrue(log.contains("\"kid\":\"\(leaked)\""))
    }

    // MARK: Clients

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

    // MARK: Audit log

    func testTheAuditLogIsReadByNumbersAcrossItsFiles() throws {
        let server = try start()
        let token = try token(server, "watch", [.audit])
        let state = server.backend.stateFolder
        let place = try AuditPlace(log: state + "/audit/audit.jsonl", keyFile: state + "/audit.key")
        let log = try AuditLog(place)
        // The lines fill several pieces that the reader reads at once, in each of three files.
        let long = String(repeating: "x", count: 1000)
        for file in 1...3 {
            for number in 0..<400 { try log.append(.command("\(file) \(number)", [("long", long)]), part: "test") }
            if file < 3 { try log.rotate(suffix: "\(file)") }
        }
        func page(_ query: String) throws -> (numbers: [Int], next: Int, last: Int) {
            // The tags of the lines look like secrets to those who search the traffic for them, so it is not noted.
            let head = "GET /audit\(query) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
            let answer = try Sockets.raw(Self.port, Data((head + "Connection: close\r\n\r\n").utf8))
            XCTAssertEqual(answer.status, 200, answer.text)
            let lines = answer.object["lines"] as? [[String: Any]] ?? []
            return (
                lines.compactMap { $0["n"] as? Int }, answer.object["next"] as? Int ?? 0,
                answer.object["last"] as? Int ?? 0
            )
        }
        let last = try page("").last
        XCTAssertGreaterThan(last, 1200)
        XCTAssertEqual(try page("").numbers, Array(last - 49...last))
        XCTAssertEqual(try page("?limit=3").numbers, Array(last - 2...last))
        XCTAssertEqual(try page("?from=1&limit=500").numbers, Array(1...500))
        var (next, seen): (Int, [Int]) = (1, [])
        while next <= last {
            let found = try page("?from=\(next)&limit=333")
            seen += found.numbers
            guard found.next > next else { break }
            next = found.next
        }
        XCTAssertEqual(seen, Array(1...last))
        for number in [2, 399, 400, 401, 405, 777, 1199, last] {
            XCTAssertEqual(try page("?from=\(number)&limit=1").numbers, [number])
        }
        let after = try page("?from=\(last + 1)")
        XCTAssertEqual([after.numbers.count, after.next], [0, last + 1])
        try log.append(.command("one more"), part: "test")
        XCTAssertEqual(try page("?from=\(last + 1)").numbers, [last + 1], "what was not there yet")
        for query in ["from=0", "from=-1", "from=x", "limit=501"] {
            XCTAssertEqual(try ask(server, "GET", "/audit?" + query, token: token).status, 400, query)
        }
    }

    // MARK: One-time passwords

    private func digits(_ client: TestClient, _ user: TestClient.User, redeem: Bool = true) throws -> String {
        let login = try client.pass1(user, pin: "1234", permit: client.timePermit(user))
        let pass2 = try client.pass2(login, otp: true)
        if redeem { XCTAssertEqual(try client.authenticate(pass2).status, 200) }
        return try XCTUnwrap(pass2.object["OTP"] as? String)
    }

    /// Other digits than the given ones.
    private func other(_ digits: String) -> String { digits == "123456" ? "654321" : "123456" }

    func testAOneTimePasswordIsGoodOnce() throws {
        let server = try start()
        let (token, client) = (try token(server, "vpn", [.otp]), TestClient(backend: server.backend))
        let (alice, bob) = (
            try client.register("alice@example.com", pin: "1234"), try client.register("bob@example.com", pin: "1234")
        )
        func check(_ digits: String, _ user: String = "alice@example.com") throws -> Answer {
            try ask(server, "POST", "/otp/verify", "{\"user\":\"\(user)\",\"otp\":\"\(digits)\"}", token: token)
        }
        let first = try digits(client, alice)
        XCTAssertEqual(try check(first, "bob@example.com").status, 403, "another user's")
        XCTAssertEqual(try check(other(first)).status, 403, "wrong")
        let right = try check(first)
        XCTAssertEqual(right.status, 200)
        XCTAssertEqual(right.object as? [String: String], ["user": "alice@example.com"])
        let used = try check(first)
        XCTAssertEqual(used.status, 403)
        XCTAssertNil(used.headers["www-authenticate"], "unlike a missing scope")
        XCTAssertEqual(used.text, try check(first, "nobody").text, "one answer for all reasons")

        let unredeemed = try digits(client, alice, redeem: false)
        XCTAssertEqual(try check(unredeemed).status, 403, "before the login has ended")
        let guessed = try digits(client, alice)
        for _ in 0..<5 { XCTAssertEqual(try check(other(guessed)).status, 403) }
        XCTAssertEqual(try check(guessed).status, 403, "void after five wrong tries")
        let almost = try digits(client, alice)
        for _ in 0..<4 { XCTAssertEqual(try check(other(almost)).status, 403) }
        XCTAssertEqual(try check(almost).status, 200, "four wrong tries are allowed")
        let (older, newer) = (try digits(client, bob), try digits(client, bob))
        if older != newer { XCTAssertEqual(try check(older, "bob@example.com").status, 403, "replaced") }
        XCTAssertEqual(try check(newer, "bob@example.com").status, 200)
        let late = try digits(client, bob)
        server.advance(seconds: 61)
        XCTAssertEqual(try check(late, "bob@example.com").status, 403, "expired")
        let log = try audit(server)
        XCTAssertEqual(log.split(separator: "\n").filter { $0.contains("\"right\":\"true\"") }.count, 3)
        XCTAssertTrue(log.contains("\"event\":\"otp-checked\""))
        for body in ["{}", "{\"user\":\"\",\"otp\":\"1\"}", "{\"user\":\"x\",\"otp\":1}", "[]", "x"] {
            XCTAssertEqual(try ask(server, "POST", "/otp/verify", body, token: token).status, 400, body)
        }
    }

    /// The digits of a user who was blocked, revoked or deleted since the login have no effect.
    func testDigitsOfAUserWhoMayNotLogInAreNoPasswords() throws {
        let server = try start { $0.delivery = .forceActivate }
        let token = try token(server, "vpn", [.otp, .usersWrite])
        let client = TestClient(backend: server.backend)
        for (index, change) in ["block", "revoke", "delete"].enumerated() {
            let name = "user\(index)"
            let user = try client.register(name, pin: "1234")
            let digits = try digits(client, user)
            let answer =
                try change == "delete"
                ? ask(server, "DELETE", "/users/\(name)", token: token)
                : ask(server, "POST", "/users/\(name)/\(change)", token: token)
            XCTAssertEqual(answer.status, 200)
            let body = "{\"user\":\"\(name)\",\"otp\":\"\(digits)\"}"
            XCTAssertEqual(try ask(server, "POST", "/otp/verify", body, token: token).status, 403, change)
        }
    }
}
