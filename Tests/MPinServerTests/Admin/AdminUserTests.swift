import Foundation
import MPinOpenID
import MPinSecrets
import MPinServer
import MPinService
import MPinStore
import MPinWire
import StoreEngines
import XCTest

/// Tests the part of the admin API for the users: search, devices, blocks, deletion with export.
final class AdminUserTests: AdminAPITestCase {
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
                    ["oidc_profile", "registration", "registration", "identity", "device", "user", "mailbox"])
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
                    "ABCD", user: UserKey(user), until: now.adding(seconds: 60), at: now)
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
}
