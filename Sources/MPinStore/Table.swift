import MPinWire

/// The items of one type in a store, as JSON wherever they are bytes. A type that gets new members reads the old form as
/// well.
package struct Table<Value: Codable & Sendable>: Sendable {
    /// A value and how long it lives; nil: for ever.
    package struct Entry: Sendable {
        package var value: Value
        package var expires: Moment?

        package init(_ value: Value, expires: Moment? = nil) {
            self.value = value
            self.expires = expires
        }
    }

    package let name: String
    package let store: any Store

    package init(_ name: String, in store: any Store) {
        self.name = name
        self.store = store
    }

    /// Keeps a new value, with a sync; false, and nothing changed, where a live one is.
    package func create(_ key: String, _ value: Value, expires: Moment? = nil, at now: Moment) async throws -> Bool {
        try await store.create(name, key, item(Entry(value, expires: expires)), at: now)
    }

    package func read(_ key: String, at now: Moment) async throws -> Value? {
        try await store.read(name, key, at: now).map(Self.entry)?.value
    }

    /// Whether there is one, without reading it.
    package func contains(_ key: String, at now: Moment) async throws -> Bool {
        try await store.read(name, key, at: now) != nil
    }

    /// Read, change, write as one step: nil in is none, nil out deletes.
    package func update<Result: Sendable>(
        _ key: String, at now: Moment, durable: Bool = false,
        _ change: @escaping @Sendable (inout Entry?) throws -> Result
    ) async throws -> Result {
        try await store.update(name, key, at: now, durable: durable) { item in
            var entry = try item.map(Self.entry)
            let result = try change(&entry)
            item = try entry.map(self.item)
            return result
        }
    }

    /// Reads and deletes: of many takers one gets the value.
    package func take(_ key: String, at now: Moment) async throws -> Value? {
        try await store.take(name, key, at: now).map(Self.entry)?.value
    }

    package func delete(_ key: String, at now: Moment) async throws { _ = try await store.take(name, key, at: now) }

    /// At most `limit` values in the order of their keys, from the first behind `key` on.
    package func list(
        after key: String? = nil, limit: Int, at now: Moment
    ) async throws -> [(key: String, value: Value)] {
        try await store.list(name, after: key, limit: limit, at: now).map { ($0.key, try Self.entry($0.item).value) }
    }

    private func item(_ entry: Entry) throws -> StoredItem {
        guard !store.keepsObjects else { return StoredItem(object: entry.value, expires: entry.expires) }
        return StoredItem(value: try JSON.bytes(entry.value), expires: entry.expires)
    }

    private static func entry(_ item: StoredItem) throws -> Entry {
        if let value = item.object as? Value { return Entry(value, expires: item.expires) }
        return Entry(try JSON.decode(from: item.value.span, fromAny: true), expires: item.expires)
    }
}

extension Store {
    /// A value that is made once and kept: `make` runs only where there is none.
    package func setting(_ name: String, orMake make: @escaping @Sendable () throws -> String) async throws -> String {
        let settings = Table<String>("setting", in: self)
        return try await settings.update(name, at: .now(), durable: true) { entry in
            if let entry { return entry.value }
            let value = try make()
            entry = .init(value)
            return value
        }
    }
}
