import Foundation
import MPinStore
import StoreEngines
import XCTest

/// Tests properties that only a store in a file has.
final class SQLiteStoreTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private let k = ItemKey("a", "k")
    private var path = ""

    override func setUp() { path = NSTemporaryDirectory() + "mpind-store-" + UUID().uuidString + ".sqlite" }

    override func tearDown() {
        for suffix in ["", "-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    func testAFileKeepsWhatWasInItWhenItIsOpenedAgain() async throws {
        let first = try SQLiteStore(path: path)
        let setting = try await first.setting("a") { "1" }
        _ = try await first.create(k, item("1", until: now.adding(seconds: 10)), at: now)
        let second = try SQLiteStore(path: path)
        let kept = try await second.setting("a") { "2" }
        XCTAssertEqual(kept, setting)
        let read = try await second.read(k, at: now)
        XCTAssertEqual(read, item("1", until: now.adding(seconds: 10)))
        // Both stores change the same item. Both changes must stay.
        try await first.update(k, at: now, .ordered) { $0?.value.append(UInt8(ascii: "2")) }
        try await second.update(k, at: now, .ordered) { $0?.value.append(UInt8(ascii: "3")) }
        let both = try await first.read(k, at: now)
        XCTAssertEqual(both?.value, Array("123".utf8))
    }

    func testTwoOpenersOfOneFileLoseNoUpdate() async throws {
        let stores = [try SQLiteStore(path: path), try SQLiteStore(path: path)]
        try await concurrently(40) { [now, k] writer in
            try await stores[writer % 2].update(k, at: now, .ordered) { item in
                item = StoredItem(value: (item?.value ?? []) + [1])
            }
        }
        let read = try await stores[0].read(k, at: now)
        XCTAssertEqual(read?.value.count, 40)
    }

    func testTheCheckFailsIfTheFileIsGone() async throws {
        let store = try SQLiteStore(path: path)
        try await store.check(at: now)
        try FileManager.default.removeItem(atPath: path)
        do {
            try await store.check(at: now)
            XCTFail("ready without a file")
        } catch StoreError.unavailable {}
    }

    func testWhatCannotBeWrittenIsUnavailable() async throws {
        let store = try SQLiteStore(path: path)
        _ = try await store.create(k, item("1"), at: now)
        let other = try SQLiteConnection(path: path)
        try other.run("DROP TABLE item")
        do {
            _ = try await store.create(ItemKey("a", "l"), item("1"), at: now)
            XCTFail("written")
        } catch StoreError.unavailable {}
        do {
            _ = try await store.read(k, at: now)
            XCTFail("read")
        } catch StoreError.unavailable {}
    }

    private func item(_ text: String, until end: Moment? = nil) -> StoredItem {
        StoredItem(value: Array(text.utf8), expires: end)
    }
}
