import BN254CX
package import MPinSecrets

/// Points as strings that look random, for a channel on which nobody shall see that M-Pin is spoken: 65 bytes,
/// (su + 2 sv) || u || v, for P = f(u, su) + f(v, sv) with the map f of `G1.mapVartime` (Tibouchi, "Elligator squared",
/// eprint 2014/043). Variable time: the points are public.
package enum ElligatorSquared {
    /// Bytes of an encoded point.
    package static let size = 65

    /// A random one of the encodings of a point of 65 bytes.
    package static func encode(
        point: Span<UInt8>, random: RandomSource, into encoded: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        var u = InlineArray<32, UInt8>(repeating: 0)
        var uSpan = u.mutableSpan
        try RandomScalar.generateFieldElement(into: &uSpan, random: random)
        let isOdd = try RandomScalar.generate(below: 2, random: random) == 1
        try encode(point: point, u: u.span, isOdd: isOdd, into: &encoded) { count throws(MPinError) in
            try RandomScalar.generate(below: count, random: random)
        }
    }

    /// The encoding with given u, 32 bytes, su = `isOdd`, and that v of all possible ones which `choose` names when it is
    /// told their number: 0 is the smallest.
    ///
    /// When f(u, su) is the point itself nothing is left to encode: `invalidPoint`.
    package static func encode(
        point: Span<UInt8>, u: Span<UInt8>, isOdd: Bool, into encoded: inout MutableSpan<UInt8>,
        choose: (Int) throws(MPinError) -> Int
    ) throws(MPinError) {
        guard encoded.count == size, u.count == 32 else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let point = try arena.decodeG1(point)
            let mapped = try arena.mapToG1(u: u, isOdd: isOdd)
            mapped.negate(mapped)
            point.add(point, mapped, arena.scratch)
            let base = arena.take(4)
            guard let preimages = point.preimagesVartime(base: base, arena.scratch) else { throw .invalidPoint }
            let choice = try choose(preimages.count)
            guard choice >= 0, choice < preimages.count else { throw .wrongParameter }
            let v = arena.octets(32)
            var vSpan = v.mutableSpan
            guard G1.encodePreimage(base: base, plus: choice &+ 1, into: &vSpan, arena.scratch) else {
                throw .wrongParameter
            }
            encoded[0] = (isOdd ? 1 : 0) | (preimages.isOdd ? 2 : 0)
            for i in 0..<32 {
                encoded[1 &+ i] = u[i]
                encoded[33 &+ i] = v[i]
            }
        }
    }

    /// The point, 65 bytes, of an encoding; u and v are taken modulo p. `invalidPoint` for a first byte above 3 and for a
    /// sum at infinity.
    package static func decode(_ encoded: Span<UInt8>, into point: inout MutableSpan<UInt8>) throws(MPinError) {
        guard encoded.count == size, point.count == MPinSize.g1 else { throw .wrongParameter }
        let signs = encoded[0]
        guard signs <= 3 else { throw .invalidPoint }
        try withArena { arena throws(MPinError) in
            let first = try arena.mapToG1(u: encoded.extracting(1..<33), isOdd: signs & 1 != 0)
            let second = try arena.mapToG1(u: encoded.extracting(33..<65), isOdd: signs & 2 != 0)
            first.add(first, second, arena.scratch)
            try arena.encode(first, into: &point)
        }
    }
}

extension Arena {
    /// f(u, isOdd) for u of 32 bytes.
    fileprivate mutating func mapToG1(u: Span<UInt8>, isOdd: Bool) throws(MPinError) -> G1 {
        let point = g1()
        guard point.mapVartime(u: u, isOdd: isOdd, scratch) else { throw .wrongParameter }
        return point
    }
}

extension RandomScalar {
    /// 32 bytes, uniform below p; candidates as in `generate`.
    fileprivate static func generateFieldElement(
        into element: inout MutableSpan<UInt8>, random: RandomSource
    ) throws(MPinError) {
        try withArena { arena throws(MPinError) in
            for _ in 0..<256 {
                guard random(&element) else { throw .randomFailed }
                element[0] &= 0x3F
                if arena.isFieldElement(element.span) { return }
            }
            throw .randomFailed
        }
    }

    /// A number, uniform below `count`, which is in 1...256.
    fileprivate static func generate(below count: Int, random: RandomSource) throws(MPinError) -> Int {
        guard count >= 1, count <= 256 else { throw .wrongParameter }
        let fair = 256 &- 256 % count
        var byte = InlineArray<1, UInt8>(repeating: 0)
        for _ in 0..<256 {
            var span = byte.mutableSpan
            guard random(&span) else { throw .randomFailed }
            if Int(byte[0]) < fair { return Int(byte[0]) % count }
        }
        throw .randomFailed
    }
}

extension Arena {
    /// Whether 32 bytes are below p.
    fileprivate func isFieldElement(_ octets: Span<UInt8>) -> Bool {
        octets.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress, buffer.count == 32 else { return false }
            return Fp.decode(scratch, base, scratch + 4) != 0
        }
    }
}
