import CGMP

extension GT {
    /// The number of limbs of scratch that `power` uses.
    package static var powerScratch: Int {
        max(17 &* count, 12 &* count &+ SignAlignedDigits.count) &+ max(Fp12.scratch, ScalarSplit4.scratch)
    }

    /// self = a^k for k < 2^bits with bits in 1...256. The time depends on `bits` only. If bits is above 64, the order
    /// of `a` must be r or 1, as every value of the pairing has.
    package func power(_ a: GT, by k: Scalar, bits: Int, _ s: Limbs) {
        if bits <= 64 { shortPower(a, by: k, bits: bits, s) } else { longPower(a, by: k, s) }
    }

    /// self = a^k for a short k. The exponent is divided into windows of four bits, and mpn_sec_tabselect reads the
    /// power of each window from a table in constant time. 16 bits take 12 squarings and 17 products.
    private func shortPower(_ a: GT, by k: Scalar, bits: Int, _ s: Limbs) {
        let table = s, chosen = GT(s + 16 &* GT.count), t = s + 17 &* GT.count
        GT(table).setOne()
        GT(table + GT.count).copy(a)
        for i in 2..<16 {
            GT(table + i &* GT.count).multiply(GT(table + (i &- 1) &* GT.count), GT(table + GT.count), t)
        }
        var position = (bits &+ 3) / 4 &* 4 &- 4
        select(table, 16, Int(truncatingIfNeeded: k.window(at: position, width: 4)))
        while position > 0 {
            position &-= 4
            for _ in 0..<4 { square(self, t) }
            chosen.select(table, 16, Int(truncatingIfNeeded: k.window(at: position, width: 4)))
            multiply(self, chosen, t)
        }
    }

    /// self = a^k as the product of a^k0, (a^p)^k1, (a^(p^2))^k2, (a^(p^3))^k3 with sign-aligned digits, as in
    /// `G2.multiply`: 64 squarings, 72 products and 3 Frobenius maps. Unlike additions of points, products have no
    /// exceptional cases.
    private func longPower(_ a: GT, by k: Scalar, _ s: Limbs) {
        let table = s, points = s + 8 &* GT.count
        let digits = SignAlignedDigits(limbs: s + 12 &* GT.count), t = digits.limbs + SignAlignedDigits.count
        let (k0, k1, k2, k3) = ScalarSplit4.split(k, t)
        digits.recode(k0.magnitude, k1.magnitude, k2.magnitude, k3.magnitude)
        GT(points).copy(a)
        GT(points + GT.count).value.frobenius(a.value, t)
        GT(points + 2 &* GT.count).value.frobenius2(a.value, t)
        GT(points + 3 &* GT.count).value.frobenius3(a.value, t)
        GT(points).invert(mask: k0.minus)
        GT(points + GT.count).invert(mask: k1.minus)
        GT(points + 2 &* GT.count).invert(mask: k2.minus)
        GT(points + 3 &* GT.count).invert(mask: k3.minus)
        GT.fillTable(table, points, t)
        select(table, 8, digits.index(64))
        let chosen = GT(points + GT.count)
        for i in stride(from: 63, through: 0, by: -1) {
            square(self, t)
            chosen.select(table, 8, digits.index(i))
            chosen.invert(mask: digits.minusMask(i))
            multiply(self, chosen, t)
        }
        GT(points).invert(mask: ~Limb(0))
        chosen.multiply(self, GT(points), t)
        selectLimbs(limbs, chosen.limbs, GT.count, mask: (Limb(truncatingIfNeeded: k0.magnitude) & 1) &- 1)
    }

    /// Computes the table: entry e is points[0] times all points[j + 1] for which bit j of e is set. 7 products.
    private static func fillTable(_ table: Limbs, _ points: Limbs, _ s: Limbs) {
        GT(table).copy(GT(points))
        for index in 1..<8 {
            let top = index >= 4 ? 2 : index >= 2 ? 1 : 0
            let rest = GT(table + (index ^ 1 &<< top) &* GT.count)
            GT(table + index &* GT.count).multiply(rest, GT(points + (top &+ 1) &* GT.count), s)
        }
    }

    /// self = 1/self if the mask is all ones: the coefficients of the odd powers of w change their sign.
    @inline(__always)
    private func invert(mask: Limb) {
        for i in 0..<6 {
            let part = value.c1.limbs + 4 &* i
            Fp.negateLazily(part, mask: mask)
            Fp.normalise(part)
        }
    }

    /// self = table[index]. All entries are read, so that the memory accesses do not depend on `index`.
    @inline(__always)
    private func select(_ table: Limbs, _ entries: Int, _ index: Int) {
        __gmpn_sec_tabselect(limbs, table, GT.count, entries, index)
    }
}
