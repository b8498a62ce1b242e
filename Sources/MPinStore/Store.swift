// Public so that the compiler specialises it for other modules; it is no API.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// The state of a server as named tables of items. An engine does not know what an item means: the code that uses it
/// does.
///
/// - Every call takes effect as a whole or not at all, and calls that share a key run one after the other.
/// - A closure that changes items may be run again, up to eight times. So its result depends only on its arguments and
///   the items, and it changes nothing but the items. It does not wait, ask a store or a clock, or draw a random
///   number.
/// - The caller gives the keys before anything is read. Engines lock them in the order of ``ItemKey``, so that no two
///   transactions block each other forever.
/// - The caller gives the time (`now`). An item that has expired does not exist for the caller.
/// - The engine throws ``StoreError``. An error of a closure is passed on, and then nothing is changed.
///
/// Table names match `[a-z0-9_]+`. Keys are any text without U+0000 and are ordered by their UTF-8 bytes.
public protocol Store: Sendable {
    /// Whether the engine answers without a trip to another process. If so, using it and another store at the same time
    /// saves no time.
    var isNear: Bool { get }

    /// Whether the engine deletes expired items without ``collect(at:limit:)``.
    var expiresByItself: Bool { get }

    func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem?

    /// Reads the items of all `keys`, lets `change` change them, and stores the result, as one step. A nil item does
    /// not exist; setting nil deletes an item.
    func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result

    /// At most `limit` items of the table in the order of their keys, beginning after `key`, or with the first if it is
    /// nil.
    func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)]

    /// Deletes at most `limit` expired items and returns their number. A number below `limit` means that none is left.
    func collect(at now: Moment, limit: Int) async throws -> Int

    /// Throws if the store cannot be written.
    func check(at now: Moment) async throws

    /// The time by the clock of the machine that keeps the store. Nil if that is this machine.
    func time() async throws -> Moment?

    /// Makes a change that has a name. An engine that knows the name may make the change in its own way.
    func perform<Change: NamedChange>(
        _ change: Change, at now: Moment, _ durability: Durability
    ) async throws -> Change.Outcome

    /// Reads and deletes an item with ``Durability/durable``. Of several callers only one gets it; the others get nil.
    func take(_ key: ItemKey, at now: Moment) async throws -> StoredItem?
}

/// How safe a change is when the call returns.
public enum Durability: Sendable {
    /// May be lost when the engine's process ends.
    case volatile
    /// Survives the end of the process. May be lost in a power failure, or if another machine takes over; then all
    /// later changes are lost, too.
    case ordered
    /// Survives a power failure, and the loss of one machine if the engine has several. All earlier changes survive
    /// with it.
    case durable
}

/// The table and the key of an item.
public struct ItemKey: Sendable, Hashable, Comparable {
    public let table: String
    public let key: String

    public init(_ table: String, _ key: String) {
        self.table = table
        self.key = key
    }

    /// Orders by table, then by key, each by its bytes.
    public static func < (left: ItemKey, right: ItemKey) -> Bool {
        left.table == right.table ? precedes(left.key, right.key) : precedes(left.table, right.table)
    }

    /// The keys in the order in which engines lock them, each once.
    static func inOrder(_ keys: [ItemKey]) -> [ItemKey] {
        guard keys.count > 1 else { return keys }
        return keys.sorted().reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}

/// The value of an item, and when it expires.
public struct StoredItem: Sendable, Equatable {
    public var value: [UInt8]
    /// From this moment on the item counts as deleted; nil: never.
    public var expires: Moment?

    public init(value: [UInt8], expires: Moment? = nil) {
        self.value = value
        self.expires = expires
    }

    public func isLive(at now: Moment) -> Bool { expires.map { $0 > now } ?? true }
}

/// The items of one transaction.
public struct Items {
    private var entries: [(key: ItemKey, item: StoredItem?)]
    private var unnamedKey: ItemKey?

    init(_ entries: [(key: ItemKey, item: StoredItem?)]) { self.entries = entries }

    /// The item of one of the transaction's keys. If the closure uses another key, the transaction fails.
    public subscript(key: ItemKey) -> StoredItem? {
        mutating get {
            if let entry = entries.first(where: { $0.key == key }) { return entry.item }
            unnamedKey = key
            return nil
        }
        set {
            if let index = entries.firstIndex(where: { $0.key == key }) {
                entries[index].item = newValue
            } else {
                unnamedKey = key
            }
        }
    }

    /// The items after the change, in the order of the keys.
    func changed() throws -> [StoredItem?] {
        guard let unnamedKey else { return entries.map(\.item) }
        throw StoreError.unusable("a transaction asked for \(unnamedKey.table), whose key it had not named")
    }
}

/// A change of items, as a value with a name. It depends only on its members and on the items, so an engine can run it
/// again, or can do the same in its own way when it knows the name.
public protocol NamedChange: Sendable {
    associatedtype Outcome: Sendable

    /// The name, which matches `[a-z-]+`.
    static var name: String { get }
    var keys: [ItemKey] { get }

    func run(_ items: inout Items) throws -> Outcome

    /// The same change without reading first. Nil if it has no such form.
    func blindForm() throws -> BlindForm<Outcome>?
}

extension NamedChange {
    public func blindForm() throws -> BlindForm<Outcome>? { nil }
}

extension Store {
    public var expiresByItself: Bool { false }

    public func time() async throws -> Moment? { nil }

    public func perform<Change: NamedChange>(
        _ change: Change, at now: Moment, _ durability: Durability
    ) async throws -> Change.Outcome {
        try await transaction(change.keys, at: now, durability) { try change.run(&$0) }
    }

    /// Makes a change exactly once. If the outcome of the first try is unknown, the change is tried again, if the request has
    /// time left (``StorePatience``). So it must contain an id by which it recognises that it was made before.
    public func performOnce<Change: NamedChange>(
        _ change: Change, at now: Moment, _ durability: Durability
    ) async throws -> Change.Outcome {
        do { return try await perform(change, at: now, durability) } catch StoreError.unknownOutcome(let reason) {
            do { return try await perform(change, at: now, durability) } catch is StoreError {
                // Whatever became of the second try, the first may have made the change.
                throw StoreError.unknownOutcome(reason)
            }
        }
    }

    public func take(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        try await update(key, at: now, .durable) { item in
            defer { item = nil }
            return item
        }
    }

    public func check(at now: Moment) async throws {
        let probe = StoredItem(value: [], expires: Moment(microseconds: now.microseconds + 60_000_000))
        try await update(ItemKey("health", "probe"), at: now, .ordered) { $0 = probe }
    }

    /// Reads, changes and stores one item: ``transaction(_:at:_:_:)`` with one key.
    @inlinable
    public func update<Result: Sendable>(
        _ key: ItemKey, at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout StoredItem?) throws -> Result
    ) async throws -> Result {
        try await transaction([key], at: now, durability) { try change(&$0[key]) }
    }

    /// Stores a new item with ``Durability/durable``. False, and nothing is changed, if there is one under this key.
    public func create(_ key: ItemKey, _ item: StoredItem, at now: Moment) async throws -> Bool {
        try await update(key, at: now, .durable) { found in
            guard found == nil else { return false }
            found = item
            return true
        }
    }

    /// Deletes all expired items and returns their number. Deletes a thousand at a time, so that other calls do not
    /// wait long.
    public func collectAll(at now: Moment) async throws -> Int {
        var count = 0
        while true {
            let deleted = try await collect(at: now, limit: 1000)
            count += deleted
            guard deleted == 1000 else { return count }
        }
    }
}
