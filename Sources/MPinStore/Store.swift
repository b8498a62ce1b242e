/// The state of a server: named tables of items. What an item means is written above it, once for every engine.
///
/// - Every call happens whole or not at all, and no two calls that share a key overlap.
/// - A closure that changes items may be run again, up to eight times: it depends on nothing but what it is given, and does
///   nothing but change the items. It does not wait, ask a store or a clock, or draw a random number.
/// - Keys are named before anything is read, and engines lock them in the order of ``ItemKey``: no two transactions wait
///   for each other.
/// - Times are those of the caller (`now`); an item whose end has come is none.
/// - Errors of the engine are ``StoreError``; what a closure throws is passed on, and nothing is changed.
///
/// Table names match `[a-z0-9_]+`; keys are any text without U+0000 and lie in the order of their UTF-8 bytes.
package protocol Store: Sendable {
    /// Whether it answers without a trip to another process: then nothing is won by asking it beside another store.
    var isNear: Bool { get }

    func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem?

    /// Reads the items of all `keys`, lets `change` change them, and keeps what it has made of them, as one step. nil is no
    /// item, before and after.
    func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result

    /// At most `limit` items in the order of their keys, from the first behind `key` on.
    func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)]

    /// Deletes at most `limit` items whose end has come; the number of them. Fewer than `limit`: none is left.
    func collect(at now: Moment, limit: Int) async throws -> Int

    /// Throws where nothing can be written.
    func check(at now: Moment) async throws

    /// A change that the engine may know by its name.
    func perform<Change: NamedChange>(
        _ change: Change, at now: Moment, _ durability: Durability
    ) async throws -> Change.Outcome

    /// Reads and deletes, ``Durability/durable``: of many takers one gets the item.
    func take(_ key: ItemKey, at now: Moment) async throws -> StoredItem?
}

/// How far a change has gone when it is answered for.
package enum Durability: Sendable {
    /// May be lost with the engine's process.
    case volatile
    /// Survives the end of the process. After a power failure, or on another machine, it may be missing, and then so is all
    /// that came later.
    case ordered
    /// Survives a power failure, and the loss of one machine where the engine has several; so does all that came before.
    case durable
}

/// Where an item lies.
package struct ItemKey: Sendable, Hashable, Comparable {
    package let table: String
    package let key: String

    package init(_ table: String, _ key: String) {
        self.table = table
        self.key = key
    }

    /// By table, then by key, each by its bytes.
    package static func < (left: ItemKey, right: ItemKey) -> Bool {
        left.table == right.table ? precedes(left.key, right.key) : precedes(left.table, right.table)
    }

    /// As engines lock: in order, and each once.
    static func inOrder(_ keys: [ItemKey]) -> [ItemKey] { keys.count < 2 ? keys : Set(keys).sorted() }

    static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}

/// What a store keeps under a key.
package struct StoredItem: Sendable, Equatable {
    package var value: [UInt8]
    /// From then on the item is as good as deleted; nil: never.
    package var expires: Moment?

    package init(value: [UInt8], expires: Moment? = nil) {
        self.value = value
        self.expires = expires
    }

    package func isLive(at now: Moment) -> Bool { expires.map { $0 > now } ?? true }
}

/// The items of one transaction.
package struct Items {
    private var entries: [(key: ItemKey, item: StoredItem?)]
    private var stray: ItemKey?

    init(_ entries: [(key: ItemKey, item: StoredItem?)]) { self.entries = entries }

    /// The item of a key that was named. A transaction that asks for another one fails.
    package subscript(key: ItemKey) -> StoredItem? {
        mutating get {
            if let entry = entries.first(where: { $0.key == key }) { return entry.item }
            stray = key
            return nil
        }
        set {
            if let index = entries.firstIndex(where: { $0.key == key }) {
                entries[index].item = newValue
            } else {
                stray = key
            }
        }
    }

    /// Afterwards, in the order of the keys.
    func changed() throws -> [StoredItem?] {
        guard let stray else { return entries.map(\.item) }
        throw StoreError.unusable("a transaction asked for \(stray.table), whose key it had not named")
    }
}

/// A change as a value: all that it depends on are its members and the items, so an engine can run it again, or know it by
/// its name and do the same in a way of its own.
package protocol NamedChange: Sendable {
    associatedtype Outcome: Sendable

    /// `[a-z-]+`.
    static var name: String { get }
    var keys: [ItemKey] { get }

    func run(_ items: inout Items) throws -> Outcome
}

extension Store {
    package func perform<Change: NamedChange>(
        _ change: Change, at now: Moment, _ durability: Durability
    ) async throws -> Change.Outcome {
        try await transaction(change.keys, at: now, durability) { try change.run(&$0) }
    }

    /// A change that has an id of its own, by which it tells that it has been made: where nobody knows whether it has, it is
    /// made again.
    package func performOnce<Change: NamedChange>(
        _ change: Change, at now: Moment, _ durability: Durability
    ) async throws -> Change.Outcome {
        do { return try await perform(change, at: now, durability) } catch StoreError.unknownOutcome {
            return try await perform(change, at: now, durability)
        }
    }

    package func take(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        try await update(key, at: now, .durable) { item in
            defer { item = nil }
            return item
        }
    }

    package func check(at now: Moment) async throws {
        let probe = StoredItem(value: [], expires: Moment(microseconds: now.microseconds + 60_000_000))
        try await update(ItemKey("health", "probe"), at: now, .ordered) { $0 = probe }
    }

    /// ``transaction(_:at:_:_:)`` with one key.
    package func update<Result: Sendable>(
        _ key: ItemKey, at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout StoredItem?) throws -> Result
    ) async throws -> Result {
        try await transaction([key], at: now, durability) { try change(&$0[key]) }
    }

    /// Keeps a new item, ``Durability/durable``; false, and nothing changed, where a live one is.
    package func create(_ key: ItemKey, _ item: StoredItem, at now: Moment) async throws -> Bool {
        try await update(key, at: now, .durable) { found in
            guard found == nil else { return false }
            found = item
            return true
        }
    }

    /// Deletes all items whose end has come, a thousand at a time: no other call waits for more. The number of them.
    package func collectAll(at now: Moment) async throws -> Int {
        var count = 0
        while true {
            let deleted = try await collect(at: now, limit: 1000)
            count += deleted
            guard deleted == 1000 else { return count }
        }
    }
}
