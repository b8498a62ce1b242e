/// An item as the server keeps it: 8 bytes for its expiry, and its value.
struct RedisItem {
    let bytes: [UInt8]
    let item: StoredItem

    /// How many seconds the server keeps an item after its expiry. The caller decides whether it has expired, and the
    /// clocks of callers may differ by 20 seconds.
    private static let seconds: Int64 = 30

    init(_ item: StoredItem) {
        self.item = item
        bytes = withUnsafeBytes(of: (item.expires?.microseconds ?? .max).bigEndian, Array.init) + item.value
    }

    /// Nil if there are fewer than 8 bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 8 else { return nil }
        let expiry = Int64(truncatingIfNeeded: bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        self.bytes = bytes
        item = StoredItem(
            value: Array(bytes.dropFirst(8)), expires: expiry == .max ? nil : Moment(microseconds: expiry))
    }

    func live(at now: Moment) -> StoredItem? { item.isLive(at: now) ? item : nil }

    /// The milliseconds after which the server may delete an item; 0: never. It is a span of time, so that it does not
    /// matter what the server's clock says.
    static func milliseconds(_ expires: Moment?, from now: Moment) -> Int64 {
        guard let expires else { return 0 }
        return max(1, (expires.microseconds &- now.microseconds) / 1000 &+ seconds * 1000)
    }
}

extension BlindWrite {
    /// The arguments of ``RedisScript/write``.
    func words(at now: Moment) -> [RedisCommands.Word] {
        func item(_ item: StoredItem) -> [RedisCommands.Word] {
            [.bytes(RedisItem(item).bytes), .number(RedisItem.milliseconds(item.expires, from: now))]
        }
        return switch self {
        case .put(_, let stored): [.text("put")] + item(stored)
        case .append(_, let bytes, nil): [.text("append"), .bytes(bytes)]
        case .append(_, let bytes, let otherwise?): [.text("appendOrPut"), .bytes(bytes)] + item(otherwise)
        case .appendOrFill(_, let bytes, _, let beginning, let first):
            [.text("appendOrFill"), .bytes(bytes), .bytes(beginning), .bytes(first)]
        case .replace(_, let old, let new): [.text("replace"), .bytes(old), .bytes(new)]
        case .take(_, let beginning): [.text("take"), .bytes(beginning)]
        case .look: [.text("look")]
        }
    }
}
