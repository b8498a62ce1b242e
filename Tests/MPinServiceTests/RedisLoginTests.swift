import Foundation
import MPinService
import MPinStore
import StoreEngines
import XCTest

/// Tests logins whose short-lived items are in a Redis server, and whose lasting ones are in a PostgreSQL database or in
/// memory.
final class RedisLoginTests: XCTestCase {
    private let pins = ["1234", "9999", "9998", "1234", "9999", "9998", "9997", "1234"]
    private let verdicts: [Verdict] = [
        .right, .wrong(left: 2), .wrong(left: 1), .right, .wrong(left: 2), .wrong(left: 1), .blocked(until: nil),
        .blocked(until: nil),
    ]

    /// Four exchanges with Redis and two with PostgreSQL. Those of pass 2 are two at a time, so there are four trips. It
    /// does not matter what the login comes to.
    func testALoginIsFourExchangesWithRedisAndTwoWithPostgreSQL() async throws {
        guard case .postgres(let place) = try StoreURL(PostgresServer.shared.get().newDatabase()) else {
            return XCTFail()
        }
        let (lasting, shortLived) = (try await PostgresStore(place, .lasting), try await redis())
        let under = try await service(lasting, shortLived)
        let alice = try await under.register("alice@example.com", pin: "1234")
        let stranger = try await ServiceUnderTest().register("bob@example.com", pin: "1234")
        for (client, pin) in pins.map({ (alice, $0) }) + [(stranger, "1234"), (stranger, "1234")] {
            let before = [shortLived.trips, lasting.trips]
            _ = try await under.redeem(client.prove(pin, to: under.service))
            XCTAssertEqual(
                [shortLived.trips - before[0], lasting.trips - before[1]], [4, 2], "\(under.surroundings.seen)")
        }
    }

    func testVerdictsAreThoseOfOtherStores() async throws {
        for layer in [{ $0 }, { RepeatingStore($0) }] as [(any Store) -> any Store] {
            let under = try await service(MemoryStore(), layer(redis()))
            let alice = try await under.register("alice@example.com", pin: "1234")
            var seen: [Verdict] = []
            for pin in pins { seen.append(try await under.redeem(alice.prove(pin, to: under.service)).verdict) }
            XCTAssertEqual(seen, verdicts)
        }
    }

    /// A token that was used before the server ended is not good for a second time, although the server has it again. What
    /// was guessed before is not forgotten.
    func testALostServerGivesNoGuessAndNoReplay() async throws {
        let server = try RedisServer(settings: ["--appendonly", "yes", "--appendfsync", "always"])
        let under = try await service(MemoryStore(), redis(server.url))
        let alice = try await under.register("alice@example.com", pin: "1234")
        for pin in ["9999", "9998"] { _ = try await under.redeem(alice.prove(pin, to: under.service)) }
        let token = try await alice.prove("9997", to: under.service)
        let files = server.folder + "/appendonlydir"
        let kept = server.folder + "/kept"
        try copy(files, kept)
        let first = try await under.redeem(token)
        XCTAssertEqual(first.verdict, .blocked(until: nil))
        // The server comes back with what it had on its disk before the token was used.
        try server.signal(SIGKILL)
        try copy(kept, files)
        try server.startAgain()
        XCTAssertNotEqual(try server.run("KEYS", "*token/*"), "", "the token is back")
        var refusal: (any Error)?
        while refusal == nil || refusal is StoreError {
            do {
                _ = try await under.redeem(token)
                return XCTFail("redeemed twice")
            } catch { refusal = error }
        }
        XCTAssertEqual(refusal as? ServiceError, .expiredLogin)
        let last = try await under.redeem(alice.prove("1234", to: under.service))
        XCTAssertEqual(last.verdict, .blocked(until: nil))
    }

    private func copy(_ from: String, _ to: String) throws {
        let manager = FileManager.default
        if manager.fileExists(atPath: to) { try manager.removeItem(atPath: to) }
        try manager.copyItem(atPath: from, toPath: to)
    }

    private func redis(_ url: String? = nil) async throws -> RedisStore {
        guard case .redis(let place) = try StoreURL(url ?? RedisServer.shared.get().newURL()) else {
            throw StoreError.unusable("no Redis URL")
        }
        return try await RedisStore(place)
    }

    private func service(_ lasting: any Store, _ shortLived: any Store) async throws -> ServiceUnderTest {
        var stores = [lasting, shortLived]
        return try await ServiceUnderTest(layer: { _ in stores.removeFirst() })
    }
}
