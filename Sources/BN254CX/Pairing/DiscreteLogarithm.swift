/// Finds small discrete logarithms in GT by baby steps and giant steps. The key of an entry in the table is the value's
/// coefficient of w^0. A value and its inverse, which is the conjugate, have the same key, so one look-up finds both
/// signs of an exponent. Variable time.
package struct DiscreteLogarithm {
    private static let slots = 2048

    private let base: GT
    private let bound: Int
    private let steps: Int
    private let table: Limbs
    private let work: GT
    private let stride: GT
    private let inverseStride: GT
    private let power: GT
    private let scratch: Limbs

    /// The number of limbs that the search takes from an arena, including its scratch.
    package static var scratch: Int { slots &+ 4 &* GT.count &+ 4 &+ max(GT.scratch, GT.powerScratch) }

    /// Makes the table for exponents n with |n| <= bound, where bound is at most 10^6. The table contains base^1 ...
    /// base^steps, where steps is about sqrt(bound).
    ///
    /// A slot of the table contains the low 48 bits of the key (of its representative below p) and 16 bits with the
    /// exponent; an empty slot is 0. At least half of the slots are empty.
    package init(base: GT, bound: Int, _ arena: inout Arena) {
        self.base = base
        self.bound = bound
        steps = min(1024, max(1, Int(Double(bound).squareRoot())))
        table = arena.take(DiscreteLogarithm.slots)
        work = arena.gt()
        stride = arena.gt()
        inverseStride = arena.gt()
        power = arena.gt()
        scratch = arena.scratch
        zeroLimbs(table, DiscreteLogarithm.slots)
        work.setOne()
        for exponent in 1...steps {
            work.multiply(work, base, scratch)
            insert(exponent)
        }
        stride.square(work, scratch)
        stride.multiply(stride, base, scratch)  // base^(2 steps + 1)
        inverseStride.invert(stride)
    }

    /// Finds the n with |n| <= bound and value = base^n. Nil if there is none. Takes about bound/steps products in
    /// Fp12.
    package func findVartime(_ value: GT) -> Int? {
        find(value, giantStep: inverseStride, sign: 1) ?? find(value, giantStep: stride, sign: -1)
    }

    /// Looks up value * giantStep^0, value * giantStep^1, ... in the table. If value * giantStep^giant = base^small
    /// with |small| <= steps, the result is small + sign * giant * (2 steps + 1).
    private func find(_ value: GT, giantStep: GT, sign: Int) -> Int? {
        let width = 2 &* steps &+ 1
        work.copy(value)
        for giant in 0...(bound &+ steps) / width {
            if giant > 0 { work.multiply(work, giantStep, scratch) }
            guard let small = smallLogarithm() else { continue }
            let n = small &+ sign &* giant &* width
            if n.magnitude <= bound { return n }
        }
        return nil
    }

    /// Finds the n with |n| <= steps and work = base^n in the table. Nil if there is none.
    private func smallLogarithm() -> Int? {
        if work.isOne(scratch) { return 0 }
        let key = key()
        var slot = Int(truncatingIfNeeded: key) & (DiscreteLogarithm.slots &- 1)
        while table[slot] != 0 {
            if table[slot] &>> 16 == key, let n = signed(Int(truncatingIfNeeded: table[slot] & 0xFFFF)) { return n }
            slot = (slot &+ 1) & (DiscreteLogarithm.slots &- 1)
        }
        return nil
    }

    /// Returns the n of `exponent` and `-exponent` for which work = base^n. Nil if this holds for neither, because
    /// different values may have equal keys.
    private func signed(_ exponent: Int) -> Int? {
        let scalar = Scalar(scratch)
        zeroLimbs(scalar.limbs, Scalar.count)
        scalar.limbs[0] = Limb(truncatingIfNeeded: exponent)
        power.power(base, by: scalar, bits: 16, scratch + Scalar.count)
        if power.equals(work, scratch) { return exponent }
        power.invert(power)
        return power.equals(work, scratch) ? -exponent : nil
    }

    private func insert(_ exponent: Int) {
        let key = key()
        var slot = Int(truncatingIfNeeded: key) & (DiscreteLogarithm.slots &- 1)
        while table[slot] != 0 { slot = (slot &+ 1) & (DiscreteLogarithm.slots &- 1) }
        table[slot] = key &<< 16 | Limb(truncatingIfNeeded: exponent)
    }

    /// The key of `work`: the low 48 bits of the representative below p of the coefficient of w^0 (its real part).
    private func key() -> Limb {
        Fp.canonical(scratch, work.limbs)
        return scratch[0] & 0xFFFF_FFFF_FFFF
    }
}
