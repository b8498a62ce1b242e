import Foundation
import MPinSecrets
import MPinService
import MPinStore
import StoreEngines
import XCTest

/// Tests that a PostgreSQL database of the version before is taken over (Tests/Vectors/postgres-1.sql, which that version
/// made: Alice has logged in and Bob has typed two wrong PINs), and that a server of that version can no longer use it.
final class PostgresUpgradeTests: XCTestCase {
    private let now = Moment.now()

    func testWrongPINsOfTheVersionBeforeCount() async throws {
        let (url, _) = try recorded()
        let stores = try await concurrently(4) { _ in try await StoreURL(url).lasting() }
        let nodes = try stores.map { store in
            Identities(
                in: store, slots: Slots(bits: 4, key: try .random(count: 32)), policy: AttemptPolicy(),
                reserving: .durable)
        }
        try await concurrently(4) { [now] node in try await nodes[node].pack(at: now) }
        let people = try await nodes[0].list(after: nil, limit: 10, at: now).map(\.value)
        XCTAssertEqual(people.map(\.userID).sorted(), ["alice@example.com", "bob@example.com"])
        for (person, wrong) in people.map({ ($0, $0.userID.hasPrefix("bob") ? 2 : 0) }) {
            let id = try XCTUnwrap(MPinID(hex: person.mpinID))
            XCTAssertEqual(person.attempts, wrong)
            let attempts = try await concurrently(4) { [now] node in try await nodes[node].reserve(id, at: now) }
            let granted = attempts.enumerated().filter { $0.element.reservation == Reservation.granted }
            XCTAssertEqual(granted.count, 3 - wrong, person.userID)
            for (node, attempt) in granted {
                _ = try await nodes[3 - node].settle(attempt, Settlement.wrong, at: now)
            }
            let after = try await nodes[0].reserve(id, at: now)
            XCTAssertEqual(after.reservation, .refused(.blocked(until: nil)), person.userID)
        }
    }

    func testAServerOfTheVersionBeforeFindsNothing() async throws {
        let (url, server) = try recorded()
        XCTAssertEqual(try server.run("SELECT count(*) FROM item WHERE kind = 'identity'", in: url), "2")
        XCTAssertEqual(try server.run("SELECT count(*) FROM short_lived_item", in: url), "1")
        _ = try await StoreURL(url).lasting()
        XCTAssertThrowsError(try server.run("SELECT count(*) FROM item", in: url))
        XCTAssertEqual(try server.run("SELECT count(*) FROM short_lived_item", in: url), "0", "its tokens")
    }

    private func recorded() throws -> (url: String, PostgresServer) {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Vectors/postgres-1.sql")
        try server.run(String(contentsOf: file, encoding: .utf8), in: url)
        return (url, server)
    }
}
