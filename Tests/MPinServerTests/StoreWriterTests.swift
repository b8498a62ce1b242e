import Foundation
import LoopbackServer
import MPinSecrets
import MPinService
import StoreEngines
import XCTest

/// Tests a server when somebody else writes into its Redis server or its PostgreSQL database.
final class StoreWriterTests: XCTestCase {
    private let backend = Backend.onFreePorts()
    private let admin = freePorts(1)[0]
    private var client: TestClient { TestClient(backend: backend) }

    override func tearDown() { try? FileManager.default.removeItem(atPath: backend.stateFolder) }

    private func started(_ names: [String], _ store: String) throws -> Mpind {
        let mpind = try Mpind(
            backend, names.flatMap { ["--" + $0, store] } + ["--admin-listen", "127.0.0.1:\(admin)"])
        try mpind.waitUntilReady()
        return mpind
    }

    func testTokensInRedisAreBoundToTheirPlace() throws {
        let server = try RedisServer()
        let mpind = try started(["short-lived-store", "signals", "counters"], server.url)
        func name(_ key: String) throws -> String {
            let names = try server.run("KEYS", "*/" + key).split(separator: "\n")
            return String(try XCTUnwrap(names.first))
        }
        try tryTokens(mpind) { from, to, text, other in
            let script = """
                local value = redis.call('GET', KEYS[1])
                local at = string.find(value, ARGV[1], 1, true)
                local changed = value:sub(1, at - 1) .. ARGV[2] .. value:sub(at + #ARGV[1])
                redis.call('SET', KEYS[2], changed, 'KEEPTTL')
                """
            try server.run("EVAL", script, "2", name(from), name(to), text, other)
        }
        mpind.stop(SIGTERM)
    }

    func testTokensAndIdentitiesInPostgreSQLAreBoundToTheirPlace() throws {
        let server = try PostgresServer.shared.get()
        let database = try server.newDatabase()
        let mpind = try started(["database", "short-lived-store", "signals", "counters"], database)
        try tryTokens(mpind) { from, to, text, other in
            let (old, new) = (Hex.encode(Array(text.utf8)), Hex.encode(Array(other.utf8)))
            try server.run(
                """
                UPDATE short_lived_item SET value = (
                    SELECT decode(replace(encode(value, 'hex'), '\(old)', '\(new)'), 'hex')
                    FROM short_lived_item WHERE key = '\(from)')
                WHERE key = '\(to)'
                """, in: database)
        }
        let (bob, carol) = (
            try client.register("bob@example.com", pin: "4321"), try client.register("carol@example.com", pin: "1234")
        )
        let place = "kind = 'identity' AND lasting_item.key IN ('\(key(bob))', '\(key(carol))')"
        try server.run("CREATE TABLE kept AS SELECT key, value FROM lasting_item WHERE \(place)", in: database)
        func put(_ which: String) throws {
            try server.run(
                """
                UPDATE lasting_item SET value = kept.value FROM kept
                WHERE \(place) AND kept.key \(which) lasting_item.key
                """, in: database)
        }
        let logins = try [(carol, "1234"), (bob, "4321")].map { user, pin in
            try client.pass1(user, pin: pin, permit: client.timePermit(user))
        }
        try put("<>")
        for login in logins { XCTAssertEqual(try client.pass2(login).status, 503) }
        try requireRefused(mpind, "lasting", "identity")
        // A login that was refused has appended its attempt all the same.
        try put("=")
        XCTAssertEqual(try client.login(bob, pin: "4321").status, 200)
        mpind.stop(SIGTERM)
    }

    private func key(_ user: TestClient.User) -> String { Hex.encode(SHA256.hash(user.bytes)) }

    /// Another user in a token, and the token of a right PIN in the place of that of a wrong one. `change` stores the value
    /// under the key `from` as that under the key `to`, with the text `other` in the place of `text`.
    private func tryTokens(
        _ mpind: Mpind, _ change: (_ from: String, _ to: String, _ text: String, _ other: String) throws -> Void
    ) throws {
        let user = try client.register("alice@example.com", pin: "1234")
        let (token, right, wrong) = (try issued(user, "1234"), try issued(user, "1234"), try issued(user, "9999"))
        XCTAssertEqual(try client.authenticate(issued(user, "1234").answer).status, 200, "what nobody has changed")
        try change(token.key, token.key, "alice@example.com", "admin@example.com")
        XCTAssertEqual(try client.authenticate(token.answer).status, 503)
        try change(right.key, wrong.key, right.key, wrong.key)
        XCTAssertEqual(try client.authenticate(wrong.answer).status, 503)
        try requireRefused(mpind, "short-lived", "token")
    }

    private func issued(_ user: TestClient.User, _ pin: String) throws -> (answer: Answer, key: String) {
        let answer = try client.pass2(client.pass1(user, pin: pin, permit: client.timePermit(user)))
        let members = try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any]
        return (answer, AuthToken.key(try XCTUnwrap(members?["authOTT"] as? String, answer.text)))
    }

    private func requireRefused(_ mpind: Mpind, _ store: String, _ table: String, line: UInt = #line) throws {
        let counted = "mpin_store_refused_records_total{store=\"\(store)\",table=\"\(table)\"} 2\n"
        let metrics = try backend.call("GET", "/metrics", port: admin).text
        XCTAssertTrue(metrics.contains(counted), metrics, line: line)
        XCTAssertTrue(mpind.logText.contains("a record was refused"), mpind.logText, line: line)
    }
}
