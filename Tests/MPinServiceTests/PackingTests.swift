import MPinService
import MPinStore
import StoreEngines
import XCTest

/// Tests that identities which versions before 1.1.0 stored as JSON are converted to the packed, binary form.
final class PackingTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)

    private func json(_ name: String) -> StoredItem {
        let text =
            #"{"mpinID":"\#(name)","userID":"a","keyID":"1","registered":5,"attempts":2,"failuresSinceSuccess":2}"#
        return StoredItem(value: Array(text.utf8))
    }

    private func first(_ table: String, _ store: any Store) async throws -> [UInt8?] {
        try await store.list(table, after: nil, limit: 1000, at: now).map { $0.item.value.first }
    }

    private func start(on store: any Store) async throws {
        var stores = [store, MemoryStore()]
        _ = try await ServiceUnderTest(layer: { _ in RepeatingStore(stores.removeFirst()) })
    }

    /// Tests that the placeholder for unknown IDs is packed, too. Otherwise the time of a permit would tell known IDs
    /// from unknown ones.
    func testAStartPacksAllIdentitiesAndThePlaceholder() async throws {
        let store = MemoryStore()
        let placeholder = String(repeating: "0", count: 64)
        for index in 0..<250 {
            _ = try await store.create(ItemKey("identity", "k\(index)"), json("a\(index)"), at: now)
        }
        for key in [placeholder, "7"] {
            _ = try await store.create(ItemKey("unknown_identity", key), json(key), at: now)
        }
        let broken = StoredItem(value: Array("{".utf8))
        _ = try await store.create(ItemKey("identity", "broken"), broken, at: now)
        try await start(on: store)
        let (known, unknown) = (try await first("identity", store), try await first("unknown_identity", store))
        XCTAssertEqual(known, [UInt8(ascii: "{")] + Array(repeating: 1, count: 250))
        XCTAssertEqual(unknown, [1, 1])
        for index in [0, 99, 249] {
            let item = try await store.read(ItemKey("identity", "k\(index)"), at: now)
            XCTAssertEqual(
                try item.map { try IdentityRecord(stored: $0.value) },
                try IdentityRecord(stored: json("a\(index)").value))
        }
        let left = try await store.read(ItemKey("identity", "broken"), at: now)
        XCTAssertEqual(left, broken)
    }

    /// Attempts are appended only to records that have all members. An earlier version wrote fewer.
    func testARecordWithoutLaterMembersIsCompletedBeforeAnythingIsAppended() async throws {
        let record = IdentityRecord(mpinID: "a", userID: "b", keyID: "1", registered: now)
        let whole = try record.stored()
        // The renewal of the secret (41 bytes), then the successor and its flag (37 bytes), then the hash of the key (36).
        for missing in [0, 41, 41 + 37, 41 + 37 + 36] {
            let store = BlindStore(MemoryStore())
            let old = StoredItem(value: whole.dropLast(missing))
            _ = try await store.create(ItemKey("identity", "k"), old, at: now)
            try await start(on: store)
            let found = try await store.read(ItemKey("identity", "k"), at: now)
            XCTAssertEqual(found?.value, whole, "without \(missing) bytes")
        }
    }

    /// A browser that waited when an earlier version stopped goes on waiting.
    func testAWaitingBrowserInJSONIsReadAndPacked() throws {
        let login = #""login":{"authOTT":"t","id":"i","expires":1800000000000000,"isShown":false,"isRefused":true}"#
        let outcome = #""outcome":{"status":200,"message":"m","logoutURL":"/l","logoutData":{"a":[1,null]}}"#
        let rest = #""webOTTHash":"h","phoneStatus":"user","userID":"a","isRedeemed":false,"refusals":2"#
        let refusal = #""refusal":{"version":1,"case":"wrong","left":1}"#
        let place = #""place":{"address":"192.0.2.1","program":"p"}"#
        for text in ["{\(rest)}", "{\(rest),\(refusal)}", "{\(rest),\(place)}", "{\(rest),\(login),\(outcome)}"] {
            var old = try WaitingBrowser(stored: Array(text.utf8))
            let packed = try old.stored()
            XCTAssertEqual(packed.first, 1)
            XCTAssertEqual(packed.ends(with: Array("192.0.2.1\u{1}\0\0\0p".utf8)), text.contains("place"))
            var new = try WaitingBrowser(stored: packed)
            XCTAssertEqual(try new.stored(), packed)
            XCTAssertEqual(new.show(at: now, showsRefusals: true), old.show(at: now, showsRefusals: true))
            XCTAssertEqual(new.show(at: now, showsRefusals: true).refusals, 2)
            XCTAssertEqual(new.show(at: now).status, text.contains("login") ? "authenticate" : "user")
        }
        let damaged = try WaitingBrowser(stored: Array("{\(rest),\(login),\(outcome)}".utf8)).stored().dropLast()
        XCTAssertThrowsError(try WaitingBrowser(stored: Array(damaged)))
    }

    func testOnlyTheFirstStartLooksAtAllOfThem() async throws {
        let store = MemoryStore()
        let slots = Slots(bits: 4, key: try .random(count: 32))
        let identities = Identities(in: store, slots: slots, policy: AttemptPolicy())
        for name in ["a", "b"] {
            _ = try await store.create(ItemKey("identity", name), json(name), at: now)
            try await identities.pack(at: now)
        }
        let known = try await first("identity", store)
        XCTAssertEqual(known, [1, UInt8(ascii: "{")])
    }
}

extension [UInt8] {
    fileprivate func ends(with end: [UInt8]) -> Bool { suffix(end.count).elementsEqual(end) }
}
