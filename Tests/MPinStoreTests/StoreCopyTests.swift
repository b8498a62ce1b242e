import Foundation
import MPinStore
import StoreEngines
import Synchronization
import XCTest

/// Tests that a copy of a store is whole, can be interrupted, and is never used before it is whole.
final class StoreCopyTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private var folder = ""

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "mpind-copy-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    func testItemsAreTheSameAfterTheWayToPostgreSQLAndBack() async throws {
        let (file, database, back) = (place("a"), try newDatabase(), place("b"))
        let count = try await fill(file)
        for (source, target) in [(file, database), (database, back)] {
            let copied = try await copy(source, target)
            XCTAssertEqual(copied, count)
        }
        let (before, after) = (try await items(file), try await items(back))
        XCTAssertEqual(before, after)
        XCTAssertEqual(before.count, count)
    }

    /// Interrupts the copy after each page. It goes on behind the last page that was stored, and nobody can open the target
    /// before the end.
    func testACopyThatIsInterruptedGoesOn() async throws {
        for target in [place("b"), try newDatabase()] {
            let file = place("a\(target)")
            let count = try await fill(file)
            var (interruptions, copied) = (0, try await interruptedCopy(file, target))
            while copied == nil {
                interruptions += 1
                try await refuses("interrupted") { _ = try await target.lasting() }
                try await refuses("interrupted") { _ = try await self.copy(target, self.place("c")) }
                copied = try await interruptedCopy(file, target)
            }
            XCTAssertEqual(copied, count)
            XCTAssertGreaterThan(interruptions, 3)
            XCTAssertLessThanOrEqual(interruptions, count / 100 + 1, "each page is stored once")
            let (before, after) = (try await items(file), try await items(target))
            XCTAssertEqual(before, after)
            let again = try await copy(file, target)
            XCTAssertEqual(again, count, "a copy that was killed at its very end is complete")
        }
    }

    func testATargetThatIsNotEmptyIsRefusedAndNotChanged() async throws {
        let file = place("a")
        _ = try await fill(file)
        for target in [place("b"), try newDatabase()] {
            let item = StoredItem(value: [7])
            _ = try await target.lasting().create(ItemKey("a", "k"), item, at: now)
            try await refuses("not empty") { _ = try await self.copy(file, target) }
            let after = try await items(target)
            XCTAssertEqual(after, [Entry(ItemKey("a", "k"), item)])
        }
    }

    /// A server that was started between the two parts of a copy has changed what is copied already.
    func testASourceThatWasChangedMeanwhileIsNoticed() async throws {
        for target in [place("b"), try newDatabase()] {
            let file = place("a\(target)")
            _ = try await fill(file)
            let copied = try await interruptedCopy(file, target)
            XCTAssertNil(copied)
            let first = try await items(file)[0].key
            try await file.lasting().update(first, at: now, .durable) { $0?.value.append(1) }
            try await refuses("changed meanwhile") { for _ in 0..<10 { _ = try await self.copy(file, target) } }
            try await refuses("interrupted") { _ = try await target.lasting() }
        }
    }

    func testAStoreInUseIsRefused() async throws {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        // PostgreSQL tells this role little of what others do.
        try server.run("CREATE ROLE copier LOGIN; GRANT CREATE ON SCHEMA public TO copier", in: url)
        let copier = try StoreURL(url.replacing("user=mpin", with: "user=copier"))
        _ = try await copier.lasting()
        let file = place("a")
        for (used, same, other) in [(file, file, try newDatabase()), (try StoreURL(url), copier, place("b"))] {
            _ = try await fill(other)
            let server = try await used.lasting()
            _ = try await server.read(ItemKey("a", "k"), at: now)
            try await refuses("first") { _ = try await self.copy(same, other) }
            try await refuses("first") { _ = try await self.copy(other, same) }
            withExtendedLifetime(server) {}
        }
    }

    private func place(_ name: String) -> StoreURL {
        .sqlite(path: "\(folder)/\(name.filter { $0.isLetter || $0.isNumber }.prefix(80)).sqlite")
    }

    private func newDatabase() throws -> StoreURL { try StoreURL(PostgresServer.shared.get().newDatabase()) }

    /// Makes items with keys and values of many kinds, in several pages and tables. Returns the number of those that have
    /// not expired.
    private func fill(_ place: StoreURL) async throws -> Int {
        let store = try await place.lasting()
        let keys = ["", "\n", "a\nb", "é", "z\u{1F600}", "A", "'", "\\"]
        var count = 0
        for table in ["a", "aa", "identity", "z_9"] {
            for number in 0..<130 {
                let key = ItemKey(table, keys[number % keys.count] + String(number))
                let isExpired = number % 10 == 9
                let item = StoredItem(
                    value: (0..<number).map { UInt8(truncatingIfNeeded: $0 &* number) },
                    expires: number % 3 == 0 || isExpired ? now.adding(seconds: isExpired ? 0 : number + 1) : nil)
                try await store.update(key, at: now, .ordered) { $0 = item }
                count += isExpired ? 0 : 1
            }
        }
        return count
    }

    private func copy(_ source: StoreURL, _ target: StoreURL) async throws -> Int {
        try await StoreCopy(from: try await source.whole(), to: try await target.whole(), at: now).run()
    }

    /// Copies until the target's second change, as a process that is killed then. Nil if that has interrupted the copy.
    private func interruptedCopy(_ source: StoreURL, _ target: StoreURL) async throws -> Int? {
        let fragile = Fragile(try await target.whole())
        do { return try await StoreCopy(from: try await source.whole(), to: fragile, at: now).run() } catch Fragile
            .Broken.broken
        { return nil }
    }

    private struct Entry: Equatable {
        let key: ItemKey
        let item: StoredItem

        init(_ key: ItemKey, _ item: StoredItem) {
            self.key = key
            self.item = item
        }
    }

    private func items(_ place: StoreURL) async throws -> [Entry] {
        try await place.whole().items(after: nil, limit: 10_000, at: now).map(Entry.init)
    }

    private func refuses(_ reason: String, _ work: () async throws -> Void) async throws {
        do {
            try await work()
            XCTFail("not refused: \(reason)")
        } catch StoreError.unusable(let text) { XCTAssertTrue(text.contains(reason), text) }
    }
}

/// A store that breaks after its first change, as a process that is killed.
private final class Fragile: WholeStore {
    enum Broken: Error { case broken }

    private let store: any WholeStore
    private let changes = Mutex(0)

    init(_ store: any WholeStore) { self.store = store }

    var isNear: Bool { store.isNear }

    func perform<Change: NamedChange>(
        _ change: Change, at now: Moment, _ durability: Durability
    ) async throws -> Change.Outcome {
        let count = changes.withLock { count in
            count += 1
            return count
        }
        guard count == 1 else { throw Broken.broken }
        return try await store.perform(change, at: now, durability)
    }

    func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? { try await store.read(key, at: now) }

    func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        try await store.transaction(keys, at: now, durability, change)
    }

    func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        try await store.list(table, after: key, limit: limit, at: now)
    }

    func items(after key: ItemKey?, limit: Int, at now: Moment) async throws -> [(key: ItemKey, item: StoredItem)] {
        try await store.items(after: key, limit: limit, at: now)
    }

    func requireAlone() async throws { try await store.requireAlone() }

    func collect(at now: Moment, limit: Int) async throws -> Int { try await store.collect(at: now, limit: limit) }
}
