/// What a store keeps under a key.
package struct StoredItem: Sendable, Equatable {
    package var value: [UInt8]
    /// The value as it is, in the place of its bytes: for a store that keeps objects.
    var object: (any Sendable)?
    /// From then on the item is as good as deleted; nil: never.
    package var expires: Moment?

    package init(value: [UInt8], expires: Moment? = nil) {
        self.value = value
        self.expires = expires
    }

    init(object: any Sendable, expires: Moment?) {
        self.init(value: [], expires: expires)
        self.object = object
    }

    /// An object equals nothing: nobody can tell.
    package static func == (left: StoredItem, right: StoredItem) -> Bool {
        left.object == nil && right.object == nil && left.value == right.value && left.expires == right.expires
    }

    func isLive(at now: Moment) -> Bool { expires.map { $0 > now } ?? true }
}

/// The state of a server: named tables of items. What the items mean is written above it, once for every kind of store
/// (``Table``).
///
/// Every function is one transaction: it happens whole or not at all, and no two of one store overlap. What it answers
/// for survives the end of the process where the store lies in a file; with a sync it survives a power failure, too.
///
/// Table names match `[a-z0-9_]+`; keys are any text and lie in the order of their UTF-8 bytes.
package protocol Store: Sendable {
    /// Whether items are handed over as objects, which spares their way through JSON.
    var keepsObjects: Bool { get }

    /// Keeps a new item, with a sync; false, and nothing changed, where a live one is.
    func create(_ table: String, _ key: String, _ item: StoredItem, at now: Moment) async throws -> Bool

    func read(_ table: String, _ key: String, at now: Moment) async throws -> StoredItem?

    /// Read, change, write as one step: nil in is none, nil out deletes. What `change` throws is passed on, and nothing
    /// is changed. `durable`: with a sync, which also brings what was written before to the disk.
    func update<Result: Sendable>(
        _ table: String, _ key: String, at now: Moment, durable: Bool,
        _ change: @escaping @Sendable (inout StoredItem?) throws -> Result
    ) async throws -> Result

    /// Reads and deletes: of many takers one gets the item.
    func take(_ table: String, _ key: String, at now: Moment) async throws -> StoredItem?

    /// At most `limit` items in the order of their keys, from the first behind `key` on.
    func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)]

    /// Deletes what has expired; the number of items.
    func collect(at now: Moment) async throws -> Int
}

extension Store {
    package var keepsObjects: Bool { false }
}
