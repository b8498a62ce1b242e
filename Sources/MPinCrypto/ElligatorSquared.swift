import BN254CX
package import MPinSecrets

/// Encodes points as strings that look random, for channels where an observer must not recognise M-Pin. The encoding of
/// a point P has 65 bytes, (su + 2 sv) || u || v. Here P = f(u, su) + f(v, sv); f is the map of `G1.mapVartime`, u and
/// v are numbers below p, and the bits su and sv choose between two points (Tibouchi, "Elligator squared", eprint
/// 2014/043). Variable time, because the points are public.
package enum ElligatorSquared {
    /// The number of bytes of an encoded point.
    package static let size = 65

    /// Writes one of the encodings of `point`, chosen at random. Point and encoding have 65 bytes.
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

    /// Writes an encoding of `point` with the given u, 32 bytes, and su = `isOdd`. There may be several suitable v.
    /// `choose` receives their number and returns the index of the v to use; index 0 is the smallest v.
    ///
    /// If f(u, su) is `point` itself, there is no v, and the error is `invalidPoint`.
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

    /// Decodes an encoding of 65 bytes and writes its point, 65 bytes. u and v are reduced modulo p. If the first byte
    /// is above 3, or if the sum is the point at infinity, the error is `invalidPoint`.
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
    /// Returns the point to which Elligator Squared maps u (32 bytes). `isOdd` chooses between the two points with the
    /// same x: the one with the odd y, or the one with the even y.
    fileprivate mutating func mapToG1(u: Span<UInt8>, isOdd: Bool) throws(MPinError) -> G1 {
        let point = g1()
        guard point.mapVartime(u: u, isOdd: isOdd, scratch) else { throw .wrongParameter }
        return point
    }
}

extension RandomScalar {
    /// Writes a random number below p, 32 bytes, all equally likely. Draws candidates until one is below p, as
    /// `RandomScalar.generate` does.
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

    /// A random number in 0..<count, all equally likely, for `count` in 1...256.
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
    /// Whether the 32 bytes, as a big-endian number, are below p.
    fileprivate func isFieldElement(_ octets: Span<UInt8>) -> Bool {
        octets.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress, buffer.count == 32 else { return false }
            return Fp.decode(scratch, base, scratch + 4) != 0
        }
    }
}
