// Public so that the compiler specialises it for other modules; it is no API.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

package import MPinWire

/// Writes the members of a value as bytes, for items that every login reads and writes. A number takes 8 bytes,
/// little-endian; an optional moment 9 bytes; a flag 1 byte; a text or octets 4 bytes for their length, and then their
/// bytes (a text in UTF-8).
public struct Packer {
    public private(set) var bytes: [UInt8] = []

    /// Begins with a byte for the version of the members and their order, 1 to 31. No JSON text begins with such a
    /// byte.
    public init(version: UInt8, capacity: Int) {
        bytes.reserveCapacity(capacity)
        bytes.append(version)
    }

    /// Begins members that will be appended to those of another packer.
    public init(appendedWith capacity: Int) { bytes.reserveCapacity(capacity) }

    public mutating func put(_ number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    public mutating func put(_ number: Int) { put(Int64(number)) }

    public mutating func put(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    public mutating func put(_ moment: Moment) { put(moment.microseconds) }

    /// Writes 9 bytes, for nil as well as for a moment.
    public mutating func put(_ moment: Moment?) {
        put(moment != nil)
        put(moment?.microseconds ?? 0)
    }

    public mutating func put(_ text: String) {
        let utf8 = text.utf8
        putCount(utf8.count)
        bytes.append(contentsOf: utf8)
    }

    public mutating func put(_ octets: [UInt8]) {
        putCount(octets.count)
        bytes.append(contentsOf: octets)
    }

    /// Writes a flag, and the text if there is one.
    public mutating func put(_ text: String?) {
        put(text != nil)
        if let text { put(text) }
    }

    /// Writes the number of the texts in 8 bytes, and then the texts.
    public mutating func put(_ texts: [String]) {
        put(texts.count)
        for text in texts { put(text) }
    }

    @inlinable
    public mutating func put(_ value: some Packable) throws { try value.pack(into: &self) }

    /// Writes a flag, and the value if there is one.
    @inlinable
    public mutating func put(_ value: (some Packable)?) throws {
        put(value != nil)
        if let value { try put(value) }
    }

    private mutating func putCount(_ count: Int) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: count).littleEndian) { bytes.append(contentsOf: $0) }
    }
}

/// Reads what a ``Packer`` has written. Throws ``StoreError/unusable(_:)`` for other bytes.
public struct Unpacker {
    private let bytes: [UInt8]
    private var next = 1

    /// Reads packed bytes. Nil if they are JSON, which earlier versions of this program wrote. Throws for another
    /// `version`.
    public init?(_ bytes: [UInt8], version: UInt8) throws {
        guard let first = bytes.first, first < 32 else { return nil }
        guard first == version else { throw Self.foreign }
        self.bytes = bytes
    }

    /// Whether all members are read. A record that an earlier version wrote may have fewer members.
    public var isAtEnd: Bool { next == bytes.count }

    public mutating func number() throws -> Int64 {
        try take(8).withUnsafeBytes { Int64(littleEndian: $0.loadUnaligned(as: Int64.self)) }
    }

    public mutating func count() throws -> Int {
        guard let count = Int(exactly: try number()), count >= 0 else { throw Self.foreign }
        return count
    }

    public mutating func flag() throws -> Bool { try take(1).first == 1 }

    public mutating func moment() throws -> Moment { Moment(microseconds: try number()) }

    public mutating func optionalMoment() throws -> Moment? {
        let (isThere, moment) = (try flag(), try moment())
        return isThere ? moment : nil
    }

    public mutating func text() throws -> String { String(decoding: try take(try length()), as: UTF8.self) }

    public mutating func octets() throws -> [UInt8] { Array(try take(try length())) }

    public mutating func optionalText() throws -> String? { try flag() ? text() : nil }

    public mutating func texts() throws -> [String] {
        var texts: [String] = []
        for _ in 0..<(try count()) { texts.append(try text()) }
        return texts
    }

    @inlinable
    public mutating func value<Value: Packable>(_ type: Value.Type = Value.self) throws -> Value {
        try Value(packed: &self)
    }

    @inlinable
    public mutating func optionalValue<Value: Packable>(_ type: Value.Type = Value.self) throws -> Value? {
        try flag() ? value() : nil
    }

    private mutating func length() throws -> Int {
        try take(4).withUnsafeBytes { Int(UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self))) }
    }

    private mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
        guard count <= bytes.count - next else { throw Self.foreign }
        defer { next += count }
        return bytes[next..<next + count]
    }

    /// The error for members that no version of this program has written.
    public static let foreign = StoreError.unusable("an item that this version cannot read")
}

/// A value that can be a member of a packed item.
public protocol Packable {
    /// Reads the members in the order in which ``pack(into:)`` writes them.
    init(packed members: inout Unpacker) throws

    func pack(into members: inout Packer) throws
}

/// An item that is stored in packed form. Items that an earlier version of this program wrote as JSON are still read.
public protocol PackedItem: Packable, Storable, Decodable {}

extension PackedItem {
    @inlinable
    public init(stored bytes: [UInt8]) throws {
        guard var members = try Unpacker(bytes, version: 1) else {
            self = try decoded(fromJSON: bytes)
            return
        }
        try self.init(packed: &members)
    }

    @inlinable
    public func stored() throws -> [UInt8] {
        var members = Packer(version: 1, capacity: 512)
        try pack(into: &members)
        return members.bytes
    }
}

@usableFromInline
func decoded<Item: Decodable>(fromJSON bytes: [UInt8]) throws -> Item { try JSON.decode(from: bytes.span) }

extension PackedItem where Self: Encodable {
    /// Returns a stored item as JSON, for a person to read. Nil if the bytes are no such item.
    package static func json(stored bytes: [UInt8]) -> JSONValue? {
        guard let item = try? Self(stored: bytes), let text = try? JSON.bytes(item) else { return nil }
        return try? JSON.decode(from: text.span)
    }
}
