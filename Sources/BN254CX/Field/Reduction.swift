import CBN254CX

extension Wide {
    /// This number t divided by 2^320, modulo p. The result is below p + 2^196 for every number of eight limbs.
    ///
    /// Montgomery reduction by five limbs, one row for each (Montgomery, "Modular multiplication without trial
    /// division", 1985). Rows 0 to 2 add m_i p' 2^64i, where p' = p (-1/p mod 2^64) = 2^64 f - 1 is a multiple of p.
    /// For this multiple m_i is the lowest limb itself, and adding m_i p' removes this limb and adds m_i f one limb
    /// higher. That takes 4 products instead of 5, and none for m_i (a "Montgomery friendly" modulus: Hamburg, "Fast
    /// and compact elliptic-curve cryptography", eprint 2012/309; here a multiple of p is used). Since f < p, these
    /// rows leave a number below t/2^192 + (2^64 + 2) p. Two rows with p itself yield less than t/2^320 + p + (2^64 +
    /// 2) p/2^128 + p/2^64 < p + 2^193 for t < 2^512. The rows take 20 products of limbs, and the last two also need 2
    /// for m_3 and m_4.
    @inline(__always)
    var reduced: Narrow {
        let p: ConstLimbs = bn_p(), multiple: ConstLimbs = bn_reduction_multiple(), factor = Limb(BN_MONTGOMERY_FACTOR)
        var t1 = b, t2 = c, t3 = d, t4 = e, t5 = f, t6 = g, t7 = h, top: Limb = 0
        Wide.addRow(multiple, a, &t1, &t2, &t3, &t4, &t5, &top)
        Wide.addRow(multiple, t1, &t2, &t3, &t4, &t5, &t6, &top)
        Wide.addRow(multiple, t2, &t3, &t4, &t5, &t6, &t7, &top)
        var up: Limb = 0
        Wide.addRow(p, t3 &* factor, &t3, &t4, &t5, &t6, &t7, &up)
        top = top &+ up
        up = 0
        Wide.addRow(p, t4 &* factor, &t4, &t5, &t6, &t7, &top, &up)
        return Narrow(t5, t6, t7, top)
    }

    /// Adds x m + up 2^256 to the number of the five limbs a, b, c, d, e, of which a is the lowest. The carry out of e
    /// replaces `up`. x is below 2^254.
    ///
    /// There are two chains of carries: one makes five limbs of the four products, the other adds them (as in Ozturk,
    /// Guilford, Gopal, Feghali, "New instructions supporting large integer arithmetic on Intel architecture
    /// processors", Intel, 2012; those processors have a second carry flag for this). If one chain did both (`mulAdd`),
    /// each limb would wait for two carries of the limb before.
    @inline(__always)
    private static func addRow(
        _ x: ConstLimbs, _ m: Limb, _ a: inout Limb, _ b: inout Limb, _ c: inout Limb, _ d: inout Limb,
        _ e: inout Limb, _ up: inout Limb
    ) {
        let x0 = x[0].multipliedFullWidth(by: m), x1 = x[1].multipliedFullWidth(by: m)
        let x2 = x[2].multipliedFullWidth(by: m), x3 = x[3].multipliedFullWidth(by: m)
        var carry: Limb = 0
        let y1 = addWithCarry(x1.low, x0.high, &carry)
        let y2 = addWithCarry(x2.low, x1.high, &carry)
        let y3 = addWithCarry(x3.low, x2.high, &carry)
        let y4 = x3.high &+ carry &+ up  // x3.high < 2^62
        carry = 0
        a = addWithCarry(a, x0.low, &carry)
        b = addWithCarry(b, y1, &carry)
        c = addWithCarry(c, y2, &carry)
        d = addWithCarry(d, y3, &carry)
        e = addWithCarry(e, y4, &carry)
        up = carry
    }
}
