// Public so that the compiler specialises it for other modules; it is no API.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import MPinWire

/// A value that a table stores as bytes. A type that gets new members must still read bytes that were stored without
/// them.
public protocol Storable: Sendable {
    init(stored bytes: [UInt8]) throws

    func stored() throws -> [UInt8]
}

/// The default form is JSON. Types that every login reads have a packed form.
extension Storable where Self: Codable {
    public init(stored bytes: [UInt8]) throws { self = try JSON.decode(from: bytes.span, fromAny: true) }

    public func stored() throws -> [UInt8] { try JSON.bytes(self) }
}

/// A text is stored as JSON. Names have no character that JSON escapes, so they are read without its parser.
extension String: Storable {
    public init(stored bytes: [UInt8]) throws {
        let text = bytes.dropFirst().dropLast()
        let quote = UInt8(ascii: "\"")
        let isPlain = text.allSatisfy { (0x20...0x7e).contains($0) && $0 != quote && $0 != UInt8(ascii: "\\") }
        guard bytes.count > 1, bytes.first == quote, bytes.last == quote, isPlain else {
            self = try JSON.decode(from: bytes.span, fromAny: true)
            return
        }
        self = String(decoding: text, as: UTF8.self)
    }

    public func stored() throws -> [UInt8] { try JSON.bytes(JSONValue.string(self)) }
}

extension Bool: Storable {}
extension Array: Storable where Element: Storable & Codable {}

/// The items of one type in a store. Functions that every login calls are inlinable, so that they are compiled for each
/// type: without that they would look up the type's functions in each call. The compiler does so across modules only for
/// what is public.
public struct Table<Value: Storable>: Sendable {
    /// A value and when it expires; nil: never.
    public struct Entry: Sendable {
        public var value: Value
        public var expires: Moment?

        public init(_ value: Value, expires: Moment? = nil) {
            self.value = value
            self.expires = expires
        }
    }

    public let name: String
    public let store: any Store

    public init(_ name: String, in store: any Store) {
        self.name = name
        self.store = store
    }

    @inlinable
    public func key(_ key: String) -> ItemKey { ItemKey(name, key) }

    /// Stores a new value with ``Durability/durable``. False, and nothing is changed, if there is one under this key.
    @inlinable
    public func create(_ key: String, _ value: Value, expires: Moment? = nil, at now: Moment) async throws -> Bool {
        try await store.create(self.key(key), try Self.item(Entry(value, expires: expires)), at: now)
    }

    @inlinable
    public func read(_ key: String, at now: Moment) async throws -> Value? {
        try await store.read(self.key(key), at: now).map(Self.entry)?.value
    }

    /// Whether there is a value, without decoding it.
    public func contains(_ key: String, at now: Moment) async throws -> Bool {
        try await store.read(self.key(key), at: now) != nil
    }

    /// Reads, changes and stores a value as one step. A nil entry means that there is no value; setting nil deletes it.
    @inlinable
    public func update<Result: Sendable>(
        _ key: String, at now: Moment, _ durability: Durability = .ordered,
        _ change: @escaping @Sendable (inout Entry?) throws -> Result
    ) async throws -> Result {
        try await store.update(self.key(key), at: now, durability) { item in
            try Self.change(&item, change)
        }
    }

    /// Reads and deletes a value. Of several callers only one gets it; the others get nil.
    @inlinable
    public func take(_ key: String, at now: Moment) async throws -> Value? {
        try await store.take(self.key(key), at: now).map(Self.entry)?.value
    }

    /// Deletes a value without decoding it.
    public func delete(_ key: String, at now: Moment) async throws { _ = try await store.take(self.key(key), at: now) }

    /// At most `limit` values in the order of their keys, beginning after `key`, or with the first if it is nil.
    public func list(
        after key: String? = nil, limit: Int, at now: Moment
    ) async throws -> [(key: String, value: Value)] {
        try await store.list(name, after: key, limit: limit, at: now).map { ($0.key, try Self.entry($0.item).value) }
    }

    /// All values whose keys start with `prefix`, in the order of their keys, read page by page.
    public func all(startingWith prefix: String = "", at now: Moment) async throws -> [(key: String, value: Value)] {
        let pageSize = 200
        var found: [(key: String, value: Value)] = []
        while true {
            let last = found.last?.key ?? (prefix.isEmpty ? nil : prefix)
            let page = try await list(after: last, limit: pageSize, at: now).prefix { $0.key.hasPrefix(prefix) }
            found += page
            guard page.count == pageSize else { return found }
        }
    }

    /// Changes one item of a transaction, as ``update(_:at:_:_:)`` does.
    @inlinable
    public static func change<Result>(
        _ item: inout StoredItem?, _ change: (inout Entry?) throws -> Result
    ) throws -> Result {
        var entry = try item.map(Self.entry)
        let result = try change(&entry)
        item = try entry.map(Self.item)
        return result
    }

    @inlinable
    public static func item(_ entry: Entry) throws -> StoredItem {
        StoredItem(value: try entry.value.stored(), expires: entry.expires)
    }

    /// Throws ``StoreError/unavailable(_:)`` if the item is not a value: the database, or who speaks for it, has damaged it,
    /// and nobody can say whether for long.
    @inlinable
    public static func entry(_ item: StoredItem) throws -> Entry {
        let value: Value
        do { value = try Value(stored: item.value) } catch {
            throw StoreError.unavailable("a stored \(Value.self) that cannot be read: \(error)")
        }
        return Entry(value, expires: item.expires)
    }
}

extension Store {
    /// The setting called `name`. If there is none, it stores the value that `make` returns; but if another process has
    /// stored one first, that one is kept and returned.
    public func setting(_ name: String, orMake make: @Sendable () throws -> String) async throws -> String {
        let settings = Table<String>("setting", in: self)
        if let kept = try await settings.read(name, at: .now()) { return kept }
        let value = try make()
        return try await settings.update(name, at: .now(), .durable) { entry in
            if let entry { return entry.value }
            entry = .init(value)
            return value
        }
    }
}
