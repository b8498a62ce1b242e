import MPinCrypto
import MPinSecrets

/// The operations of MPinCrypto on byte arrays.
enum Engine {
    static func hashID(_ id: [UInt8], count: Int = 32) throws -> [UInt8] {
        try octets(count) { try Identity.hash(id: id.span, into: &$0) }
    }

    static func mapToG1(hash: [UInt8], count: Int = 65) throws -> [UInt8] {
        try octets(count) { try Identity.mapToG1(hash: hash.span, into: &$0) }
    }

    static func hashDate(_ date: Int32, _ hashID: [UInt8], count: Int = 32) throws -> [UInt8] {
        try octets(count) { try Identity.hashDate(date: date, hashID: hashID.span, into: &$0) }
    }

    static func randomScalar(count: Int = 32, _ random: RandomSource = systemRandom) throws -> [UInt8] {
        try octets(count) { try RandomScalar.generate(into: &$0, random: random) }
    }

    static func challenge(count: Int = 32, _ random: RandomSource = systemRandom) throws -> [UInt8] {
        try octets(count) { try RandomScalar.generateChallenge(into: &$0, random: random) }
    }

    static func clientShare(_ master: [UInt8], _ hashID: [UInt8]) throws -> [UInt8] {
        try octets(65) { try TrustAuthority.clientSecretShare(master: master.span, hashID: hashID.span, into: &$0) }
    }

    static func serverShare(_ master: [UInt8], count: Int = 128) throws -> [UInt8] {
        try octets(count) { try TrustAuthority.serverSecretShare(master: master.span, into: &$0) }
    }

    static func permitShare(_ master: [UInt8], _ date: Int32, _ hashID: [UInt8]) throws -> [UInt8] {
        try octets(65) {
            try TrustAuthority.timePermitShare(master: master.span, date: date, hashID: hashID.span, into: &$0)
        }
    }

    static func recombineG1(_ a: [UInt8], _ b: [UInt8], count: Int = 65) throws -> [UInt8] {
        try octets(count) { try Shares.recombineG1(a.span, b.span, into: &$0) }
    }

    static func recombineG2(_ a: [UInt8], _ b: [UInt8]) throws -> [UInt8] {
        try octets(128) { try Shares.recombineG2(a.span, b.span, into: &$0) }
    }

    static func extractPIN(id: [UInt8], e: [UInt8], bits: Int, secret: [UInt8]) throws -> [UInt8] {
        try octets(65) {
            try Client.extractPIN(id: id.span, pinScalar: e.span, pinBits: bits, clientSecret: secret.span, into: &$0)
        }
    }

    static func point(id: [UInt8], count: Int = 65) throws -> [UInt8] {
        try octets(count) { try Identity.point(id: id.span, into: &$0) }
    }

    static func clientPass1(
        date: Int32, id: [UInt8], point: [UInt8]? = nil, x: [UInt8], e: [UInt8], bits: Int = 14, token: [UInt8],
        permit: [UInt8]?
    ) throws -> (sec: [UInt8], u: [UInt8], ut: [UInt8]?) {
        var sec = [UInt8](repeating: 0, count: 65), u = sec, ut = [UInt8](repeating: 0, count: date > 0 ? 65 : 0)
        var secSpan = sec.mutableSpan, uSpan = u.mutableSpan, utSpan = ut.mutableSpan
        try Client.pass1(
            date: date, id: id.span, point: point?.span, x: x.span, pinScalar: e.span, pinBits: bits,
            token: token.span, permit: permit?.span, sec: &secSpan, u: &uSpan, ut: &utSpan)
        return (sec, u, date > 0 ? ut : nil)
    }

    static func clientPass2(x: [UInt8], y: [UInt8], sec: [UInt8], count: Int = 65) throws -> [UInt8] {
        try octets(count) { try Client.pass2(x: x.span, y: y.span, sec: sec.span, into: &$0) }
    }

    static func serverPass1(date: Int32, id: [UInt8]) throws -> (hid: [UInt8], htid: [UInt8]?) {
        var hid = [UInt8](repeating: 0, count: 65), htid = [UInt8](repeating: 0, count: date > 0 ? 65 : 0)
        var hidSpan = hid.mutableSpan, htidSpan = htid.mutableSpan
        try Server.pass1(date: date, id: id.span, hid: &hidSpan, htid: &htidSpan)
        return (hid, date > 0 ? htid : nil)
    }

    static func serverContext(_ secret: [UInt8]) throws -> ServerContext {
        try ServerContext(serverSecret: secret.span)
    }

    static func verify(
        _ context: ServerContext, id: [UInt8], date: Int32, u: [UInt8], y: [UInt8], v: [UInt8]
    ) throws -> Bool {
        try context.verify(id: id.span, date: date, u: u.span, y: y.span, v: v.span)
    }

    /// Checks pass 2. Returns the result code that the C interface has for it. After a wrong PIN it also returns E and
    /// F, from which `kangaroo` finds by how much the PIN was wrong.
    static func serverPass2(
        context: ServerContext, date: Int32, hid: [UInt8], htid: [UInt8]?, y: [UInt8], u: [UInt8]?, ut: [UInt8]?,
        v: [UInt8], count: Int = 384
    ) throws -> (code: Int?, e: [UInt8]?, f: [UInt8]?) {
        var e = [UInt8](repeating: 0, count: count), f = e
        let result = code {
            var eSpan = e.mutableSpan, fSpan = f.mutableSpan
            try context.pass2(
                date: date, hid: hid.span, htid: htid?.span, y: y.span, u: u?.span, ut: ut?.span, v: v.span, e: &eSpan,
                f: &fSpan)
        }
        return result == -19 ? (result, e, f) : (result, nil, nil)
    }

    static func kangaroo(e: [UInt8], f: [UInt8], range: Int32 = 9_999) throws -> Int32? {
        try Kangaroo.find(e: e.span, f: f.span, range: range)
    }
}

/// Returns the `count` bytes that `body` writes.
func octets(_ count: Int, _ body: (inout MutableSpan<UInt8>) throws -> Void) rethrows -> [UInt8] {
    var result = [UInt8](repeating: 0, count: count)
    var span = result.mutableSpan
    try body(&span)
    return result
}

/// Returns the scalar of a PIN.
func pinScalar(_ pin: String, _ mapping: PINMapping = .legacy14) throws -> [UInt8] {
    try pinScalar(Array(pin.utf8), mapping)
}

func pinScalar(_ pin: [UInt8], _ mapping: PINMapping, count: Int = 32) throws -> [UInt8] {
    try octets(count) { try mapping.scalar(pin: pin.span, into: &$0) }
}

/// Returns a small number as 32 big-endian bytes.
func scalarBytes(_ value: Int) -> [UInt8] {
    [UInt8](repeating: 0, count: 24) + (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
}

/// Returns the code that the C interface gives for `body`: 0, or the code of the error that it throws.
func code(_ body: () throws -> Void) -> Int? {
    do {
        try body()
        return 0
    } catch {
        switch error as? MPinError {
        case .wrongParameter: return -11
        case .invalidPoint: return -14
        case .wrongOrder: return -18
        case .badPIN: return -19
        case .randomFailed: return -32
        case .bufferTooSmall: return -33
        case nil: return nil
        }
    }
}
