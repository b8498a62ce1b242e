import MPinSecrets
import MPinStore
import StoreEngines
import Synchronization
import XCTest

/// Tests that nobody without the key can change an item or put it elsewhere (``BoundStore``).
final class BoundStoreTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private let raw = MemoryStore()
    private let (one, two) = (ItemKey("a", "1"), ItemKey("a", "2"))
    private lazy var secret = SecretBytes(utf8: String(repeating: "k", count: 32))

    private func mac(_ service: String = "s", _ secret: SecretBytes? = nil) -> RecordMAC {
        RecordMAC(secret: secret ?? self.secret, service: service) { place, value in
            place.table == "slot" ? ItemKey("a", String(decoding: value.prefix(1), as: UTF8.self)) : place
        }
    }

    private func bound(_ state: Binding.State = .complete, _ mac: RecordMAC? = nil) -> BoundStore {
        BoundStore(BlindStore(raw), mac ?? self.mac(), Binding(state))
    }

    private func item(_ text: String, expires: Moment? = nil) -> StoredItem {
        StoredItem(value: Array(text.utf8), expires: expires)
    }

    private func stored(_ key: ItemKey) async throws -> StoredItem {
        let item = try await raw.read(key, at: now)
        return try XCTUnwrap(item)
    }

    private func put(_ item: StoredItem?, _ key: ItemKey) async throws {
        try await raw.update(key, at: now, .ordered) { $0 = item }
    }

    private func requireRefused(
        _ key: ItemKey, _ store: BoundStore? = nil, _ what: String = "", line: UInt = #line
    ) async {
        let store = store ?? bound()
        let calls: [() async throws -> Void] = [
            { _ = try await store.read(key, at: self.now) },
            { _ = try await store.list(key.table, after: nil, limit: 9, at: self.now) },
            { try await store.update(key, at: self.now, .durable) { _ in } },
            { _ = try await store.perform(Writes(writes: [.look(key)]), at: self.now, .ordered) },
        ]
        for (number, call) in calls.enumerated() {
            do {
                try await call()
                XCTFail("\(what): call \(number) was not refused", line: line)
            } catch StoreError.unusable {} catch { XCTFail("\(what): \(error)", line: line) }
        }
    }

    /// Makes blind writes. Without blind forms it fails.
    private struct Writes: NamedChange {
        static let name = "writes"
        let writes: [BlindWrite]
        var keys: [ItemKey] { [] }

        func run(_ items: inout Items) throws -> [BlindWrite.Result?] { throw StoreError.conflict }
        func blindForm() -> BlindForm<[BlindWrite.Result?]>? { BlindForm(writes) { $0 } }
    }

    private func make(_ write: BlindWrite, _ store: BoundStore? = nil) async throws -> BlindWrite.Result? {
        try await (store ?? bound()).perform(Writes(writes: [write]), at: now, .ordered)[0]
    }

    func testWhatIsWrittenIsRead() async throws {
        let store = bound()
        let end = now.adding(seconds: 60)
        let items = [item(""), item("x"), item("long enough", expires: end), item("x", expires: end)]
        for (number, item) in items.enumerated() {
            let key = ItemKey("a", "\(number)")
            let isNew = try await store.create(key, item, at: now)
            let (found, bytes) = (try await store.read(key, at: now), try await stored(key))
            XCTAssertTrue(isNew)
            XCTAssertEqual(found, item)
            XCTAssertEqual(bytes.value.count, item.value.count + 29, "one length for all values of one length")
        }
        let listed = try await store.list("a", after: nil, limit: 9, at: now).map(\.item)
        XCTAssertEqual(listed, items)
        let taken = try await store.take(ItemKey("a", "1"), at: now)
        XCTAssertEqual(taken, items[1])
    }

    func testAnItemOfAnotherPlaceServiceOrKeyIsRefused() async throws {
        let end = now.adding(seconds: 60)
        _ = try await bound().create(one, item("right", expires: end), at: now)
        let good = try await stored(one)
        for other in [two, ItemKey("b", "1"), ItemKey("a1", "")] {
            try await put(good, other)
            await requireRefused(other, nil, "\(other)")
        }
        await requireRefused(one, bound(.complete, mac("other")), "service")
        let key = SecretBytes(utf8: String(repeating: "l", count: 32))
        await requireRefused(one, bound(.complete, mac("s", key)), "key")
        for expires in [nil, end.adding(seconds: 1)] {
            try await put(StoredItem(value: good.value, expires: expires), one)
            await requireRefused(one, nil, "expiry")
        }
    }

    func testEveryChangedByteIsRefused() async throws {
        _ = try await bound().create(one, item("right"), at: now)
        let good = try await stored(one)
        for index in good.value.indices {
            var changed = good
            changed.value[index] ^= 1
            try await put(changed, one)
            do {
                _ = try await bound().read(one, at: now)
                XCTFail("byte \(index)")
            } catch StoreError.unusable {}
        }
        let others: [[UInt8]] = [
            [], Array(good.value.dropLast()), Array("right".utf8), good.value + [0], [0] + good.value,
        ]
        for value in others {
            try await put(StoredItem(value: value), one)
            await requireRefused(one, nil, "\(value)")
        }
    }

    func testARefusedItemIsNamedOnceACallAndNothingIsChanged() async throws {
        let named = Mutex<[ItemKey]>([])
        let store = BoundStore(raw, mac(), Binding(.complete)) { place in named.withLock { $0.append(place) } }
        try await put(item("plain"), one)
        do {
            try await store.transaction([one, two], at: now, .ordered) { items in
                items[ItemKey("a", "2")] = StoredItem(value: [1])
            }
            XCTFail("not refused")
        } catch StoreError.unusable {}
        XCTAssertEqual(named.withLock { $0 }, [one])
        let (first, second) = (try await raw.read(one, at: now), try await raw.read(two, at: now))
        XCTAssertEqual([first, second], [item("plain"), nil])
    }

    func testAppendedPartsAreBoundToTheirOwner() async throws {
        let end = now.adding(seconds: 60)
        for key in [one, two] { _ = try await make(.put(key, item("base"))) }
        let written = try await make(.append(one, [1], otherwise: nil))
        XCTAssertEqual(written?.item.value, Array("base".utf8) + [1])
        _ = try await make(.append(one, [2], otherwise: item("", expires: end)))
        let found = try await bound().read(one, at: now)
        XCTAssertEqual(found, StoredItem(value: Array("base".utf8) + [1, 2], expires: end))
        let (whole, other) = (try await stored(one), try await stored(two))
        let base = other.value.count
        // The last part also says when the item expires.
        try await put(StoredItem(value: whole.value), one)
        await requireRefused(one, nil, "expiry")
        let cases: [([UInt8], String)] = [
            (other.value + whole.value[base...], "parts of another item"),
            (Array(whole.value[base...]), "a part for a value"), (other.value + other.value, "a value as a part"),
        ]
        for (value, what) in cases {
            try await put(StoredItem(value: value, expires: end), two)
            await requireRefused(two, nil, what)
        }
    }

    func testAnAttemptIsTheSameForAKnownOneAndItsSlot() async throws {
        let (known, slot) = (ItemKey("a", "7"), ItemKey("slot", "0"))
        func append(_ byte: UInt8, of key: ItemKey) async throws -> BlindWrite.Result? {
            let first = Array(key.key.utf8) + [0]
            return try await make(.appendOrFill(key, [byte], slot: slot, beginning: Array(key.key.utf8), first: first))
        }
        let filled = try await append(1, of: known)
        XCTAssertEqual(filled?.key, slot)
        let again = try await append(2, of: known)
        XCTAssertEqual(again?.item.value, Array("7".utf8) + [0, 1, 2])
        let before = try await stored(slot)
        let another = try await append(3, of: ItemKey("a", "8"))
        XCTAssertEqual(another?.item.value, Array("8".utf8) + [0, 3])
        // A part of another ID in the slot.
        let part = try await stored(slot).value.suffix(30)
        try await put(StoredItem(value: before.value + part), slot)
        await requireRefused(slot)
        _ = try await make(.put(known, item("7")))
        let own = try await append(4, of: known)
        XCTAssertEqual(own?.key, known)
        XCTAssertEqual(own?.item.value, Array("7".utf8) + [4])
    }

    func testReplaceComparesWhatIsStored() async throws {
        _ = try await make(.put(one, item("1")))
        let written = try await make(.append(one, [9], otherwise: nil))
        let stored = try XCTUnwrap(written?.stored)
        let replaced = try await make(.replace(one, old: stored, new: [7]))
        XCTAssertEqual(replaced?.item, StoredItem(value: [7]))
        let (late, found) = (
            try await make(.replace(one, old: stored, new: [8])), try await bound().read(one, at: now)
        )
        XCTAssertNil(late)
        XCTAssertEqual(found?.value, [7])
    }

    /// Servers that know of the switch and some that do not yet write into the same items.
    func testBothFormsAreReadUntilAllHaveMACs() async throws {
        _ = try await bound(.none).create(one, item("old"), at: now)
        let plain = try await stored(one)
        XCTAssertEqual(plain, item("old"), "the form of before")
        for (state, byte) in [(Binding.State.begun, UInt8(1)), (.none, 2), (.begun, 3)] {
            _ = try await make(.append(one, [byte], otherwise: nil), bound(state))
        }
        for state in [Binding.State.none, .begun] {
            let found = try await bound(state).read(one, at: now)
            XCTAssertEqual(found?.value, Array("old".utf8) + [1, 2, 3])
        }
        await requireRefused(one)
        try await bound(.begun).update(one, at: now, .ordered) { $0?.value.append(4) }
        let found = try await bound().read(one, at: now)
        XCTAssertEqual(found?.value, Array("old".utf8) + [1, 2, 3, 4])
        let (stored, stripped) = (try await stored(one), found)
        XCTAssertEqual(RecordMAC.stripped(stored), stripped)
        XCTAssertEqual(RecordMAC.stripped(item("plain")), item("plain"))
    }

    /// Also while items without MACs are taken, a value with the MAC of another place is none without a MAC.
    func testAValueOfAnotherPlaceIsRefusedAlsoBeforeAllHaveMACs() async throws {
        _ = try await bound(.begun).create(one, item("right"), at: now)
        let good = try await stored(one)
        try await put(good, two)
        for state in [Binding.State.none, .begun] { await requireRefused(two, bound(state)) }
    }

    func testAStateNeverGoesBack() {
        let binding = Binding(.complete)
        binding.advance(to: .none)
        XCTAssertEqual(binding.state, .complete)
    }

    /// Compares random changes with those of a store without MACs.
    func testABoundStoreDoesWhatTheOtherDoes() async throws {
        let (store, model) = (bound(), BlindStore(MemoryStore()))
        for step in 0..<500 {
            let now = now.adding(seconds: step / 4)
            let change = Writes(writes: [write(at: now), write(at: now)])
            let (found, expected) = (
                try await store.perform(change, at: now, .ordered), try await model.perform(change, at: now, .ordered)
            )
            XCTAssertEqual(found.map { $0?.item }, expected.map { $0?.item }, "\(change.writes)")
            let (items, others) = (
                try await store.list("a", after: nil, limit: 9, at: now),
                try await model.list("a", after: nil, limit: 9, at: now)
            )
            XCTAssertEqual(items.map(\.key), others.map(\.key))
            XCTAssertEqual(items.map(\.item), others.map(\.item))
        }
    }

    private func write(at now: Moment) -> BlindWrite {
        func bytes() -> [UInt8] { (0..<Int.random(in: 1...2)).map { _ in .random(in: 0...1) } }
        func item() -> StoredItem {
            StoredItem(value: bytes(), expires: Bool.random() ? nil : now.adding(seconds: .random(in: 1...3)))
        }
        let key = ItemKey("a", ["1", "2"].randomElement() ?? "")
        return switch Int.random(in: 0...4) {
        case 0: .put(key, item())
        case 1: .append(key, bytes(), otherwise: nil)
        case 2: .append(key, bytes(), otherwise: item())
        case 3: .take(key, beginning: [.random(in: 0...1)])
        default: .look(key)
        }
    }
}
