/// Small discrete logarithms in GT by baby steps and giant steps. The key of the table is the coefficient of w^0. A
/// value and its inverse, the conjugate, have the same one, so both signs are found at once. Variable time.
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

    /// Makes the table for exponents n with |n| <= bound, bound at most 10^6. It has base^1 ... base^steps, steps about
    /// sqrt(bound).
    ///
    /// A slot contains the low 48 bits of the canonical key and the exponent in 16 bits; an empty slot is 0. At least
    /// half of the slots are empty.
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

    /// The n with |n| <= bound and value = base^n; nil if there is none. Takes about bound/steps products in Fp12.
    package func findVartime(_ value: GT) -> Int? {
        find(value, giantStep: inverseStride, sign: 1) ?? find(value, giantStep: stride, sign: -1)
    }

    /// Searches for value giantStep^0, value giantStep^1, ... in the table: n = small + sign * giant * (2 steps + 1),
    /// |small| <= steps.
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

    /// The n with |n| <= steps and work = base^n.
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

    /// The exponent or its negative, whichever is right; nil if neither is, because different values may have equal
    /// keys.
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

    /// 48 bits of the canonical coefficient of w^0.
    private func key() -> Limb {
        Fp.canonical(scratch, work.limbs)
        return scratch[0] & 0xFFFF_FFFF_FFFF
    }
}
