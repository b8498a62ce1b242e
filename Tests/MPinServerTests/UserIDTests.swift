import Foundation
import MPinSecrets
import MPinServer
import MPinStore
import MPinWire
import XCTest

/// Tests which characters a user id may contain, and that all Unicode forms of a name are one user.
final class UserIDTests: XCTestCase {
    /// "José" in two forms: decomposed, with the accent as a separate character, as some systems type it, and composed.
    private let decomposed = "jose\u{301}@example.com"
    private let composed = "jos\u{e9}@example.com"

    func testAUserIdThatHoldsWhatNobodySeesIsRefusedAndTheErrorNamesIt() throws {
        let server = try InProcess { $0.delivery = .forceActivate }.keep(in: self)
        for (character, named) in [
            ("\u{1B}", "control characters"), ("\u{7F}", "control characters"), ("\u{85}", "control characters"),
            ("\u{202E}", "bidirectional control characters"), ("\u{2066}", "bidirectional control characters"),
            ("\u{61C}", "bidirectional control characters"), ("\u{200B}", "zero-width characters"),
            ("\u{200D}", "zero-width characters"), ("\u{FEFF}", "zero-width characters"), ("\u{AD}", "soft hyphens"),
            ("\u{E0041}", "invisible characters"),
        ] {
            let name = "ali\(character)ce@example.com"
            let answer = try server.backend.call("PUT", "/rps/user", "{\"mobile\":1,\"userId\":\(name.quoted)}")
            XCTAssertEqual(answer.status, 400, named)
            XCTAssertEqual(answer.object["message"] as? String, "userId must not hold \(named)")
        }
        for name in ["alice@example.com", composed, "李雷@example.com", "ολγα", "😀@example.com", "a b"] {
            let answer = try server.backend.call("PUT", "/rps/user", "{\"mobile\":1,\"userId\":\(name.quoted)}")
            XCTAssertEqual(answer.status, 200, name)
        }
    }

    /// The M-Pin ID must contain the name as it was typed, because Milagro's clients compare it with the one that they
    /// sent. Everywhere else the name is composed.
    func testAUserIsOneHoweverTheNameIsTyped() throws {
        let server = try InProcess {
            $0.delivery = .forceActivate
            $0.auditUsers = .hashed
        }.keep(in: self)
        let client = TestClient(backend: server.backend)
        let user = try client.register(decomposed, pin: "1234")
        let inside = try JSONDecoder().decode(MPinIDContent.self, from: Data(user.bytes))
        XCTAssertEqual(Array(inside.userID.utf8), Array(decomposed.utf8), "as it was asked for")
        let name = try XCTUnwrap(client.login(user, pin: "1234").object["userId"] as? String)
        XCTAssertEqual(Array(name.utf8), Array(composed.utf8), "as the server keeps it")
        let state = server.backend.stateFolder
        let place = try AuditPlace(log: state + "/audit/audit.jsonl", keyFile: state + "/audit.key", users: .hashed)
        XCTAssertEqual(place.name(decomposed), place.name(composed))
        XCTAssertTrue(try String(contentsOfFile: place.log, encoding: .utf8).contains(place.name(decomposed)))
    }

    func testAUserIsFoundByTheOperatorHoweverTheNameIsTyped() async throws {
        let server = try InProcess { $0.delivery = .forceActivate }.keep(in: self)
        _ = try TestClient(backend: server.backend).register(decomposed, pin: "1234")
        let users = try await UserAdministration(database: ServiceDatabase(server.backend.stateFolder + "/rps.sqlite"))
        for name in [decomposed, composed] {
            let found = try await users.find(user: name)
            XCTAssertEqual(found.map { Array($0.user.utf8) }, [Array(composed.utf8)])
        }
    }

    func testAnotherSpellingOfARevokedUserIsRevoked() throws {
        let path = NSTemporaryDirectory() + "revoked-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("Mallory@example.com\n".utf8).write(to: URL(fileURLWithPath: path))
        let revoked = RevokedUsers(file: path)
        for name in ["mallory@example.com.", "MALLORY@EXAMPLE.COM", "mallory@example.com"] {
            XCTAssertTrue(try revoked.contains("00", user: UserKey(name)), name)
        }
        for name in ["mallory@example.co", "mallory+x@example.com", "mallory."] {
            XCTAssertFalse(try revoked.contains("00", user: UserKey(name)), name)
        }
    }

    /// A line is safer read as too many users than as too few: a user id is also that of the users of all projects.
    func testALineNamesTheUserOfAProject() throws {
        let path = NSTemporaryDirectory() + "revoked-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("shop/mallory@example.com\nbob\n".utf8).write(to: URL(fileURLWithPath: path))
        let revoked = RevokedUsers(file: path)
        for user in [UserKey("mallory@example.com", of: "shop"), UserKey("bob", of: "shop"), UserKey("bob")] {
            XCTAssertTrue(try revoked.contains("00", user: user), user.shown)
        }
        for user in [UserKey("mallory@example.com"), UserKey("mallory@example.com", of: "other")] {
            XCTAssertFalse(try revoked.contains("00", user: user), user.shown)
        }
    }

    func testLinesOfTheListOfRevokedUsersEndAtLFOrCRLFOnly() throws {
        let path = NSTemporaryDirectory() + "revoked-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        let revoked = RevokedUsers(file: path)
        func isRevoked(_ user: String, by list: String) throws -> Bool {
            try Data(list.utf8).write(to: URL(fileURLWithPath: path))
            return try revoked.contains("00", user: UserKey(user))
        }
        for inside in ["\u{2028}", "\u{2029}", "\u{85}", "\u{B}", "\u{C}"] {
            let name = "mallory\(inside)x@example.com"
            XCTAssertTrue(try isRevoked(name, by: "alice\n\(name)\n"), "\(inside.debugDescription) hides the name")
            XCTAssertFalse(try isRevoked("x@example.com", by: "alice\n\(name)\n"), "it is no name of its own")
        }
        for list in ["bob\r\nalice\r\n", "alice\nbob", "\u{FEFF}alice\nbob\n", "bob\n\n  ALICE\t\r\n"] {
            XCTAssertTrue(try isRevoked("alice", by: list), list.debugDescription)
        }
        XCTAssertTrue(try isRevoked(composed, by: decomposed + "\n"))
        XCTAssertTrue(try isRevoked(decomposed, by: composed.uppercased() + "\n"))
        try FileManager.default.removeItem(atPath: path)
        XCTAssertEqual(mkfifo(path, 0o600), 0)
        XCTAssertThrowsError(try revoked.contains("00", user: UserKey("alice")), "and does not wait for a writer")
    }
}
