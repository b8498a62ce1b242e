import MPinStore
import XCTest

/// Tests what a store in memory does in addition to what every ``Store`` must do.
final class MemoryStoreTests: XCTestCase {
    /// Creates one item in each of three tables every millisecond. Each item expires after a second. The store must
    /// delete expired items by itself, because this test never calls `collect`.
    func testWhatIsOverLeavesTheMemoryAsNewItemsCome() async throws {
        let store = MemoryStore()
        let start: Int64 = 1_700_000_000_000_000
        var most = 0
        for number in 0..<20_000 {
            let now = Moment(microseconds: start + Int64(number) * 1000)
            let item = StoredItem(value: [], expires: now.adding(seconds: 1))
            _ = try await store.create(ItemKey("a", String(number)), item, at: now)
            try await store.update(ItemKey("b", String(number)), at: now, .volatile) { $0 = item }
            // An item that is taken before it expires must not stay in memory either.
            _ = try await store.create(ItemKey("c", String(number)), item, at: now)
            _ = try await store.take(ItemKey("c", String(number)), at: now)
            most = max(most, store.count)
        }
        XCTAssertGreaterThanOrEqual(most, 2000, "what lives stays")
        XCTAssertLessThan(most, 6000)
    }
}
