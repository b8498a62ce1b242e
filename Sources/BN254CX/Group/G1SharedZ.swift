extension G1Affine {
    /// self = a + step. Both points have the same Z and normal coordinates (see `Fp`), and they are neither equal nor
    /// opposite. Z itself is not stored; `ratio` receives the factor by which Z is multiplied. `step` becomes the same
    /// point with the Z of the result.
    ///
    /// Addition with one Z for both (Meloni, "New point addition formulae for ECC applications", WAIFI 2007; for
    /// tables: Longa and Miri, "New composite operations and precomputation scheme for elliptic curve cryptosystems
    /// over prime fields", PKC 2008): H = X_a - X_step, R = Y_a - Y_step, X_step' = X_step H^2, Y_step' = Y_step H^3, X
    /// = R^2 - X_step' - X_a H^2, Y = R (X_step' - X) - Y_step'. 4 mpn_sec_mul, 2 mpn_sec_sqr, 6 reductions.
    @inline(never)
    func add(_ a: G1Affine, _ step: G1Affine, ratio h: Limbs, _ s: Limbs) {
        let w = s, v = s + 8, hh = s + 16, r = s + 20, other = s + 24
        let twoP = Narrow(evenMultiple: 1)
        (Narrow(a.x) + twoP - Narrow(step.x)).normal.store(h)
        (Narrow(a.y) + twoP - Narrow(step.y)).store(r)  // class 3
        Fp.sqr(hh, h, w)
        Fp.mulWide(v, a.x, hh)
        Wide(v).reduced.store(other)  // X_a H^2
        Fp.mulWide(w, step.x, hh)
        Wide(w).reduced.store(step.x)
        (Wide(multiple: 2) - Wide(v) - Wide(w)).store(v)
        Fp.sqrWide(w, r)  // class 9
        let x3 = (Wide(w) + Wide(v)).reduced  // class 11
        (Narrow(other) + twoP - Narrow(step.x)).store(other)  // class 3
        (Narrow(step.x) + twoP - x3).store(hh)  // class 3
        x3.store(x)
        Fp.mulWide(v, step.y, other)  // class 3
        Wide(v).reduced.store(step.y)
        Fp.mulWide(w, r, hh)  // class 9
        (Wide(w) + Wide(multiple: 3) - Wide(v)).reduced.store(y)  // class 12
    }
}
