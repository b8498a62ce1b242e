import Foundation
import MPinStore
import XCTest

/// The laws of every store, held against each of them: memory and a real file.
final class StoreTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private var path = ""

    override func setUp() { path = NSTemporaryDirectory() + "mpind-store-" + UUID().uuidString + ".sqlite" }

    override func tearDown() {
        for suffix in ["", "-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    private func each(_ law: (any Store) async throws -> Void) async throws {
        for store in [MemoryStore(), try SQLiteStore(path: path)] as [any Store] {
            print("on \(type(of: store))")
            try await law(store)
        }
    }

    func testWhatIsCreatedIsReadAndNotCreatedAgain() async throws {
        try await each { store in
            let nothing = try await store.read("a", "k", at: now)
            XCTAssertNil(nothing)
            let first = try await store.create("a", "k", item("1"), at: now)
            let second = try await store.create("a", "k", item("2"), at: now)
            let elsewhere = try await store.create("b", "k", item("3"), at: now)
            XCTAssertEqual([first, second, elsewhere], [true, false, true])
            let (a, b) = (try await store.read("a", "k", at: now), try await store.read("b", "k", at: now))
            XCTAssertEqual([a, b], [item("1"), item("3")])
        }
    }

    func testAnUpdateChangesCreatesAndDeletesAndGivesWhatItFound() async throws {
        try await each { store in
            for (new, old) in [(item("1"), nil), (item("2"), item("1")), (nil, item("2")), (nil, nil)] {
                let found = try await store.update("a", "k", at: now, durable: new == nil) { item in
                    defer { item = new }
                    return item
                }
                XCTAssertEqual(found, old)
                let read = try await store.read("a", "k", at: now)
                XCTAssertEqual(read, new)
            }
        }
    }

    func testAnUpdateThatThrowsChangesNothing() async throws {
        struct Refusal: Error {}
        try await each { store in
            _ = try await store.create("a", "k", item("1"), at: now)
            do {
                try await store.update("a", "k", at: now, durable: false) { item in
                    item = nil
                    throw Refusal()
                }
                XCTFail("the error was lost")
            } catch is Refusal {}
            let read = try await store.read("a", "k", at: now)
            XCTAssertEqual(read, item("1"))
        }
    }

    func testAnExpiredItemIsNone() async throws {
        try await each { store in
            let end = now.adding(seconds: 10)
            _ = try await store.create("a", "k", item("1", until: end), at: now)
            let before = try await store.read("a", "k", at: Moment(microseconds: end.microseconds - 1))
            XCTAssertEqual(before, item("1", until: end))
            let after = try await store.read("a", "k", at: end)
            let taken = try await store.take("a", "k", at: end)
            let listed = try await store.list("a", after: nil, limit: 10, at: end)
            let updated = try await store.update("a", "k", at: end, durable: false) { $0 }
            XCTAssertNil(after)
            XCTAssertNil(taken)
            XCTAssertNil(updated)
            XCTAssertEqual(listed.count, 0)
            let created = try await store.create("a", "k", item("2"), at: end)
            XCTAssertTrue(created)
            let read = try await store.read("a", "k", at: end)
            XCTAssertEqual(read, item("2"))
        }
    }

    func testAHundredWritersAtOnceLoseNoUpdate() async throws {
        try await each { [now] store in
            try await concurrently(100) { writer in
                for _ in 0..<10 {
                    try await store.update("a", "counter", at: now, durable: writer % 10 == 0) { item in
                        let count = item.flatMap { Int(String(decoding: $0.value, as: UTF8.self)) } ?? 0
                        item = StoredItem(value: Array(String(count + 1).utf8))
                    }
                }
            }
            let counter = try await store.read("a", "counter", at: now)
            XCTAssertEqual(counter, item("1000"))
        }
    }

    func testOfAHundredCreatorsAndTakersAtOnceOneWins() async throws {
        try await each { [now] store in
            let created = try await concurrently(100) { index in
                try await store.create("a", "k", StoredItem(value: [UInt8(index)]), at: now)
            }
            XCTAssertEqual(created.filter(\.self).count, 1)
            let taken = try await concurrently(100) { _ in try await store.take("a", "k", at: now) }
            XCTAssertEqual(taken.compactMap(\.self).count, 1)
        }
    }

    func testAListComesInPagesInTheOrderOfTheBytes() async throws {
        try await each { store in
            let keys = ["", "0", "A", "a", "aa", "b", "é", "😀"]
            for key in keys.reversed() { _ = try await store.create("a", key, item(key), at: now) }
            _ = try await store.create("b", "c", item("other"), at: now)
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
            for (key, seconds) in [("a", 10), ("b", 20), ("c", 20)] {
                _ = try await store.create("a", key, item(key, until: now.adding(seconds: seconds)), at: now)
            }
            _ = try await store.create("b", "for ever", item("1"), at: now)
            var counts: [Int] = []
            for seconds in [0, 10, 15, 20, 20] {
                counts.append(try await store.collect(at: now.adding(seconds: seconds)))
            }
            XCTAssertEqual(counts, [0, 1, 0, 2, 0])
            let kept = try await store.read("b", "for ever", at: now)
            XCTAssertEqual(kept, item("1"))
        }
    }

    func testATableKeepsValuesAndTheirEnds() async throws {
        struct Note: Codable, Equatable { var text: String }
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

    func testASettingIsMadeOnceHoweverManyAsk() async throws {
        try await each { store in
            let values = try await concurrently(50) { index in try await store.setting("a") { "value \(index)" } }
            XCTAssertEqual(Set(values).count, 1)
        }
    }

    func testAFileKeepsWhatWasInItWhenItIsOpenedAgain() async throws {
        let first = try SQLiteStore(path: path)
        let setting = try await first.setting("a") { "1" }
        _ = try await first.create("a", "k", item("1", until: now.adding(seconds: 10)), at: now)
        let second = try SQLiteStore(path: path)
        let kept = try await second.setting("a") { "2" }
        XCTAssertEqual(kept, setting)
        let read = try await second.read("a", "k", at: now)
        XCTAssertEqual(read, item("1", until: now.adding(seconds: 10)))
        // Both at once: neither loses what the other has written.
        try await first.update("a", "k", at: now, durable: false) { $0?.value.append(UInt8(ascii: "2")) }
        try await second.update("a", "k", at: now, durable: false) { $0?.value.append(UInt8(ascii: "3")) }
        let both = try await first.read("a", "k", at: now)
        XCTAssertEqual(both?.value, Array("123".utf8))
    }

    func testTwoOpenersOfOneFileLoseNoUpdate() async throws {
        let stores = [try SQLiteStore(path: path), try SQLiteStore(path: path)]
        try await concurrently(40) { [now] writer in
            try await stores[writer % 2].update("a", "k", at: now, durable: false) { item in
                item = StoredItem(value: (item?.value ?? []) + [1])
            }
        }
        let read = try await stores[0].read("a", "k", at: now)
        XCTAssertEqual(read?.value.count, 40)
    }

    private func item(_ text: String, until end: Moment? = nil) -> StoredItem {
        StoredItem(value: Array(text.utf8), expires: end)
    }
}

/// The results of `work` for 0..<count, run as that many tasks at once.
@discardableResult
func concurrently<T: Sendable>(
    _ count: Int, _ work: @escaping @Sendable (Int) async throws -> T
) async throws -> [T] {
    try await withThrowingTaskGroup(of: T.self) { group in
        for index in 0..<count { group.addTask { try await work(index) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
