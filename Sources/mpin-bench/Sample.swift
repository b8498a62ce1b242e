import BN254CX
import MPinCrypto

/// Inputs that are the same in every run.
enum Sample {
    /// `count` bytes from a generator with this seed (splitmix64).
    static func bytes(_ count: Int, seed: Int) -> [UInt8] {
        var state = UInt64(truncatingIfNeeded: seed)
        return (0..<count).map { _ in
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return UInt8(truncatingIfNeeded: z >> 32)
        }
    }

    /// A scalar below the group order, 253 bits.
    static func scalar(seed: Int) -> [UInt8] {
        var result = bytes(32, seed: seed)
        result[0] = 0x1F
        return result
    }
}

/// A new array of `count` bytes, filled by `body`.
func filled(
    _ count: Int, _ body: (inout MutableSpan<UInt8>) throws(MPinError) -> Void
) throws(MPinError) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: count)
    var span = result.mutableSpan
    try body(&span)
    return result
}

/// A user and the values of three logins: without a time permit, with one (`timed...`), and with a wrong PIN
/// (`wrong...`).
struct Session {
    static let date: Int32 = 20_000

    let id: [UInt8], hash: [UInt8], hid: [UInt8], clientSecret: [UInt8], permit: [UInt8], token: [UInt8]
    let x: [UInt8], y: [UInt8], pin: [UInt8]
    let sec: [UInt8], u: [UInt8], v: [UInt8]
    let timedU: [UInt8], timedV: [UInt8], wrongU: [UInt8], wrongV: [UInt8]

    init(number: Int, master: [UInt8]) throws(MPinError) {
        id = Array("user\(number)@example.com".utf8)
        x = Sample.scalar(seed: 1000 + number)
        y = try filled(32) { y throws(MPinError) in
            try RandomScalar.generateChallenge(
                into: &y,
                random: { bytes in
                    let random = Sample.bytes(bytes.count, seed: 2000 + number)
                    for i in 0..<bytes.count { bytes[i] = random[i] }
                    return true
                })
        }
        (hash, pin) = (try Session.hash(id), try Session.pinScalar("4321"))
        let (id, hash, pin, x, y) = (id, hash, pin, x, y)
        hid = try filled(65) { out throws(MPinError) in try Identity.mapToG1(hash: hash.span, into: &out) }
        let secret = try filled(65) { out throws(MPinError) in
            try TrustAuthority.clientSecretShare(master: master.span, hashID: hash.span, into: &out)
        }
        permit = try filled(65) { out throws(MPinError) in
            try TrustAuthority.timePermitShare(
                master: master.span, date: Session.date, hashID: hash.span, into: &out)
        }
        let token = try filled(65) { out throws(MPinError) in
            try Client.extractPIN(
                id: id.span, pinScalar: pin.span, pinBits: 14, clientSecret: secret.span, into: &out)
        }
        (clientSecret, self.token) = (secret, token)
        let right = try Session.login(id, x, y, pin, token, nil)
        let timed = try Session.login(id, x, y, pin, token, permit)
        let wrong = try Session.login(id, x, y, try Session.pinScalar("1234"), token, nil)
        (sec, u, v) = (right.sec, right.u, right.v)
        (timedU, timedV, wrongU, wrongV) = (timed.u, timed.v, wrong.u, wrong.v)
    }

    static func hash(_ id: [UInt8]) throws(MPinError) -> [UInt8] {
        try filled(32) { out throws(MPinError) in try Identity.hash(id: id.span, into: &out) }
    }

    static func pinScalar(_ pin: String) throws(MPinError) -> [UInt8] {
        let digits = Array(pin.utf8)
        return try filled(32) { out throws(MPinError) in
            try PINMapping.decimal4.scalar(pin: digits.span, into: &out)
        }
    }

    /// Computes both passes of the client. The result `u` is UT if there is a permit, otherwise U.
    static func login(
        _ id: [UInt8], _ x: [UInt8], _ y: [UInt8], _ pin: [UInt8], _ token: [UInt8], _ permit: [UInt8]?
    ) throws(MPinError) -> (sec: [UInt8], u: [UInt8], v: [UInt8]) {
        var sec = [UInt8](repeating: 0, count: 65), u = sec
        var timed = [UInt8](repeating: 0, count: permit == nil ? 0 : 65)
        var secOut = sec.mutableSpan, uOut = u.mutableSpan, timedOut = timed.mutableSpan
        try Client.pass1(
            date: permit == nil ? 0 : date, id: id.span, x: x.span, pinScalar: pin.span, pinBits: 14,
            token: token.span, permit: permit?.span, sec: &secOut, u: &uOut, ut: &timedOut)
        let secret = sec
        let v = try filled(65) { out throws(MPinError) in
            try Client.pass2(x: x.span, y: y.span, sec: secret.span, into: &out)
        }
        return (sec, permit == nil ? u : timed, v)
    }
}
