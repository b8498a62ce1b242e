import MPinSecrets
import Synchronization

/// Whether the servers of a store bind its items to their places (``RecordMAC``). It can only go forward.
package final class Binding: Sendable {
    package enum State: UInt8, Sendable, Comparable {
        /// Servers of the version before use the store, too, and could not read MACs. None are written.
        case none = 0
        /// All servers can read MACs and begin to write them. Items without one are still taken.
        case begun = 1
        /// All items have a MAC. One without is refused.
        case complete = 2

        package static func < (left: State, right: State) -> Bool { left.rawValue < right.rawValue }
    }

    private let value: Atomic<UInt8>

    package init(_ state: State = .none) { value = Atomic(state.rawValue) }

    package var state: State { State(rawValue: value.load(ordering: .relaxed)) ?? .complete }

    /// Goes on to a later state. An earlier one changes nothing.
    package func advance(to state: State) { value.max(state.rawValue, ordering: .relaxed) }
}

/// A store that binds items to their places by a MAC (``RecordMAC``), and refuses those that somebody else has written.
///
/// A call that meets a refused item throws ``StoreError/unusable(_:)`` and returns nothing of it. A closure is not run then;
/// a blind write was made, but what it has written is refused, too, unless it was whole.
package struct BoundStore: Store {
    /// What is told of each refused item.
    package typealias Observer = @Sendable (ItemKey) -> Void

    private let store: any Store
    private let mac: RecordMAC
    private let binding: Binding
    private let observer: Observer

    /// Tables that are read where the key is not known, or that only an engine uses.
    package static let free: Set<String> = ["setting", "service", "audit_mark", "copy", "health"]

    package init(
        _ store: any Store, _ mac: RecordMAC, _ binding: Binding, observer: @escaping Observer = { _ in }
    ) {
        self.store = store
        self.mac = mac
        self.binding = binding
        self.observer = observer
    }

    package var isNear: Bool { store.isNear }
    package var expiresByItself: Bool { store.expiresByItself }

    package func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        try await observed { try await store.read(key, at: now).map { try form.opened($0, at: key) } }
    }

    package func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        let form = form
        return try await observed {
            try await store.transaction(keys, at: now, durability) { try form.change(keys, &$0, change) }
        }
    }

    package func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        try await observed {
            try await store.list(table, after: key, limit: limit, at: now).map { key, item in
                (key: key, item: try form.opened(item, at: ItemKey(table, key)))
            }
        }
    }

    package func collect(at now: Moment, limit: Int) async throws -> Int {
        try await store.collect(at: now, limit: limit)
    }

    package func check(at now: Moment) async throws { try await store.check(at: now) }

    package func time() async throws -> Moment? { try await store.time() }

    package func perform<Change: NamedChange>(
        _ change: Change, at now: Moment, _ durability: Durability
    ) async throws -> Change.Outcome {
        let form = form
        return try await observed {
            try await store.perform(BoundChange(change: change, form: form), at: now, durability)
        }
    }

    package func take(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        try await observed { try await store.take(key, at: now).map { try form.opened($0, at: key) } }
    }

    private var form: BoundForm { BoundForm(mac: mac, state: binding.state) }

    private func observed<Result>(_ call: () async throws -> Result) async throws -> Result {
        do { return try await call() } catch let refused as RefusedRecord {
            observer(refused.place)
            throw StoreError.unusable("\(refused.place.shown) was refused: its MAC is missing or wrong")
        }
    }
}

/// An item that was refused, by its place.
private struct RefusedRecord: Error {
    let place: ItemKey
}

extension ItemKey {
    /// The place in messages for an operator.
    package var shown: String { "the record \(shownKey) of \(table)" }

    /// The key for a log, which may contain neither what a person types in nor the hash of an M-Pin ID: 16 hex digits, with which
    /// a key that is a hash begins, or else the SHA-256 of the key.
    package var shownKey: String {
        let isHash = key.utf8.count == 2 * SHA256.size && Hex.decode(key) != nil
        return isHash ? String(key.prefix(16)) : "SHA-256 " + Hex.encode(Array(SHA256.hash(Array(key.utf8)).prefix(8)))
    }
}

/// How items are stored during one call.
private struct BoundForm: Sendable {
    let mac: RecordMAC
    let state: Binding.State

    private func isBound(_ place: ItemKey) -> Bool { !BoundStore.free.contains(place.table) }

    private func writesMAC(_ place: ItemKey) -> Bool { state != .none && isBound(place) }

    func opened(_ item: StoredItem, at place: ItemKey) throws -> StoredItem {
        guard isBound(place) else { return item }
        do { return try mac.opened(item, at: place, takesPlain: state != .complete) } catch {
            throw RefusedRecord(place: place)
        }
    }

    func stored(_ item: StoredItem, at place: ItemKey) -> StoredItem {
        writesMAC(place) ? mac.bound(item, at: place) : item
    }

    /// Makes a change of items without MACs. Items that it does not change stay as they are stored.
    func change<Result>(
        _ keys: [ItemKey], _ items: inout Items, _ change: (inout Items) throws -> Result
    ) throws -> Result {
        let before = try keys.map { key in (key: key, item: try items[key].map { try opened($0, at: key) }) }
        var inner = Items(before)
        let result = try change(&inner)
        for ((key, old), new) in zip(before, try inner.changed()) where old != new {
            items[key] = new.map { stored($0, at: key) }
        }
        return result
    }

    /// The write of the same thing with MACs.
    func stored(_ write: BlindWrite) -> BlindWrite {
        switch write {
        case .put(let key, let item): return .put(key, stored(item, at: key))
        case .append(let key, let bytes, let otherwise):
            guard writesMAC(key) else { return write }
            let appended = mac.appended(bytes, of: key, otherwise: otherwise)
            return .append(key, appended, otherwise: otherwise.map { stored($0, at: key) })
        case .appendOrFill(let key, let bytes, let slot, let beginning, let first):
            guard writesMAC(key) else { return write }
            return .appendOrFill(
                key, mac.appended(bytes, of: key, otherwise: nil), slot: slot, beginning: beginning,
                first: stored(StoredItem(value: first), at: slot).value)
        case .replace(let key, let old, let new):
            guard writesMAC(key) else { return write }
            return .replace(key, old: old, new: mac.bound(replacing: new, at: key))
        case .take, .look: return write
        }
    }

    /// The result of a write without MACs. What the write itself has stored as a whole needs no check.
    func opened(_ result: BlindWrite.Result?, of write: BlindWrite) throws -> BlindWrite.Result? {
        guard let result else { return nil }
        let plain: StoredItem =
            switch write {
            case .put(_, let item): item
            case .replace(_, _, let new): StoredItem(value: new, expires: result.item.expires)
            default: try opened(result.item, at: result.key)
            }
        return BlindWrite.Result(result.key, plain, stored: result.stored)
    }
}

/// A change that finds items without MACs, and stores them with MACs.
private struct BoundChange<Change: NamedChange>: NamedChange {
    static var name: String { Change.name }

    let change: Change
    let form: BoundForm

    var keys: [ItemKey] { change.keys }

    func run(_ items: inout Items) throws -> Change.Outcome { try form.change(keys, &items) { try change.run(&$0) } }

    func blindForm() throws -> BlindForm<Change.Outcome>? {
        guard let blind = try change.blindForm() else { return nil }
        let (writes, form) = (blind.writes, form)
        let readsItems = blind.readsItems
        return BlindForm(writes.map { form.stored($0) }, place: blind.place, readsItems: readsItems) { results in
            guard readsItems else { return try blind.outcome(results) }
            return try blind.outcome(zip(writes, results).map { try form.opened($1, of: $0) })
        }
    }
}
