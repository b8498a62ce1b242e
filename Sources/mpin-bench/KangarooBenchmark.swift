import BN254CX
import MPinCrypto

/// Times the search for the error of a PIN, which is the entered PIN minus the right one. 16 errors are searched in
/// turn, spread evenly over the range.
func measureKangaroo(_ benchmark: inout Benchmark) throws(MPinError) {
    try measure(&benchmark, "kangaroo", range: 9_999)
    try measure(&benchmark, "kangaroo_1e6", range: 999_999)
}

private func measure(_ benchmark: inout Benchmark, _ name: String, range: Int32) throws(MPinError) {
    let errors = (0..<16).map { ($0 * 2 - 15) * range / 15 }
    let inputs = try SearchInputs(errors: errors)
    var next = 0
    benchmark.time(name) {
        next = (next &+ 1) & 15
        let e = inputs.e[next]
        let found = try? Kangaroo.find(e: e.span, f: inputs.f.span, range: range)
        if found != errors[next] { fatalError("the error \(errors[next]) was not found") }
    }
}

/// The inputs of the search: F = e(Q, P) for the generators Q of G2 and P of G1 and, for each error n, E = F^-n.
private struct SearchInputs {
    let f: [UInt8]
    let e: [[UInt8]]

    init(errors: [Int32]) throws(MPinError) {
        let base = Limbs.allocate(capacity: Arena.capacity)
        base.initialize(repeating: 0, count: Arena.capacity)
        defer { base.deallocate() }
        var arena = Arena(base)
        let p = arena.g1(), q = arena.g2(), value = arena.gt(), power = arena.gt(), k = arena.scalar()
        p.setGenerator()
        q.setGenerator()
        Pairing.pairing(value, q.affine, p.affine, arena.scratch)
        let scratch = arena.scratch
        f = try filled(384) { out throws(MPinError) in _ = value.encode(into: &out, scratch) }
        var encoded: [[UInt8]] = []
        for error in errors {
            for i in 0..<4 { k.limbs[i] = 0 }
            k.limbs[0] = UInt(error.magnitude)
            power.power(value, by: k, bits: 20, scratch)
            if error > 0 { power.invert(power) }
            encoded.append(try filled(384) { out throws(MPinError) in _ = power.encode(into: &out, scratch) })
        }
        e = encoded
    }
}
