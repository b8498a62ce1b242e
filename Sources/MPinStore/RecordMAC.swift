package import MPinSecrets

/// Binds the value of an item to its place by a message authentication code (MAC): somebody who can write to the store, but
/// does not have the key, can neither change a value nor put it under another key.
///
/// A value is stored in parts: the value itself, and what was appended to it (``BlindWrite``). Behind each part stand 29
/// bytes: a MAC of 16 bytes, the expiry that the write has set (8 bytes, microseconds since 1970), the kind of the part (1
/// byte) and the number of its bytes (4 bytes, little-endian). The MAC covers the service, the place and all of these. So
/// the beginning of a stored value is that of the value, and all values of one length are stored in one length.
///
/// Whoever can write to the store can still delete an item, cut off what was appended, or put back an earlier state of the
/// same item.
package struct RecordMAC: Sendable {
    /// The place that the MAC of an appended part names. It is the key of an M-Pin ID, also where the part was appended to
    /// the slot of an unknown one: when it is made, nobody knows which of both it will be.
    package typealias Owner = @Sendable (_ place: ItemKey, _ value: [UInt8]) -> ItemKey

    /// A value whose MAC is missing or wrong.
    package struct Refused: Error {}

    private let hash: KeyedHash
    private let owner: Owner

    /// `secret`: a key of 32 bytes, from which that of the MACs is derived. `service`: the id of the service, whose items no
    /// other service takes for its own.
    package init(secret: SecretBytes, service: String, owner: @escaping Owner = { place, _ in place }) {
        hash = KeyedHash(from: secret, purpose: "libmpin MAC of records\n\(service)")
        self.owner = owner
    }

    /// The kinds of a part.
    private enum Kind: UInt8 {
        case value = 1
        case appended = 2
    }

    /// Stands for the expiry where a write does not set one, or does not know it.
    private static let unchanged = Int64.min
    private static let never = Int64.max

    private static let size = KeyedHash.size + 8 + 1 + 4
}

extension RecordMAC {
    /// The item as it is stored at its place.
    package func bound(_ item: StoredItem, at place: ItemKey) -> StoredItem {
        let value = part(item.value, .value, expiry: item.expires?.microseconds ?? Self.never, place)
        return StoredItem(value: value, expires: item.expires)
    }

    /// A value that takes the place of another one whose expiry it keeps.
    func bound(replacing value: [UInt8], at place: ItemKey) -> [UInt8] {
        part(value, .value, expiry: Self.unchanged, place)
    }

    /// Bytes that are appended to the item of `owner`. With `otherwise`, the item then expires when that does.
    func appended(_ bytes: [UInt8], of owner: ItemKey, otherwise: StoredItem?) -> [UInt8] {
        let expiry = otherwise.map { $0.expires?.microseconds ?? Self.never }
        return part(bytes, .appended, expiry: expiry ?? Self.unchanged, owner)
    }

    private func part(_ bytes: [UInt8], _ kind: Kind, expiry: Int64, _ place: ItemKey) -> [UInt8] {
        var made: [UInt8] = []
        made.reserveCapacity(bytes.count + Self.size)
        made += bytes
        bytes.withUnsafeBytes { tag($0, kind, expiry, place) }.withBytes { made.append(contentsOf: $0) }
        withUnsafeBytes(of: expiry.littleEndian) { made.append(contentsOf: $0) }
        made.append(kind.rawValue)
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: bytes.count).littleEndian) { made.append(contentsOf: $0) }
        return made
    }

    /// The lengths stand before the texts, so that no two messages are the same bytes.
    private func tag(
        _ bytes: UnsafeRawBufferPointer, _ kind: Kind, _ expiry: Int64, _ place: ItemKey
    ) -> KeyedHash.Tag {
        let (table, key) = (place.table.utf8, place.key.utf8)
        return hash.tag(count: 25 + table.count + key.count + bytes.count) { message in
            message.storeBytes(of: kind.rawValue, as: UInt8.self)
            message.storeBytes(of: expiry.littleEndian, toByteOffset: 1, as: Int64.self)
            message.storeBytes(of: Int64(table.count).littleEndian, toByteOffset: 9, as: Int64.self)
            message.storeBytes(of: Int64(key.count).littleEndian, toByteOffset: 17, as: Int64.self)
            let rest = UnsafeMutableRawBufferPointer(rebasing: message[25...])
            rest.copyBytes(from: table)
            UnsafeMutableRawBufferPointer(rebasing: rest[table.count...]).copyBytes(from: key)
            UnsafeMutableRawBufferPointer(rebasing: rest[(table.count + key.count)...]).copyMemory(from: bytes)
        }
    }
}

extension RecordMAC {
    /// The item without MACs. Throws ``Refused`` for a MAC that is wrong; and, unless `takesPlain`, for a part without one.
    /// With `takesPlain`, the wrong MAC of an appended part cannot be told from plain bytes; who reads the value refuses them.
    package func opened(_ item: StoredItem, at place: ItemKey, takesPlain: Bool) throws -> StoredItem {
        let owner = owner(place, item.value)
        let found = try item.value.withUnsafeBytes { value in
            try parts(value, expires: item.expires, at: place, owner, takesPlain: takesPlain)
        }
        var opened = item
        if found.count == 1, let whole = found.first, whole.lowerBound == 0 {
            opened.value.removeLast(opened.value.count - whole.upperBound)
        } else {
            opened.value = found.reversed().flatMap { item.value[$0] }
        }
        return opened
    }

    /// The item without MACs, right or wrong. What does not look like parts with MACs is returned as it is.
    package static func stripped(_ item: StoredItem) -> StoredItem {
        var (found, end) = ([Range<Int>](), item.value.count)
        item.value.withUnsafeBytes { value in
            while end > 0, let last = form(value, endingAt: end) {
                found.append(last.bytes)
                end = last.bytes.lowerBound
            }
        }
        guard end == 0, !found.isEmpty else { return item }
        return StoredItem(value: found.reversed().flatMap { item.value[$0] }, expires: item.expires)
    }

    /// The parts of a stored value, from the last to the first.
    private func parts(
        _ value: UnsafeRawBufferPointer, expires: Moment?, at place: ItemKey, _ owner: ItemKey, takesPlain: Bool
    ) throws -> [Range<Int>] {
        var (found, end, isExpiryChecked) = ([Range<Int>](), value.count, false)
        while end > 0 {
            guard let last = part(value, endingAt: end, at: place, owner) else {
                guard takesPlain, Self.form(value, endingAt: end)?.kind != .value else { throw Refused() }
                end -= 1
                let next = found.last?.lowerBound == end + 1 ? found.popLast() : nil
                found.append(end..<(next?.upperBound ?? end + 1))
                continue
            }
            // The last write that has set the expiry has set the present one.
            if !isExpiryChecked, last.expiry != Self.unchanged {
                guard last.expiry == expires?.microseconds ?? Self.never else { throw Refused() }
                isExpiryChecked = true
            }
            found.append(last.bytes)
            end = last.bytes.lowerBound
        }
        guard takesPlain || !found.isEmpty else { throw Refused() }
        return found
    }

    /// The part that ends there, MAC included. Nil if there is none, or its MAC is wrong.
    private func part(
        _ value: UnsafeRawBufferPointer, endingAt end: Int, at place: ItemKey, _ owner: ItemKey
    ) -> Form? {
        guard let form = Self.form(value, endingAt: end) else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: value[form.bytes])
        let expected = tag(bytes, form.kind, form.expiry, form.kind == .value ? place : owner)
        let found = KeyedHash.Tag(UnsafeRawBufferPointer(rebasing: value[form.bytes.upperBound...]))
        return found == expected ? form : nil
    }

    /// A part without its MAC.
    private struct Form {
        let bytes: Range<Int>
        let kind: Kind
        let expiry: Int64
    }

    /// What looks like the part that ends there. Nil if nothing does.
    private static func form(_ value: UnsafeRawBufferPointer, endingAt end: Int) -> Form? {
        guard end >= size, let kind = Kind(rawValue: value[end - 5]) else { return nil }
        let length = Int(UInt32(littleEndian: value.loadUnaligned(fromByteOffset: end - 4, as: UInt32.self)))
        let count = end - size
        // A value is the first part, and nothing that was appended is.
        guard length <= count, (kind == .value) == (length == count) else { return nil }
        let expiry = Int64(littleEndian: value.loadUnaligned(fromByteOffset: end - 13, as: Int64.self))
        return Form(bytes: count - length..<count, kind: kind, expiry: expiry)
    }
}
