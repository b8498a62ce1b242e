import Foundation
import MPinStore
import StoreEngines
import XCTest

/// Tests the contract of ``Store`` with every engine: memory, a real file, real PostgreSQL and Redis servers, and all of
/// them with every closure run twice; also PostgreSQL through a pooler.
final class ConformanceTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private let k = ItemKey("a", "k")
    private var path = ""

    override func setUp() { path = NSTemporaryDirectory() + "mpind-store-" + UUID().uuidString + ".sqlite" }

    override func tearDown() { removeFile() }

    private static let pooled = "PostgreSQL through pgbouncer"

    private static func database() throws -> StoreURL { try StoreURL(PostgresServer.shared.get().newDatabase()) }

    private static func pooledDatabase() throws -> StoreURL {
        let server = try PostgresServer.shared.get()
        return try StoreURL(server.throughPooler(server.newDatabase()) + "&prepared=off")
    }

    private func removeFile() {
        for suffix in ["", "-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    private func each(_ law: (any Store) async throws -> Void) async throws {
        let engines: [(String, () async throws -> any Store)] = [
            ("memory", { MemoryStore() }), ("file", { try SQLiteStore(path: self.path) }),
            ("PostgreSQL", { try await Self.database().lasting() }),
            ("PostgreSQL, short-lived", { try await Self.database().shortLived(names: ServiceNames("a1")) }),
            (Self.pooled, { try await Self.pooledDatabase().lasting() }),
            ("Redis", { try await StoreURL(RedisServer.shared.get().newURL()).shortLived(names: ServiceNames("a1")) }),
        ]
        for (name, open) in engines {
            // It is the same engine.
            for isTwice in name == Self.pooled ? [false] : [false, true] {
                removeFile()
                print("on \(name)\(isTwice ? ", twice" : "")")
                let store = try await open()
                try await law(isTwice ? RepeatingStore(store) : store)
            }
        }
    }

    func testWhatIsCreatedIsReadAndNotCreatedAgain() async throws {
        try await each { store in
            let nothing = try await store.read(k, at: now)
            XCTAssertNil(nothing)
            let first = try await store.create(k, item("1"), at: now)
            let second = try await store.create(k, item("2"), at: now)
            let elsewhere = try await store.create(ItemKey("b", "k"), item("3"), at: now)
            XCTAssertEqual([first, second, elsewhere], [true, false, true])
            let (a, b) = (try await store.read(k, at: now), try await store.read(ItemKey("b", "k"), at: now))
            XCTAssertEqual([a, b], [item("1"), item("3")])
        }
    }

    func testAnUpdateChangesCreatesAndDeletesAndGivesWhatItFound() async throws {
        try await each { store in
            let rounds: [(StoredItem?, StoredItem?, Durability)] = [
                (item("1"), nil, .volatile), (item("2"), item("1"), .ordered), (item("2"), item("2"), .durable),
                (nil, item("2"), .durable), (nil, nil, .ordered),
            ]
            for (new, old, durability) in rounds {
                let found = try await store.update(k, at: now, durability) { item in
                    defer { item = new }
                    return item
                }
                XCTAssertEqual(found, old)
                let read = try await store.read(k, at: now)
                XCTAssertEqual(read, new)
            }
        }
    }

    func testATransactionChangesAllItsItemsOrNone() async throws {
        struct Refusal: Error {}
        let keys = [ItemKey("b", "2"), k, ItemKey("a", "0")]
        try await each { [now] store in
            _ = try await store.create(keys[1], item("1"), at: now)
            let count = try await store.transaction(keys, at: now, .ordered) { items in
                let count = keys.compactMap { items[$0] }.count
                for key in keys { items[key] = StoredItem(value: Array(key.key.utf8)) }
                return count
            }
            XCTAssertEqual(count, 1)
            do {
                try await store.transaction(keys, at: now, .ordered) { items in
                    items[keys[0]] = nil
                    items[keys[1]] = nil
                    throw Refusal()
                }
                XCTFail("the error was lost")
            } catch is Refusal {}
            for key in keys {
                let read = try await store.read(key, at: now)
                XCTAssertEqual(read, item(key.key))
            }
        }
    }

    func testAKeyThatWasNotNamedIsAnError() async throws {
        let other = ItemKey("a", "other")
        try await each { [now, k] store in
            for isWrite in [false, true] {
                do {
                    try await store.transaction([k], at: now, .ordered) { items in
                        items[k] = StoredItem(value: [1])
                        if isWrite { items[other] = StoredItem(value: [1]) } else { _ = items[other] }
                    }
                    XCTFail("not refused")
                } catch StoreError.unusable {}
                let read = try await store.read(k, at: now)
                XCTAssertNil(read)
            }
        }
    }

    func testAnUpdateThatThrowsChangesNothing() async throws {
        struct Refusal: Error {}
        try await each { store in
            _ = try await store.create(k, item("1"), at: now)
            do {
                try await store.update(k, at: now, .ordered) { item in
                    item = nil
                    throw Refusal()
                }
                XCTFail("the error was lost")
            } catch is Refusal {}
            let read = try await store.read(k, at: now)
            XCTAssertEqual(read, item("1"))
        }
    }

    func testAnExpiredItemDoesNotExist() async throws {
        try await each { store in
            let end = now.adding(seconds: 10)
            _ = try await store.create(k, item("1", until: end), at: now)
            let before = try await store.read(k, at: Moment(microseconds: end.microseconds - 1))
            XCTAssertEqual(before, item("1", until: end))
            let after = try await store.read(k, at: end)
            let taken = try await store.take(k, at: end)
            let listed = try await store.list("a", after: nil, limit: 10, at: end)
            let updated = try await store.update(k, at: end, .ordered) { $0 }
            XCTAssertNil(after)
            XCTAssertNil(taken)
            XCTAssertNil(updated)
            XCTAssertEqual(listed.count, 0)
            let created = try await store.create(k, item("2"), at: end)
            XCTAssertTrue(created)
            let read = try await store.read(k, at: end)
            XCTAssertEqual(read, item("2"))
        }
    }

    /// Each writer counts its successful changes. The store must contain as many, so that none is lost.
    func testAHundredWritersAtOnceCountWhatSucceeds() async throws {
        try await each { [now] store in
            let key = ItemKey("a", "counter")
            let successes = try await concurrently(100) { writer in
                var count = 0
                for _ in 0..<10 {
                    let isRefused = try await store.update(key, at: now, writer % 10 == 0 ? .durable : .ordered) {
                        let count = $0.flatMap { Int(String(decoding: $0.value, as: UTF8.self)) } ?? 0
                        guard count % 7 != writer % 7 else { return true }
                        $0 = StoredItem(value: Array(String(count + 1).utf8))
                        return false
                    }
                    count += isRefused ? 0 : 1
                }
                return count
            }
            let counter = try await store.read(key, at: now)
            XCTAssertEqual(counter, item(String(successes.reduce(0, +))))
        }
    }

    /// Transactions that name the same keys in different orders must not block each other for ever. None may see only a
    /// part of another one's changes.
    func testTransactionsOnTheSameKeysInEveryOrderKeepTheirSum() async throws {
        let keys = ["1", "2", "3"].map { ItemKey("account", $0) }
        try await each { [now] store in
            for key in keys { _ = try await store.create(key, StoredItem(value: [100]), at: now) }
            try await concurrently(60) { index in
                let (from, to) = (keys[index % 3], keys[(index / 3 + 1 + index) % 3])
                try await store.transaction([from, to, keys[(index + 2) % 3]], at: now, .ordered) { items in
                    guard from != to, let rich = items[from]?.value.first, let poor = items[to]?.value.first, rich > 0
                    else { return }
                    items[from] = StoredItem(value: [rich - 1])
                    items[to] = StoredItem(value: [poor + 1])
                }
            }
            var sum = 0
            for key in keys {
                let item = try await store.read(key, at: now)
                sum += Int(item?.value.first ?? 0)
            }
            XCTAssertEqual(sum, 300)
        }
    }

    func testOfAHundredCreatorsOneWins() async throws {
        try await each { [now, k] store in
            let created = try await concurrently(100) { index in
                try await store.create(k, StoredItem(value: [UInt8(index)]), at: now)
            }
            XCTAssertEqual(created.filter(\.self).count, 1)
        }
    }

    func testOfAThousandTakersOneWins() async throws {
        try await each { [now, k] store in
            _ = try await store.create(k, item("1"), at: now)
            let taken = try await concurrently(1000) { _ in try await store.take(k, at: now) }
            XCTAssertEqual(taken.compactMap(\.self), [item("1")])
        }
    }

    func testAListComesInPagesInTheOrderOfTheBytes() async throws {
        try await each { store in
            let keys = ["", "0", "A", "a", "aa", "b", "é", "😀"]
            for key in keys.reversed() { _ = try await store.create(ItemKey("a", key), item(key), at: now) }
            _ = try await store.create(ItemKey("b", "c"), item("other"), at: now)
            var (seen, last): ([String], String?) = ([], nil)
            while true {
                let page = try await store.list("a", after: last, limit: 3, at: now)
                XCTAssertEqual(page.map(\.item), page.map { item($0.key) })
                guard let end = page.last else { break }
                seen += page.map(\.key)
                last = end.key
            }
            XCTAssertEqual(seen, keys)
        }
    }

    func testCollectingDeletesWhatHasExpiredAndNothingElse() async throws {
        try await each { store in
            for (key, seconds) in [("a", 10), ("b", 20), ("c", 20), ("d", 20), ("e", 20)] {
                let item = item(key, until: now.adding(seconds: seconds))
                _ = try await store.create(ItemKey("a", key), item, at: now)
            }
            _ = try await store.create(ItemKey("b", "for ever"), item("1"), at: now)
            // Lets one item expire later than before, and removes one.
            try await store.update(ItemKey("a", "d"), at: now, .ordered) { [now] in
                $0?.expires = now.adding(seconds: 30)
            }
            _ = try await store.take(ItemKey("a", "e"), at: now)
            var counts: [Int] = []
            for seconds in [0, 10, 15, 20, 20, 30] {
                counts.append(try await store.collectAll(at: now.adding(seconds: seconds)))
            }
            XCTAssertEqual(counts, [0, 1, 0, 2, 0, 1])
            let kept = try await store.read(ItemKey("b", "for ever"), at: now)
            XCTAssertEqual(kept, item("1"))
        }
    }

    func testCollectingDeletesNoMoreAtOnceThanItIsAllowed() async throws {
        try await each { store in
            for number in 0..<10 {
                let item = item("1", until: now.adding(seconds: number % 3))
                _ = try await store.create(ItemKey("a", String(number)), item, at: now)
            }
            var counts: [Int] = []
            for _ in 0..<4 { counts.append(try await store.collect(at: now.adding(seconds: 5), limit: 4)) }
            XCTAssertEqual(counts, [4, 4, 2, 0])
        }
    }

    func testATableKeepsValuesAndTheirEnds() async throws {
        struct Note: Codable, Storable, Equatable { var text: String }
        try await each { store in
            let notes = Table<Note>("note", in: store)
            let end = now.adding(seconds: 10)
            _ = try await notes.create("k", Note(text: "a"), expires: end, at: now)
            try await notes.update("k", at: now) { $0?.value.text += "b" }
            let changed = try await notes.read("k", at: now)
            XCTAssertEqual(changed, Note(text: "ab"))
            let late = try await notes.contains("k", at: end)
            XCTAssertFalse(late, "a change does not draw out the end")
            let listed = try await notes.list(limit: 10, at: now)
            XCTAssertEqual(listed.map(\.key), ["k"])
            let taken = try await notes.take("k", at: now)
            XCTAssertEqual(taken, Note(text: "ab"))
            let gone = try await notes.contains("k", at: now)
            XCTAssertFalse(gone)
        }
    }

    func testANamedChangeIsATransactionOnItsKeys() async throws {
        struct Swap: NamedChange {
            static let name = "swap"
            let keys: [ItemKey]

            func run(_ items: inout Items) throws -> Int {
                let found = keys.map { items[$0] }
                for (key, item) in zip(keys, found.reversed()) { items[key] = item }
                return found.compactMap(\.self).count
            }
        }
        let other = ItemKey("b", "k")
        try await each { store in
            _ = try await store.create(k, item("1"), at: now)
            let count = try await store.perform(Swap(keys: [k, other]), at: now, .ordered)
            let (first, second) = (try await store.read(k, at: now), try await store.read(other, at: now))
            XCTAssertEqual(count, 1)
            XCTAssertNil(first)
            XCTAssertEqual(second, item("1"))
        }
    }

    func testASettingIsMadeOnceHoweverManyAsk() async throws {
        try await each { store in
            let values = try await concurrently(50) { index in try await store.setting("a") { "value \(index)" } }
            XCTAssertEqual(Set(values).count, 1)
        }
    }

    func testTheCheckSucceedsIfTheStoreCanWrite() async throws {
        try await each { store in try await store.check(at: now) }
    }

    private func item(_ text: String, until end: Moment? = nil) -> StoredItem {
        StoredItem(value: Array(text.utf8), expires: end)
    }
}
