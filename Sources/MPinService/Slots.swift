package import MPinSecrets

/// A fixed number of places for what strangers can make without end. Who gets which place depends on a key, so that
/// nobody can aim at a place; a newcomer takes the place of who is there.
package struct Slots: Sendable {
    private let key: SecretBytes
    private let mask: UInt32

    /// 2^`bits` places.
    package init(bits: Int, key: SecretBytes) {
        self.key = key
        mask = (1 << UInt32(bits)) &- 1
    }

    /// The key of the place for `hash`.
    package func key(_ hash: [UInt8]) -> String {
        let tag = HMACSHA256.tag(Array("libmpin slot".utf8) + hash, key: key)
        let number = tag.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return String(number & mask)
    }
}
