/// A store all of whose items can be read, whatever their tables are.
package protocol WholeStore: Store {
    /// At most `limit` items of all tables in the order of ``ItemKey``, beginning after `key`, or with the first if it is
    /// nil.
    func items(after key: ItemKey?, limit: Int, at now: Moment) async throws -> [(key: ItemKey, item: StoredItem)]

    /// Throws ``StoreError/unusable(_:)`` if somebody else uses the store.
    func requireAlone() async throws
}

/// Copies all items of a store into another one, which is empty: from a SQLite file into a PostgreSQL database, or back.
/// Nobody else may use either of them meanwhile.
///
/// Each page of items is stored together with a note of how far the copy has come, so a copy that was interrupted goes on
/// where it stopped. At the end both stores are compared item by item. Until then no server can open the target: it
/// would not know of revocations and wrong PINs that are still to come.
package struct StoreCopy: Sendable {
    private let source: any WholeStore
    private let target: any WholeStore
    private let now: Moment

    /// The target's note: a table, a line break, and the key of the last item that was copied.
    private static let note = ItemKey("copy", "last")
    private static let pageSize = 100

    package init(from source: any WholeStore, to target: any WholeStore, at now: Moment) {
        self.source = source
        self.target = target
        self.now = now
    }

    /// Copies, compares, and returns the number of items. Throws ``StoreError/unusable(_:)`` if one of the stores is in
    /// use, if the target contains what no copy has put there, or if it is not equal to the source afterwards. A target
    /// that is equal already is a copy.
    package func run() async throws -> Int {
        for store in [source, target] { try await store.requireAlone() }
        try await Self.requireWhole(source)
        let note = try await target.read(Self.note, at: now)
        if note == nil, try await !target.items(after: nil, limit: 1, at: now).isEmpty {
            // A copy that was killed when it had taken its note away is complete.
            if let count = try await compare() { return count }
            throw StoreError.unusable("the target is not empty")
        }
        try await copy(after: note.flatMap(Self.key))
        guard let count = try await compare() else {
            throw StoreError.unusable(
                "the copy differs from its source, which was changed meanwhile: empty the target and begin again")
        }
        for store in [source, target] { try await store.requireAlone() }
        _ = try await target.take(Self.note, at: now)
        return count
    }

    /// Throws ``StoreError/unusable(_:)`` if the store is the target of a copy that is not finished.
    static func requireWhole(_ store: any Store) async throws {
        guard try await store.read(note, at: Moment(microseconds: 0)) == nil else {
            throw StoreError.unusable("a copy into it was interrupted: repeat the command that copies")
        }
    }

    private func copy(after key: ItemKey?) async throws {
        var last = key
        while true {
            let page = try await source.items(after: last, limit: Self.pageSize, at: now)
            guard let end = page.last?.key else { return }
            let note = StoredItem(value: Array("\(end.table)\n\(end.key)".utf8))
            try await target.performOnce(PutAll(items: page + [(Self.note, note)]), at: now, .durable)
            last = end
        }
    }

    /// Compares the items of both stores and returns their number; nil if they are not equal.
    private func compare() async throws -> Int? {
        var count = 0
        var last: ItemKey?
        while true {
            let page = try await source.items(after: last, limit: Self.pageSize, at: now)
            // The note is not a part of the copy.
            let copies = try await target.items(after: last, limit: Self.pageSize + 1, at: now)
                .filter { $0.key != Self.note }.prefix(Self.pageSize)
            guard page.map(\.key) == copies.map(\.key), page.map(\.item) == copies.map(\.item) else { return nil }
            guard let end = page.last?.key else { return count }
            count += page.count
            last = end
        }
    }

    private static func key(_ note: StoredItem) -> ItemKey? {
        let parts = String(decoding: note.value, as: UTF8.self)
            .split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? ItemKey(String(parts[0]), String(parts[1])) : nil
    }
}

/// Stores items, whatever there is under their keys.
private struct PutAll: NamedChange {
    static let name = "put-all"

    let items: [(key: ItemKey, item: StoredItem)]

    var keys: [ItemKey] { items.map(\.key) }

    func run(_ found: inout Items) {
        for (key, item) in items { found[key] = item }
    }

    func blindForm() -> BlindForm<Void>? {
        BlindForm(items.map { .put($0.key, $0.item) }) { _ in () }
    }
}
