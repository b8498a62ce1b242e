import MPinStore
import StoreEngines
import XCTest

/// Tests that engines which make blind writes in their own way do what ``BlindWrite/make(in:)`` says, in one trip.
final class BlindWriteTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)

    private func engines() async throws -> [(any Store, Durability, trips: () -> Int)] {
        let server = try PostgresServer.shared.get()
        var engines: [(any Store, Durability, trips: () -> Int)] = []
        for (kind, durability) in [
            (PostgresStore.Kind.lasting, Durability.ordered), (.lasting, .durable), (.shortLived, .volatile),
        ] {
            let store = try await PostgresStore.opened(server.newDatabase(), kind)
            engines.append((store, durability, { store.trips }))
        }
        let redis = try await RedisStore.opened(RedisServer.shared.get().newURL())
        engines.append((redis, .volatile, { redis.trips }))
        return engines
    }

    /// Makes blind writes at random, and compares each result and the items afterwards with those of `BlindWrite.make`.
    func testBlindWritesAreTheirClosuresInOneTrip() async throws {
        struct Writes: NamedChange {
            static let name = "writes"
            let writes: [BlindWrite]
            var keys: [ItemKey] { [] }

            func run(_ items: inout Items) throws -> [BlindWrite.Result?] { throw StoreError.conflict }
            func blindForm() -> BlindForm<[BlindWrite.Result?]>? { BlindForm(writes) { $0 } }
        }
        for (store, durability, trips) in try await engines() {
            let model = BlindStore(MemoryStore())
            for step in 0..<400 {
                let now = now.adding(seconds: step / 4)
                let change = Writes(writes: [write(at: now), write(at: now)])
                let before = trips()
                let found = try await store.perform(change, at: now, durability)
                if step > 0 { XCTAssertEqual(trips() - before, 1) }
                let expected = try await model.perform(change, at: now, durability)
                XCTAssertEqual(found, expected, "\(change.writes)")
                let (items, others) = (
                    try await store.list("a", after: nil, limit: 9, at: now),
                    try await model.list("a", after: nil, limit: 9, at: now)
                )
                XCTAssertEqual(items.map(\.key), others.map(\.key))
                XCTAssertEqual(items.map(\.item), others.map(\.item))
                let keys = items.map { ItemKey("a", $0.key) }
                if step % 20 == 0 {
                    for key in keys {
                        for each in [store, model] as [any Store] {
                            _ = try await each.take(key, at: now)
                        }
                    }
                }
            }
        }
    }

    /// A random write on one of a few items. Some of them expire soon; those of ``BlindWrite/appendOrFill`` do not.
    private func write(at now: Moment) -> BlindWrite {
        func bytes() -> [UInt8] { (0..<Int.random(in: 1...2)).map { _ in .random(in: 0...1) } }
        func item() -> StoredItem {
            StoredItem(value: bytes(), expires: Bool.random() ? nil : now.adding(seconds: .random(in: 1...3)))
        }
        let key = ItemKey("a", ["1", "2"].randomElement() ?? "")
        let lasting = ["3", "4"].map { ItemKey("a", $0) }.shuffled()
        return switch Int.random(in: 0...6) {
        case 0: .put(key, item())
        case 1: .append(key, bytes(), otherwise: nil)
        case 2: .append(key, bytes(), otherwise: item())
        case 3: .appendOrFill(lasting[0], bytes(), slot: lasting[1], beginning: bytes(), first: bytes())
        case 4: .replace([key, lasting[0]].randomElement() ?? key, old: bytes(), new: bytes())
        case 5: .take([key, lasting[0]].randomElement() ?? key, beginning: bytes())
        default: .look(key)
        }
    }
}
