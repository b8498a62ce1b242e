/// Writes the members of a value as bytes, for items that every login reads and writes. A number takes 8 bytes,
/// little-endian; an optional moment 9 bytes; a flag 1 byte; a text or octets 4 bytes for their length, and then their
/// bytes (a text in UTF-8).
package struct Packer {
    package private(set) var bytes: [UInt8] = []

    /// Begins with a byte for the version of the members and their order, 1 to 31. No JSON text begins with such a
    /// byte.
    package init(version: UInt8, capacity: Int) {
        bytes.reserveCapacity(capacity)
        bytes.append(version)
    }

    package mutating func put(_ number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func put(_ number: Int) { put(Int64(number)) }

    package mutating func put(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    package mutating func put(_ moment: Moment) { put(moment.microseconds) }

    /// Writes 9 bytes, for nil as well as for a moment.
    package mutating func put(_ moment: Moment?) {
        put(moment != nil)
        put(moment?.microseconds ?? 0)
    }

    package mutating func put(_ text: String) {
        let utf8 = text.utf8
        putCount(utf8.count)
        bytes.append(contentsOf: utf8)
    }

    package mutating func put(_ octets: [UInt8]) {
        putCount(octets.count)
        bytes.append(contentsOf: octets)
    }

    private mutating func putCount(_ count: Int) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: count).littleEndian) { bytes.append(contentsOf: $0) }
    }
}

/// Reads what a ``Packer`` has written. Throws ``StoreError/unusable(_:)`` for other bytes.
package struct Unpacker {
    private let bytes: [UInt8]
    private var next = 1

    /// Reads packed bytes. Nil if they are JSON, which earlier versions of this program wrote. Throws for another
    /// `version`.
    package init?(_ bytes: [UInt8], version: UInt8) throws {
        guard let first = bytes.first, first < 32 else { return nil }
        guard first == version else { throw Self.foreign }
        self.bytes = bytes
    }

    /// Whether all members are read. A record that an earlier version wrote may have fewer members.
    package var isAtEnd: Bool { next == bytes.count }

    package mutating func number() throws -> Int64 {
        var number = UInt64(0)
        for (shift, byte) in try take(8).enumerated() { number |= UInt64(byte) << UInt64(8 * shift) }
        return Int64(bitPattern: number)
    }

    package mutating func count() throws -> Int {
        guard let count = Int(exactly: try number()), count >= 0 else { throw Self.foreign }
        return count
    }

    package mutating func flag() throws -> Bool { try take(1).first == 1 }

    package mutating func moment() throws -> Moment { Moment(microseconds: try number()) }

    package mutating func optionalMoment() throws -> Moment? {
        let (isThere, moment) = (try flag(), try moment())
        return isThere ? moment : nil
    }

    package mutating func text() throws -> String { String(decoding: try take(try length()), as: UTF8.self) }

    package mutating func octets() throws -> [UInt8] { Array(try take(try length())) }

    private mutating func length() throws -> Int {
        try take(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
        guard count <= bytes.count - next else { throw Self.foreign }
        defer { next += count }
        return bytes[next..<next + count]
    }

    private static let foreign = StoreError.unusable("an item that this version cannot read")
}
