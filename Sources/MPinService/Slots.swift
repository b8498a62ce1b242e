package import MPinSecrets

/// A fixed number of slots for data of unregistered IDs, because anybody can invent any number of IDs. A secret key
/// decides which ID gets which slot, so that nobody can choose the slot of another ID. A new entry replaces the one in
/// its slot.
package struct Slots: Sendable {
    private let key: SecretBytes
    private let mask: UInt32

    /// Makes 2^`bits` slots.
    package init(bits: Int, key: SecretBytes) {
        self.key = key
        mask = (1 << UInt32(bits)) &- 1
    }

    /// The name of the slot for `hash`.
    package func key(_ hash: [UInt8]) -> String {
        let tag = HMACSHA256.tag(Array("libmpin slot".utf8) + hash, key: key)
        let number = tag.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return String(number & mask)
    }
}
