import Synchronization

/// Bounds the room that strangers take in the stores of this process. A stranger is whoever begins something and has not
/// logged in: each such item is in one of ``tables``. Items of other tables have limits of their own, for example four
/// challenges for each identity.
///
/// Two limits hold at the same time. A table has a budget of bytes; when it is used up, nobody can begin anything in it,
/// and what has begun goes on. And each caller has a share, over all tables together, so that a few callers cannot use
/// up a table. This process counts what it has stored itself, so several servers with one store have a budget each.
package final class StoreBudget: Sendable {
    /// Whom a new item counts for: one address, and the network that it is in.
    package struct Caller: Sendable {
        let address: TokenBuckets.Key
        let network: TokenBuckets.Key

        package init(address: TokenBuckets.Key, network: TokenBuckets.Key) {
            self.address = address
            self.network = network
        }
    }

    /// The most bytes of one table, and of the items of one address or network in all tables.
    package struct Sizes: Sendable {
        package var table: Int
        package var address: Int
        package var network: Int

        package init(table: Int, address: Int, network: Int) {
            self.table = table
            self.address = address
            self.network = network
        }
    }

    /// Who begins something.
    package enum Asker: Sendable {
        /// This program itself, or somebody who has shown credentials. What they begin does not count.
        case known
        /// Somebody unknown. The caller is nil if it has no share, as for the other parts of this system.
        case stranger(Caller?)
        /// The same, who goes on with something that has begun, and may use a quarter more than the budget.
        case goingOn(Caller?)

        var caller: Caller? {
            switch self {
            case .known: nil
            case .stranger(let caller), .goingOn(let caller): caller
            }
        }

        /// How many bytes the asker may fill where strangers may fill `most`.
        func mayUse(_ most: Int) -> Int {
            switch self {
            case .known: .max
            case .stranger: most
            case .goingOn: most + most / 4
            }
        }
    }

    private struct Entry {
        let caller: Caller?
        let bytes: Int
        /// The whole second at which the item has expired; nil: never.
        let end: Int64?
    }

    private struct Book {
        var entries: [ItemKey: Entry] = [:]
        var tables: [String: Int] = [:]
        var addresses: [TokenBuckets.Key: Int] = [:]
        var networks: [TokenBuckets.Key: Int] = [:]
        /// The keys by the whole second at which their items have expired. A key remains when its item is deleted, or gets
        /// another end.
        var ends: [Int64: [ItemKey]] = [:]
        /// The last second whose items were forgotten.
        var swept = Int64.min
    }

    /// Who asks in the present request.
    @TaskLocal package static var asker = Asker.known

    /// Runs `work` for an asker who goes on with something that has begun.
    package static func goingOn<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        guard case .stranger(let caller) = asker else { return try await work() }
        return try await $asker.withValue(.goingOn(caller)) { try await work() }
    }

    /// The bytes that an item takes in memory besides its key and its value.
    package static let overhead = 512

    private let tables: Set<String>
    private let sizes: Sizes
    private let book = Mutex(Book())

    package init(_ sizes: Sizes, tables: Set<String>) {
        self.sizes = sizes
        self.tables = tables
    }

    /// The bytes in use, by table.
    package var use: [String: Int] { book.withLock { $0.tables } }

    func counts(_ key: ItemKey) -> Bool { tables.contains(key.table) }

    /// Why the present asker may not store a new item in this table. Nil if there is room.
    func refusal(_ table: String, at now: Moment) -> NoRoom? {
        let asker = Self.asker
        func isFull(_ used: Int?, _ most: Int) -> Bool { used ?? 0 >= asker.mayUse(most) }
        return book.withLock { book in
            Self.sweep(&book, now)
            if let caller = asker.caller {
                if isFull(book.addresses[caller.address], sizes.address) { return .ofAddress }
                if isFull(book.networks[caller.network], sizes.network) { return .ofNetwork }
            }
            return isFull(book.tables[table], sizes.table) ? .ofTable : nil
        }
    }

    /// Notes what was stored under a key. Nil: the item was deleted. A changed item stays its first caller's.
    func note(_ item: StoredItem?, _ key: ItemKey, for asker: Asker) {
        book.withLock { book in
            let before = book.entries.removeValue(forKey: key)
            if let before { Self.add(-before.bytes, of: key.table, before.caller, to: &book) }
            if case .known = asker, before == nil { return }
            guard let item else { return }
            let bytes = Self.overhead + key.key.utf8.count + item.value.count
            let entry = Entry(
                caller: before == nil ? asker.caller : before?.caller, bytes: bytes,
                end: item.expires.map { Self.second($0) + 1 })
            book.entries[key] = entry
            Self.add(bytes, of: key.table, entry.caller, to: &book)
            if let end = entry.end, end != before?.end { book.ends[end, default: []].append(key) }
        }
    }

    private static func add(_ bytes: Int, of table: String, _ caller: Caller?, to book: inout Book) {
        add(bytes, to: &book.tables, table)
        guard let caller else { return }
        add(bytes, to: &book.addresses, caller.address)
        add(bytes, to: &book.networks, caller.network)
    }

    private static func add<Key>(_ bytes: Int, to sums: inout [Key: Int], _ key: Key) {
        let sum = sums[key, default: 0] + bytes
        sums[key] = sum > 0 ? sum : nil
    }

    /// Forgets the items that have expired, at most once a second.
    private static func sweep(_ book: inout Book, _ now: Moment) {
        let second = second(now)
        guard second > book.swept else { return }
        book.swept = second
        for end in book.ends.keys where end <= second {
            for key in book.ends.removeValue(forKey: end) ?? [] {
                guard let entry = book.entries[key], entry.end == end else { continue }
                book.entries[key] = nil
                add(-entry.bytes, of: key.table, entry.caller, to: &book)
            }
        }
    }

    private static func second(_ moment: Moment) -> Int64 { moment.microseconds / 1_000_000 }
}

/// Why something new was not stored (``StoreBudget``). Nothing has changed.
package enum NoRoom: Error, Sendable, Equatable {
    /// One address, or one network, has used up its share.
    case ofAddress, ofNetwork
    /// The table is full.
    case ofTable
}

/// A store whose new items count against a ``StoreBudget``. It throws ``NoRoom`` instead of storing a new item for which
/// there is no room.
package struct BudgetedStore: Store {
    private let store: any Store
    private let budget: StoreBudget

    package init(_ store: any Store, _ budget: StoreBudget) {
        self.store = store
        self.budget = budget
    }

    package var isNear: Bool { store.isNear }
    package var expiresByItself: Bool { store.expiresByItself }

    package func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? { try await store.read(key, at: now) }

    package func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        let counted = keys.filter(budget.counts)
        guard !counted.isEmpty else { return try await store.transaction(keys, at: now, durability, change) }
        let (asker, refusals) = (StoreBudget.asker, counted.map { budget.refusal($0.table, at: now) })
        let (result, changed) = try await store.transaction(keys, at: now, durability) { items in
            let before = counted.map { items[$0] }
            let result = try change(&items)
            let after = counted.map { items[$0] }
            for index in counted.indices where before[index] == nil && after[index] != nil {
                if let refusal = refusals[index] { throw refusal }
            }
            return (result, counted.indices.filter { before[$0] != after[$0] }.map { (counted[$0], after[$0]) })
        }
        for (key, item) in changed { budget.note(item, key, for: asker) }
        return result
    }

    /// A change with a name creates no item of a table that counts.
    package func perform<Change: NamedChange>(
        _ change: Change, at now: Moment, _ durability: Durability
    ) async throws -> Change.Outcome { try await store.perform(change, at: now, durability) }

    package func take(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        let item = try await store.take(key, at: now)
        if budget.counts(key) { budget.note(nil, key, for: .known) }
        return item
    }

    package func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        try await store.list(table, after: key, limit: limit, at: now)
    }

    package func collect(at now: Moment, limit: Int) async throws -> Int {
        try await store.collect(at: now, limit: limit)
    }

    package func check(at now: Moment) async throws { try await store.check(at: now) }

    package func time() async throws -> Moment? { try await store.time() }
}
