import BN254CX

/// Times the curve: field, groups, pairing.
func measureEngine(_ benchmark: inout Benchmark) {
    let base = Limbs.allocate(capacity: 2 * Arena.capacity)
    base.initialize(repeating: 0, count: 2 * Arena.capacity)
    var arena = Arena(base)
    let values = EngineValues(&arena)
    measureField(&benchmark, values, arena.scratch)
    measureGroups(&benchmark, values, arena.scratch)
    measurePairing(&benchmark, values, arena.scratch)
    base.deallocate()
}

/// The operands of the measured operations on the curve, and room for their results.
private struct EngineValues {
    let p: G1, q: G2, value: GT, k: Scalar, hashes: [[UInt8]]
    let point: G1, twistPoint: G2, result: GT, secondPoint: G1

    init(_ arena: inout Arena) {
        (p, q, value, k) = (arena.g1(), arena.g2(), arena.gt(), arena.scalar())
        (point, twistPoint, result, secondPoint) = (arena.g1(), arena.g2(), arena.gt(), arena.g1())
        hashes = (0..<64).map { Sample.bytes(32, seed: 100 + $0) }
        let scalar = Sample.scalar(seed: 1), first = hashes[0], second = hashes[1]
        _ = k.load(scalar.span)
        _ = p.mapVartime(hash: first.span, arena.scratch)
        _ = secondPoint.mapVartime(hash: second.span, arena.scratch)
        q.setGenerator()
        Pairing.pairing(value, q.affine, p.affine, arena.scratch)
        result.copy(value)
    }
}

private func measureField(_ benchmark: inout Benchmark, _ v: EngineValues, _ s: Limbs) {
    let x = v.value.limbs, r = v.result.limbs, y = x + Fp2.count
    let value = Fp12(x), result = Fp12(r), a = Fp2(x), b = Fp2(y), c = Fp2(r)
    benchmark.time("fp_mul") { Fp.mul(r, x, y, s) }
    benchmark.time("fp_sqr") { Fp.sqr(r, x, s) }
    benchmark.time("fp2_mul") { c.multiply(a, b, s) }
    benchmark.time("fp2_sqr") { c.square(a, s) }
    benchmark.time("fp12_mul") { result.multiply(value, value, s) }
    benchmark.time("fp12_sqr") { result.square(value, s) }
    benchmark.time("fp_inv") { Fp.inverse(r, x, s) }
}

private func measureGroups(_ benchmark: inout Benchmark, _ v: EngineValues, _ s: Limbs) {
    var next = 0
    benchmark.time("map_to_g1") {
        let hash = v.hashes[next & 63]
        _ = v.point.mapVartime(hash: hash.span, s)
        next &+= 1
    }
    benchmark.time("g1_mul") { v.point.multiply(v.p, by: v.k, bits: 256, s) }
    benchmark.time("g2_mul") { v.twistPoint.multiply(v.q, by: v.k, bits: 256, s) }
    benchmark.time("gt_pow") { v.result.power(v.value, by: v.k, bits: 256, s) }
}

private func measurePairing(_ benchmark: inout Benchmark, _ v: EngineValues, _ s: Limbs) {
    benchmark.time("miller_loop") { Pairing.millerLoop(MillerValue(in: v.result), v.q.affine, v.p.affine, s) }
    benchmark.time("final_exponentiation") { FinalExponentiation.run(v.value, MillerValue(in: v.result), s) }
    benchmark.time("pairing") { Pairing.pairing(v.result, v.q.affine, v.p.affine, s) }
    benchmark.time("pairing_product") {
        Pairing.product(v.result, v.q.affine, v.p.affine, v.q.affine, v.secondPoint.affine, s)
    }
}
