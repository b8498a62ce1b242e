import MPinService
import MPinStore
import Synchronization
import XCTest

/// Tests changes of identities whose answers are lost. They run again, and a block that began the first time is reported.
final class LostAnswerTests: XCTestCase {
    func testABlockWhoseAnswerGotLostIsToldOnce() async throws {
        for block in [AttemptPolicy.Block.permanent, .temporary(seconds: 60)] {
            let (under, store) = try await lossy(block)
            let alice = try await under.register("alice@example.com", pin: "1234")
            store.lose(true)
            for pin in ["9999", "9998", "9997", "9996", "1234"] { _ = try await alice.prove(pin, to: under.service) }
            store.lose(false)
            XCTAssertEqual(under.surroundings.blocks.count, 1)
            XCTAssertEqual(under.surroundings.blocks.first?.map { _ in true }, block == .permanent ? nil : true)
            XCTAssertEqual(under.surroundings.seen.filter(\.isWrong).count, 2)
        }
    }

    /// Tests a block that begins when an attempt is reserved, because earlier reserved attempts count as wrong: their
    /// process ended before it judged them.
    func testABlockThatAReservationBeginsIsToldOnce() async throws {
        let (under, store) = try await lossy(.permanent)
        let alice = try await under.register("alice@example.com", pin: "1234")
        let identities = Identities(
            in: store, slots: Slots(bits: 4, key: try .random(count: 32)), policy: under.service.rules.attempts)
        for _ in 0..<3 { _ = try await identities.reserve(alice.id, at: under.surroundings.now) }
        under.surroundings.advance(seconds: 3600)
        store.lose(true)
        for _ in 0..<2 { _ = try await alice.prove("1234", to: under.service) }
        XCTAssertEqual(under.surroundings.blocks, [nil])
    }

    private func lossy(_ block: AttemptPolicy.Block) async throws -> (ServiceUnderTest, LossyStore) {
        let store = LossyStore()
        var stores: [any Store] = [store, MemoryStore()]
        let under = try await ServiceUnderTest({ $0.attempts.block = block }, layer: { _ in stores.removeFirst() })
        return (under, store)
    }
}

/// A store that makes every change but loses the answer to every second change of an identity.
private final class LossyStore: Store {
    private let store = MemoryStore()
    /// The number of changes of identities so far; nil if no answers are lost.
    private let count = Mutex<Int?>(nil)

    func lose(_ loses: Bool) { count.withLock { $0 = loses ? 0 : nil } }

    var isNear: Bool { true }

    func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? { try await store.read(key, at: now) }

    func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        let result = try await store.transaction(keys, at: now, durability, change)
        let isLost = count.withLock { count in
            guard keys.contains(where: { $0.table == "identity" }), let number = count else { return false }
            count = number + 1
            return number % 2 == 0
        }
        guard !isLost else { throw StoreError.unknownOutcome("the answer was lost") }
        return result
    }

    func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        try await store.list(table, after: key, limit: limit, at: now)
    }

    func collect(at now: Moment, limit: Int) async throws -> Int { try await store.collect(at: now, limit: limit) }
}
