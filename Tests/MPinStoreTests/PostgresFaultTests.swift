import MPinStore
import StoreEngines
import XCTest

/// Tests a store in PostgreSQL whose disk is full, or whose answers get lost.
final class PostgresFaultTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)

    /// No file of the database can become longer (SQLSTATE 53100). There is some room left in the pages that are there.
    func testAFullDiskIsUnavailableAndLosesNothing() async throws {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        let store = try await PostgresStore.opened(url)
        // Longer than the files of the log, which are written to their end all the same.
        try server.run(
            """
            INSERT INTO lasting_item SELECT 'filler', n::text, convert_to(repeat('x', 1900), 'UTF8'), NULL
            FROM generate_series(1, 5000) AS n
            """, in: url)
        let size = try XCTUnwrap(Int(server.run("SELECT pg_relation_size('lasting_item')", in: url)))
        XCTAssertGreaterThan(size, 1 << 24)
        let item = StoredItem(value: Array(repeating: 1, count: 1900))
        var kept = 0
        do {
            try server.limitFiles(to: size + 4096)
            defer { XCTAssertNoThrow(try server.limitFiles(to: nil)) }
            while try await isWritten(ItemKey("a", "\(kept)"), item, in: store) {
                kept += 1
                guard kept < 1000 else { return XCTFail("the disk is not full") }
            }
            try await concurrently(20) { [now] number in
                let change = AddOnce(key: ItemKey("b", "\(number)"), id: 1, rest: item.value, isBlind: number % 2 == 0)
                do {
                    _ = try await store.perform(change, at: now, .durable)
                    XCTFail("written")
                } catch StoreError.unavailable(let reason) { XCTAssertTrue(reason.contains("53100"), reason) }
            }
        }
        for (table, count) in [("a", kept), ("b", 0)] {
            let items = try await store.list(table, after: nil, limit: 1000, at: now)
            XCTAssertEqual(items.count, count)
        }
        let isWritten = try await isWritten(ItemKey("a", "\(kept)"), item, in: store)
        XCTAssertTrue(isWritten, "there is room again")
    }

    private func isWritten(_ key: ItemKey, _ item: StoredItem, in store: PostgresStore) async throws -> Bool {
        do { return try await store.create(key, item, at: now) } catch StoreError.unavailable(let reason) {
            XCTAssertTrue(reason.contains("53100"), reason)
            return false
        }
    }

    /// The database has committed the change and says so, but the connection ends before. A change without an id must not be
    /// made again; one that recognises its own is made once. If the second answer is lost, too, the outcome is unknown.
    func testTheAnswerToACommitIsLost() async throws {
        let server = try PostgresServer.shared.get()
        let proxy = try PostgresProxy(to: server)
        let store = try await PostgresStore.opened(proxy.url(of: try server.newDatabase()))
        for isBlind in [false, true] {
            let key = ItemKey("a", "\(isBlind)")
            proxy.lose { $0 == 1 }
            try await assertUnknown {
                if isBlind {
                    _ = try await store.perform(AddOnce(key: key, id: 1, isBlind: true), at: self.now, .durable)
                } else {
                    try await store.update(key, at: self.now, .durable) { $0 = StoredItem(value: [1]) }
                }
            }
            XCTAssertEqual(proxy.lost, 1)
            try await assertEqual(store, key, [1])
            proxy.lose { $0 == 1 }
            _ = try await store.performOnce(AddOnce(key: key, id: 2, isBlind: isBlind), at: now, .durable)
            XCTAssertEqual(proxy.lost, 1)
            try await assertEqual(store, key, [1, 2])
            proxy.lose { _ in true }
            let change = AddOnce(key: key, id: 3, isBlind: isBlind)
            try await assertUnknown { _ = try await store.performOnce(change, at: self.now, .durable) }
            XCTAssertEqual(proxy.lost, 2)
            proxy.lose { _ in false }
            try await assertEqual(store, key, [1, 2, 3])
        }
    }

    /// Somebody between, or a broken server, changes bytes of the answers. Each call then has its result, or is unavailable;
    /// a record that has become unreadable is unavailable, too.
    func testNoiseIsUnavailable() async throws {
        let server = try PostgresServer.shared.get()
        let database = try server.newDatabase()
        let proxy = try PostgresProxy(to: server)
        let store = try await PostgresStore.opened(proxy.url(of: database), patience: .milliseconds(500))
        let table = Table<String>("a", in: store)
        try await table.update("k", at: now) { $0 = .init("a value") }
        // The record has no quotation mark in front, in either notation of bytes.
        proxy.disturb { bytes in
            for (text, mark) in [("\"a value\"", "r"), ("22612076616c756522", "7")] {
                guard let range = bytes.firstRange(of: Array(text.utf8)), let mark = mark.utf8.first else { continue }
                bytes[range.lowerBound] = mark
            }
        }
        do {
            _ = try await table.read("k", at: now)
            XCTFail("read")
        } catch StoreError.unavailable(let reason) { XCTAssertTrue(reason.contains("cannot be read"), reason) }
        proxy.disturb { _ in }
        for number in 0..<60 {
            proxy.disturb { bytes in
                let place = bytes.index(bytes.startIndex, offsetBy: number % bytes.count)
                bytes[place] = bytes[place] &+ [1, 32, 128, 255][number % 4]
            }
            do {
                switch number % 3 {
                case 0: _ = try await table.read("k", at: now)
                case 1: _ = try await table.list(after: nil, limit: 5, at: now)
                default: try await table.update("k", at: now) { $0 = .init("value \(number)") }
                }
            } catch StoreError.unavailable, StoreError.unknownOutcome, StoreError.conflict {
            } catch { XCTFail("\(number): \(error)") }
            proxy.disturb { _ in }
        }
        try await until { (try? await table.update("k", at: self.now) { $0 = .init("the last") }) != nil }
        let last = try await table.read("k", at: now)
        XCTAssertEqual(last, "the last")
    }

    /// One of many that take an item gets it, or none does if the answer was lost. A read is simply made again.
    func testTheAnswerToATakeOrAReadIsLost() async throws {
        let server = try PostgresServer.shared.get()
        let proxy = try PostgresProxy(to: server)
        let store = try await PostgresStore.opened(proxy.url(of: try server.newDatabase()))
        let key = ItemKey("a", "k")
        _ = try await store.create(key, StoredItem(value: [1]), at: now)
        proxy.lose { $0 == 1 }
        try await assertEqual(store, key, [1])
        XCTAssertEqual(proxy.lost, 1)
        proxy.lose { $0 == 1 }
        try await assertUnknown { _ = try await store.take(key, at: self.now) }
        try await assertEqual(store, key, nil)
    }

    private func assertUnknown(_ change: () async throws -> Void, line: UInt = #line) async throws {
        do {
            try await change()
            XCTFail("known", line: line)
        } catch StoreError.unknownOutcome {}
    }

    private func assertEqual(_ store: PostgresStore, _ key: ItemKey, _ value: [UInt8]?, line: UInt = #line) async throws
    {
        let item = try await store.read(key, at: now)
        XCTAssertEqual(item?.value, value, line: line)
    }
}

/// Adds an id to a value, if it is not in it. Its blind form is for an empty value.
private struct AddOnce: NamedChange {
    static let name = "add-once"

    let key: ItemKey
    let id: UInt8
    var rest: [UInt8] = []
    let isBlind: Bool

    var keys: [ItemKey] { [key] }

    func run(_ items: inout Items) {
        let value = items[key]?.value ?? []
        if !value.contains(id) { items[key] = StoredItem(value: value + [id] + rest) }
    }

    /// Adds to the ids before this one.
    func blindForm() -> BlindForm<Void>? {
        guard isBlind else { return nil }
        let before = Array(1..<id)
        let write: BlindWrite =
            before.isEmpty
            ? .append(key, rest, otherwise: StoredItem(value: [id] + rest))
            : .replace(key, old: before, new: before + [id] + rest)
        return BlindForm([write]) { $0.first.flatMap(\.self).map { _ in } }
    }
}
