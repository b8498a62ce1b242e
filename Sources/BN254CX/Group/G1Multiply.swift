import CGMP

extension G1 {
    /// Limbs of scratch that `multiply` uses.
    package static var multiplyScratch: Int { 16 &* G1.count &+ 2 &* G1.count &+ G1.scratch }

    /// self = k p for k < 2^bits, bits in 1...256; time depends on `bits` alone.
    ///
    /// Fixed windows from the top: a table of 2^w multiples, w doublings and one complete addition for each window, the
    /// table read by mpn_sec_tabselect, which touches every entry. Windows of two bits for a PIN, of four for a scalar:
    /// 14 bits cost 13 doublings and 7 additions, 256 bits 259 and 70.
    package func multiply(_ p: G1, by k: Scalar, bits: Int, _ s: Limbs) {
        let width = bits <= 32 ? 2 : 4
        let table = s, entries = 1 &<< width
        let chosen = G1(s + 16 &* G1.count), sum = G1(s + 17 &* G1.count), t = s + 18 &* G1.count
        G1.fillTable(table, entries, p, t)
        var position = (bits &+ width &- 1) / width &* width &- width
        sum.select(table, entries, k.window(at: position, width: width))
        while position > 0 {
            position &-= width
            for _ in 0..<width { sum.double(sum, t) }
            chosen.select(table, entries, k.window(at: position, width: width))
            sum.add(sum, chosen, t)
        }
        copy(sum)
    }

    /// table = 0, p, 2p, ...
    private static func fillTable(_ table: Limbs, _ entries: Int, _ p: G1, _ s: Limbs) {
        G1(table).setInfinity()
        G1(table + G1.count).copy(p)
        var k = 2
        while k < entries {
            let entry = G1(table + k &* G1.count)
            if k & 1 == 0 {
                entry.double(G1(table + k / 2 &* G1.count), s)
            } else {
                entry.add(G1(table + (k &- 1) &* G1.count), p, s)
            }
            k &+= 1
        }
    }

    /// self = table[index], reading all entries.
    @inline(__always)
    private func select(_ table: Limbs, _ entries: Int, _ index: UInt) {
        __gmpn_sec_tabselect(limbs, table, G1.count, entries, Int(bitPattern: index))
    }
}
