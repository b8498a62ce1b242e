import MPinSecrets

/// The random generator of Milagro's crypto library, with which recorded random values can be made again from their
/// seeds. It is a subtract-with-borrow generator (Marsaglia and Zaman, "A new class of random number generators", 1991)
/// of 21 words with lag 6, whose output is hashed 128 bytes at a time. It must not be used for secrets.
struct LegacyGenerator {
    private var words = [UInt32](repeating: 0, count: 21)
    private var borrow: UInt32 = 0
    private var position = 0
    private var pool: [UInt8] = []

    init(seed: [UInt8]) {
        let digest = SHA256.hash(seed)
        for i in 0..<8 {
            let word = digest[4 * i..<4 * i + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            stir(word)
        }
    }

    private mutating func stir(_ seed: UInt32) {
        var seed = seed, m: UInt32 = 1
        borrow = 0
        position = 0
        words[0] ^= seed
        for i in 1..<21 {
            words[8 * i % 21] ^= m
            (m, seed) = (seed &- m, m)
        }
        for _ in 0..<10_000 { _ = word() }
    }

    private mutating func word() -> UInt32 {
        position += 1
        if position < 21 { return words[position] }
        position = 0
        for i in 0..<21 {
            let t = words[(i + 15) % 21], difference = t &- words[i] &- borrow
            if difference != t { borrow = difference > t ? 1 : 0 }
            words[i] = difference
        }
        return words[0]
    }

    mutating func byte() -> UInt8 {
        if pool.isEmpty { pool = SHA256.hash((0..<128).map { _ in UInt8(truncatingIfNeeded: word()) }) }
        return pool.removeFirst()
    }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }

    /// Returns a number of 508 bits modulo `modulus`, which must have 254 bits. The bits of the number, from the
    /// highest to the lowest, are those of the next random bytes, from the lowest to the highest bit of each byte.
    mutating func number(below modulus: [UInt8]) -> [UInt8] {
        let modulus = limbs(modulus)
        var value: [UInt64] = [0, 0, 0, 0], bits: UInt8 = 0
        for i in 0..<508 {
            if i % 8 == 0 { bits = byte() }
            for k in (1..<4).reversed() { value[k] = value[k] << 1 | value[k - 1] >> 63 }
            value[0] = value[0] << 1 | UInt64(bits & 1)
            bits >>= 1
            let (difference, isBelow) = subtract(modulus, from: value)
            if !isBelow { value = difference }
        }
        return value.reversed().flatMap { limb in (0..<8).map { UInt8(truncatingIfNeeded: limb >> (56 - 8 * $0)) } }
    }

    private func limbs(_ bytes: [UInt8]) -> [UInt64] {
        (0..<4).reversed().map { i in bytes[8 * i..<8 * i + 8].reduce(0) { $0 << 8 | UInt64($1) } }
    }

    private func subtract(_ b: [UInt64], from a: [UInt64]) -> ([UInt64], isBelow: Bool) {
        var result = a, borrow = false
        for i in 0..<4 {
            let (first, under) = a[i].subtractingReportingOverflow(b[i])
            let (second, underAgain) = first.subtractingReportingOverflow(borrow ? 1 : 0)
            result[i] = second
            borrow = under || underAgain
        }
        return (result, borrow)
    }
}

/// The prime p of the field and the group order r, 32 bytes each.
enum Modulus {
    static let p = hexBytes("2400000008702a0db0bddf647a6366d3243fd6ee18093ee1be6623ef5c1b55b3")
    static let r = hexBytes("2400000008702a0db0bddf647a6366d2c43fd6ee0cc906cebe11c0a636eb1f6d")
}

func hexBytes(_ text: String) -> [UInt8] { Hex.decode(text) ?? [] }
