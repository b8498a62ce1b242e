// Public so that the compiler specialises it for other modules; it is no API.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// A form of a ``NamedChange`` that writes without reading first. An engine on another machine makes such a change in
/// one trip, where a closure needs two. Other engines do not use it.
///
/// A blind form cannot decide anything. Instead it appends what is to be done to an item's bytes, and whoever reads
/// these bytes does it, in the order in which it was appended, before it looks at the value. So the rules of a change
/// exist once, and every reader comes to the same result.
public struct BlindForm<Outcome: Sendable>: Sendable {
    /// The writes, which are made together or not at all.
    public let writes: [BlindWrite]
    /// Where the items are in the order in which an engine locks those of several changes. All changes of an item name the
    /// same place. Nil: at their keys, or the slot of ``BlindWrite/appendOrFill(_:_:slot:beginning:first:)``.
    public let place: ItemKey?
    /// Whether the outcome needs what is in the items. If not, it may get values as an engine keeps them, because a store need
    /// not check what nobody reads (``BoundStore``).
    public let readsItems: Bool
    /// Returns the outcome, given the result of each write. Nil if the change must be made by its closure after all;
    /// then no write may have changed anything.
    public let outcome: @Sendable ([BlindWrite.Result?]) throws -> Outcome?

    public init(
        _ writes: [BlindWrite], place: ItemKey? = nil, readsItems: Bool = true,
        outcome: @escaping @Sendable ([BlindWrite.Result?]) throws -> Outcome?
    ) {
        self.writes = writes
        self.place = place
        self.readsItems = readsItems
        self.outcome = outcome
    }
}

/// A write that does not depend on what was read before ("blind write").
public enum BlindWrite: Sendable {
    /// Stores the item, whatever there is under the key.
    case put(ItemKey, StoredItem)
    /// Appends bytes to the value of an item. If there is no item, stores `otherwise`. The item then expires when
    /// `otherwise` does; if that is nil, its expiry does not change.
    case append(ItemKey, [UInt8], otherwise: StoredItem?)
    /// Appends bytes to the value of an item. If there is no item, appends them to the one in `slot`; but if that does not
    /// exist, or begins with other bytes than `beginning`, first replaces it by `first`.
    /// Neither item may expire.
    case appendOrFill(ItemKey, [UInt8], slot: ItemKey, beginning: [UInt8], first: [UInt8])
    /// Stores `new` if the item is still stored as `old` (``Result/stored``). The expiry does not change.
    case replace(ItemKey, old: [UInt8], new: [UInt8])
    /// Deletes an item whose value begins with these bytes.
    case take(ItemKey, beginning: [UInt8])
    /// Reads an item after the writes before this one.
    case look(ItemKey)

    /// The item after a write, or the one that was deleted. There is no result if the write found nothing to change.
    public struct Result: Sendable, Equatable {
        public let key: ItemKey
        public let item: StoredItem
        /// The bytes that the engine keeps as the value of the item, which have more than the value if the items are bound to
        /// their places (``BoundStore``).
        public let stored: [UInt8]

        public init(_ key: ItemKey, _ item: StoredItem, stored: [UInt8]? = nil) {
            self.key = key
            self.item = item
            self.stored = stored ?? item.value
        }
    }
}

/// What each write does, as a change of items. Engines that make blind writes in their own way are tested against it.
extension BlindWrite {
    public func make(in items: inout Items) -> Result? {
        switch self {
        case .put(let key, let item): return Self.store(item, key, &items)
        case .append(let key, let bytes, let otherwise):
            if let found = items[key] {
                let expires = otherwise == nil ? found.expires : otherwise?.expires
                return Self.store(StoredItem(value: found.value + bytes, expires: expires), key, &items)
            } else {
                return otherwise.flatMap { Self.store($0, key, &items) }
            }
        case .appendOrFill(let key, let bytes, let slot, let beginning, let first):
            let place = items[key] == nil ? slot : key
            let found = items[place].flatMap { place == key || $0.value.starts(with: beginning) ? $0.value : nil }
            return Self.store(StoredItem(value: (found ?? first) + bytes), place, &items)
        case .replace(let key, let old, let new):
            guard let found = items[key], found.value == old else { return nil }
            return Self.store(StoredItem(value: new, expires: found.expires), key, &items)
        case .take(let key, let beginning):
            guard let found = items[key], found.value.starts(with: beginning) else { return nil }
            items[key] = nil
            return Result(key, found)
        case .look(let key): return items[key].map { Result(key, $0) }
        }
    }

    /// The keys of the items that the write may touch.
    public var keys: [ItemKey] {
        switch self {
        case .put(let key, _), .append(let key, _, _), .replace(let key, _, _), .take(let key, _), .look(let key): [key]
        case .appendOrFill(let key, _, let slot, _, _): [key, slot]
        }
    }

    private static func store(_ item: StoredItem, _ key: ItemKey, _ items: inout Items) -> Result {
        items[key] = item
        return Result(key, item)
    }
}
