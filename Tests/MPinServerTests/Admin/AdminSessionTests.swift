import Foundation
import MPinOpenID
import MPinServer
import MPinStore
import XCTest

/// Tests the part of the admin API for sessions and signing keys.
final class AdminSessionTests: AdminAPITestCase {
    func testSessionsAreListedAndEnded() throws {
        let server = try start { $0.delivery = .forceActivate }
        let (token, now) = (try token(server, "desk", [.sessions]), server.now)
        let client = TestClient(backend: server.backend)
        let devices = [
            "alice": try client.register("alice", pin: "1234").id, "bob": try client.register("bob", pin: "1234").id,
        ]
        let ids = try finish { [database = server.backend.stateFolder + "/rps.sqlite"] in
            let sessions = BrowserSessions(in: try await ServiceDatabase(database).open())
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
}
