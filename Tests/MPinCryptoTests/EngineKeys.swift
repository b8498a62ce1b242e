import MPinCrypto
import MPinSecrets

// The operations of M-Pin Full, one pass, key pairs, factors and Elligator squared, on byte arrays.
extension Engine {
    static func precompute(token: [UInt8], hashID: [UInt8], count: Int = 384) throws -> (g1: [UInt8], g2: [UInt8]) {
        var g1 = [UInt8](repeating: 0, count: count), g2 = g1
        var g1Span = g1.mutableSpan, g2Span = g2.mutableSpan
        try MPinFull.precompute(token: token.span, hashID: hashID.span, g1: &g1Span, g2: &g2Span)
        return (g1, g2)
    }

    static func clientKey(
        g1: [UInt8], g2: [UInt8], e: [UInt8], bits: Int = 14, r: [UInt8], x: [UInt8], t: [UInt8], count: Int = 16
    ) throws -> [UInt8] {
        try octets(count) {
            try MPinFull.clientKey(
                g1: g1.span, g2: g2.span, pinScalar: e.span, pinBits: bits, r: r.span, x: x.span, t: t.span, into: &$0)
        }
    }

    static func serverKey(
        z: [UInt8], serverSecret: [UInt8], w: [UInt8], u: [UInt8], ut: [UInt8]?, count: Int = 16
    ) throws -> [UInt8] {
        try octets(count) {
            try MPinFull.serverKey(
                z: z.span, serverSecret: serverSecret.span, w: w.span, u: u.span, ut: ut?.span, into: &$0)
        }
    }

    static func keyPair(_ random: RandomSource = systemRandom) throws -> (z: [UInt8], publicKey: [UInt8]) {
        var z = [UInt8](repeating: 0, count: 32), publicKey = [UInt8](repeating: 0, count: 128)
        var zSpan = z.mutableSpan, keySpan = publicKey.mutableSpan
        try KeyPair.generate(z: &zSpan, publicKey: &keySpan, random: random)
        return (z, publicKey)
    }

    static func publicKey(z: [UInt8], count: Int = 128) throws -> [UInt8] {
        try octets(count) { try KeyPair.publicKey(z: z.span, into: &$0) }
    }

    static func multiple(_ z: [UInt8], _ point: [UInt8], count: Int = 65) throws -> [UInt8] {
        try octets(count) { try KeyPair.multiple(z: z.span, of: point.span, into: &$0) }
    }

    static func extractFactor(id: [UInt8], f: [UInt8], bits: Int, token: [UInt8]) throws -> [UInt8] {
        try octets(65) { try Factor.extract(id: id.span, factor: f.span, bits: bits, token: token.span, into: &$0) }
    }

    static func restoreFactor(id: [UInt8], f: [UInt8], bits: Int, token: [UInt8], count: Int = 65) throws -> [UInt8] {
        try octets(count) { try Factor.restore(id: id.span, factor: f.span, bits: bits, token: token.span, into: &$0) }
    }

    static func changePIN(
        id: [UInt8], old: [UInt8], oldBits: Int, new: [UInt8], newBits: Int, token: [UInt8], count: Int = 65
    ) throws -> [UInt8] {
        try octets(count) {
            try Factor.changePIN(
                id: id.span, old: old.span, oldBits: oldBits, new: new.span, newBits: newBits, token: token.span,
                into: &$0)
        }
    }

    static func onePassY(time: Int64, u: [UInt8], message: [UInt8], count: Int = 32) throws -> [UInt8] {
        try octets(count) { try OnePass.y(time: time, u: u.span, message: message.span, into: &$0) }
    }

    static func onePassClient(
        date: Int32 = 0, id: [UInt8], point: [UInt8]? = nil, x: [UInt8], e: [UInt8], bits: Int = 20, token: [UInt8],
        permit: [UInt8]? = nil, time: Int64, message: [UInt8]
    ) throws -> (u: [UInt8], ut: [UInt8]?, v: [UInt8]) {
        var u = [UInt8](repeating: 0, count: 65), v = u, ut = [UInt8](repeating: 0, count: date > 0 ? 65 : 0)
        var uSpan = u.mutableSpan, vSpan = v.mutableSpan, utSpan = ut.mutableSpan
        try OnePass.prove(
            date: date, id: id.span, point: point?.span, x: x.span, pinScalar: e.span, pinBits: bits,
            token: token.span, permit: permit?.span, time: time, message: message.span, u: &uSpan, ut: &utSpan,
            v: &vSpan)
        return (u, date > 0 ? ut : nil, v)
    }

    /// Checks a proof in one pass. Returns the result code that the C interface has for it, and E and F, from which
    /// `kangaroo` finds after a wrong PIN by how much it was wrong.
    static func onePassServer(
        _ context: ServerContext, date: Int32 = 0, id: [UInt8], u: [UInt8]?, ut: [UInt8]? = nil, v: [UInt8],
        time: Int64, message: [UInt8], publicKey: [UInt8]? = nil, count: Int = 384
    ) -> (code: Int?, e: [UInt8], f: [UInt8]) {
        var e = [UInt8](repeating: 0, count: count), f = e
        let result = code {
            var eSpan = e.mutableSpan, fSpan = f.mutableSpan
            try context.onePass(
                date: date, id: id.span, u: u?.span, ut: ut?.span, v: v.span, time: time, message: message.span,
                publicKey: publicKey?.span, e: &eSpan, f: &fSpan)
        }
        return (result, e, f)
    }

    static func verify(
        _ context: ServerContext, id: [UInt8], publicKey: [UInt8], u: [UInt8], y: [UInt8], v: [UInt8]
    ) throws -> Bool {
        try context.verify(id: id.span, date: 0, u: u.span, y: y.span, v: v.span, publicKey: publicKey.span)
    }

    static func elligatorEncode(
        _ point: [UInt8], count: Int = 65, random: RandomSource = systemRandom
    ) throws -> [UInt8] {
        try octets(count) { try ElligatorSquared.encode(point: point.span, random: random, into: &$0) }
    }

    /// Encodes a point with u, isOdd and m in place of the random choices. Returns the encoding, and how many values m
    /// can have (0..<range).
    static func elligatorEncode(
        _ point: [UInt8], u: [UInt8], isOdd: Bool, m: Int
    ) throws -> (encoded: [UInt8], range: Int) {
        var range = 0
        let encoded = try octets(65) { out in
            try ElligatorSquared.encode(point: point.span, u: u.span, isOdd: isOdd, into: &out) { count in
                range = count
                return m
            }
        }
        return (encoded, range)
    }

    static func elligatorDecode(_ encoded: [UInt8], count: Int = 65) throws -> [UInt8] {
        try octets(count) { try ElligatorSquared.decode(encoded.span, into: &$0) }
    }
}
