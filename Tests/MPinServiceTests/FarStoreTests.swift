import MPinService
import MPinStore
import StoreEngines
import Synchronization
import XCTest

/// Tests logins at two stores on other machines, which are asked at the same time.
final class FarStoreTests: XCTestCase {
    /// A G1 point in hex, from wire section 16.
    private static let point =
        "0420bb376f4d54c9179ddc0ab600a572518743d7ea45747827bf948b5506490c3b02ab5629d3fea46cfbda44618d652b1b6a"
        + "c452587c4cf2949065328fe3d55be5"

    /// Tests a wrong PIN that is counted while the token of another login with a wrong PIN is being stored. The verdict
    /// of that token must take both wrong PINs into account.
    func testAWrongPINInBetweenIsInTheVerdict() async throws {
        let (under, store) = try await far()
        let alice = try await under.register("alice@example.com", pin: "1234")
        let first = try await alice.prove("9999", to: under.service)
        let told = try await under.redeem(first).verdict
        XCTAssertEqual(told, .wrong(left: 2))
        let (identities, now) = (try identities(under, store.memory), under.surroundings.now)
        store.before("identity") {
            let other = try await identities.reserve(alice.id, at: now)
            _ = try await identities.settle(other, .wrong, at: now)
        }
        let token = try await alice.prove("9998", to: under.service)
        let verdict = try await under.redeem(token).verdict
        XCTAssertEqual(verdict, .blocked(until: nil))
        XCTAssertEqual(under.surroundings.seen.last, verdict)
        XCTAssertEqual(under.surroundings.blocks, [nil])
    }

    func testAVerdictThatIsNotKeptIsReportedAsLost() async throws {
        for layer in [{ $0 }, { FarStore($0, TripGate()) }] as [(any Store) -> any Store] {
            let store = EventfulStore()
            var stores: [any Store] = [store, MemoryStore()]
            let under = try await ServiceUnderTest(layer: { _ in layer(stores.removeFirst()) })
            let alice = try await under.register("alice@example.com", pin: "1234")
            under.surroundings.whenJudged {
                store.before("identity") { throw StoreError.unavailable("the disk is full") }
            }
            do {
                _ = try await alice.prove("1234", to: under.service)
                XCTFail("answered")
            } catch is StoreError {}
            XCTAssertEqual(under.surroundings.lost, 1)
            XCTAssertEqual(under.surroundings.seen, [])
        }
    }

    /// The tokens fail when three proofs have been judged.
    func testAVerdictWhoseTokenIsNotKeptIsReported() async throws {
        let faults = FailingStore.Faults()
        for layer in [{ $0 }, { FarStore($0, TripGate()) }] as [(any Store) -> any Store] {
            faults.set([])
            var stores: [any Store] = [MemoryStore(), FailingStore(MemoryStore(), faults)]
            let under = try await ServiceUnderTest(layer: { _ in layer(stores.removeFirst()) })
            let alice = try await under.register("alice@example.com", pin: "1234")
            for _ in 0..<3 {
                faults.set([])
                under.surroundings.whenJudged { faults.set(["token"]) }
                do {
                    _ = try await alice.prove("9999", to: under.service)
                    XCTFail("answered")
                } catch is StoreError {}
            }
            XCTAssertEqual(under.surroundings.seen, [.wrong(left: 2), .wrong(left: 1), .blocked(until: nil)])
            XCTAssertEqual(under.surroundings.blocks, [nil])
            XCTAssertEqual(under.surroundings.lost, 0)
        }
    }

    func testAProofWithoutAChallengeDoesNotWaitForABusyIdentity() async throws {
        let (under, store) = try await far()
        let alice = try await under.register("alice@example.com", pin: "1234")
        let identities = try identities(under, store.memory)
        for _ in 0..<3 { _ = try await identities.reserve(alice.id, at: under.surroundings.now) }
        let before = store.changeCount
        let proof = AuthenticationService.Proof(id: alice.id, v: Self.point, wid: "0", wantsDigits: false)
        do {
            _ = try await under.service.judge(proof, ServiceUnderTest.logger)
            XCTFail("judged")
        } catch { XCTAssertEqual(error as? ServiceError, .noChallenge) }
        XCTAssertLessThan(store.changeCount - before, 20, "in three seconds there would be 30 at least")
    }

    /// The challenges do not answer, so nothing is judged, and the attempt that was reserved at the same time is given back
    /// when the request has no time left.
    func testARequestThatHasNoTimeLeftCostsNoAttempt() async throws {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        let lasting = try await StoreURL(url).lasting()
        var stores: [any Store] = [lasting, try await StoreURL(url).shortLived()]
        let under = try await ServiceUnderTest(layer: { _ in stores.removeFirst() })
        let alice = try await under.register("alice@example.com", pin: "1234")
        try server.run(
            """
            CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(600); RETURN NEW; END';
            CREATE TRIGGER sleep BEFORE UPDATE ON short_lived_item FOR EACH ROW EXECUTE FUNCTION sleep()
            """, in: url)
        do {
            _ = try await StorePatience.limit(to: .seconds(2)) { try await alice.prove("1234", to: under.service) }
            XCTFail("judged")
        } catch is StoreError {}
        let identities = try identities(under, lasting)
        let end = ContinuousClock.now + .seconds(60)
        var open: [Int64]?
        while open != [], ContinuousClock.now < end {
            open = try await identities.find(alice.id, at: under.surroundings.now)?.open
            try await Task.sleep(for: .milliseconds(20))
        }
        XCTAssertEqual(open, [])
    }

    private func identities(_ under: ServiceUnderTest, _ store: any Store) throws -> Identities {
        Identities(in: store, slots: Slots(bits: 4, key: try .random(count: 32)), policy: under.service.rules.attempts)
    }

    private func far() async throws -> (ServiceUnderTest, EventfulStore) {
        let store = EventfulStore()
        var stores: [any Store] = [store, MemoryStore()]
        let under = try await ServiceUnderTest(
            { $0.limits.busyMilliseconds = 3000 }, layer: { _ in FarStore(stores.removeFirst(), TripGate()) })
        return (under, store)
    }
}

/// A store that runs a closure before the next change of one item of a table.
private final class EventfulStore: Store {
    let memory = MemoryStore()
    private let changes = Mutex(0)
    private let event = Mutex<(table: String, run: @Sendable () async throws -> Void)?>(nil)

    func before(_ table: String, _ run: @escaping @Sendable () async throws -> Void) {
        event.withLock { $0 = (table, run) }
    }

    var changeCount: Int { changes.withLock { $0 } }

    var isNear: Bool { true }

    func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? { try await memory.read(key, at: now) }

    func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        changes.withLock { $0 += 1 }
        let tables = keys.map(\.table)
        let event = event.withLock { event -> (@Sendable () async throws -> Void)? in
            guard let found = event, tables == [found.table] else { return nil }
            event = nil
            return found.run
        }
        try await event?()
        return try await memory.transaction(keys, at: now, durability, change)
    }

    func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        try await memory.list(table, after: key, limit: limit, at: now)
    }

    func collect(at now: Moment, limit: Int) async throws -> Int { try await memory.collect(at: now, limit: limit) }
}
