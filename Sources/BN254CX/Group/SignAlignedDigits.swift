/// Four scalars in columns of digits: the GLV-SAC representation (Faz-Hernández, Longa, Sánchez, "Efficient and secure
/// algorithms for GLV-based scalar multiplication and their implementation on GLV-GLS curves", eprint 2013/158,
/// algorithm 3). Numbers below 2^64 yield 65 columns. Constant time.
///
/// The first scalar is made odd, and its digits are +-1. The digits of the other three are 0 or have the sign of the
/// first one's digit. So a column is one of eight sums with a sign, and never zero. The signs of the scalars themselves
/// are applied to the points.
struct SignAlignedDigits {
    static var columns: Int { 65 }
    /// The number of limbs of the digits.
    static var count: Int { columns }

    let limbs: Limbs

    /// Computes the columns of k0 | 1, k1, k2 and k3. The arguments are the absolute values of the four scalars.
    func recode(_ k0: UInt128, _ k1: UInt128, _ k2: UInt128, _ k3: UInt128) {
        let first = Limb(truncatingIfNeeded: k0) | 1
        var second = Limb(truncatingIfNeeded: k1), third = Limb(truncatingIfNeeded: k2)
        var fourth = Limb(truncatingIfNeeded: k3)
        for i in 0..<SignAlignedDigits.columns {
            // The first scalar's digit is -1 if its next bit is 0. Then the digits of the others are 0 or -1. Where
            // such a digit is -1, subtracting it makes the rest of that scalar larger by one.
            let next = i < 63 ? first &>> Limb(i &+ 1) & 1 : i == 63 ? 0 : 1
            let minus = next ^ 1
            limbs[i] = minus &<< 3 | (fourth & 1) &<< 2 | (third & 1) &<< 1 | second & 1
            second = SignAlignedDigits.halve(second, minus)
            third = SignAlignedDigits.halve(third, minus)
            fourth = SignAlignedDigits.halve(fourth, minus)
        }
    }

    /// Returns (n - digit)/2, where the digit is n mod 2 with the sign of the column. `minus` is 1 if the column is
    /// negative.
    @inline(__always)
    private static func halve(_ n: Limb, _ minus: Limb) -> Limb { n &>> 1 &+ n & minus }

    /// The index of the sum of column i among the eight sums. Bit 0 is set if the second scalar has a digit other than
    /// 0 in this column, bit 1 if the third has one, bit 2 if the fourth has one.
    @inline(__always)
    func index(_ i: Int) -> Int { Int(truncatingIfNeeded: limbs[i] & 7) }

    /// All ones if column i is negative, else zero.
    @inline(__always)
    func minusMask(_ i: Int) -> Limb { 0 &- (limbs[i] &>> 3) }
}
