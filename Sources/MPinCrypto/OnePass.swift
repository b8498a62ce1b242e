import BN254CX
import MPinSecrets

/// The one-pass protocol: the client computes the challenge y itself from the time, its commitment and a message. The
/// proof is then a signature of the message that convinces the holder of the server secret. It convinces nobody else,
/// because this holder could have made the proof as well.
package enum OnePass {
    /// Writes y = SHA-256(time as four big-endian bytes || U || message) mod r, 32 bytes.
    ///
    /// The time is in seconds since 1970, 1 to 2^32 - 1; a time in milliseconds is larger and is refused. `u` is the
    /// commitment U of 65 bytes (UT with a time permit). The message has any length.
    package static func y(
        time: Int64, u: Span<UInt8>, message: Span<UInt8>, into y: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard let time = UInt32(exactly: time), time > 0, u.count == MPinSize.g1, y.count == MPinSize.scalar else {
            throw .wrongParameter
        }
        try withG1Arena { arena throws(MPinError) in
            _ = try arena.decodeG1(u)
            var prefix = InlineArray<69, UInt8>(repeating: 0)
            for i in 0..<4 { prefix[i] = UInt8(truncatingIfNeeded: time >> UInt32(24 &- 8 &* i)) }
            for i in 0..<MPinSize.g1 { prefix[4 &+ i] = u[i] }
            SHA256.hash(prefix.span, message, into: &y)
            let value = arena.scalar()
            guard value.load(y.span) else { throw .wrongParameter }
            value.reduce()
            guard value.encode(into: &y) else { throw .wrongParameter }
        }
    }

    /// Writes the client's proof: `point`, `u` and `ut` as in `Client.pass1`, and `v` as in `Client.pass2` for the y that
    /// `y(time:u:message:into:)` computes.
    package static func prove(
        date: Int32, id: Span<UInt8>, point: Span<UInt8>? = nil, x: Span<UInt8>, pinScalar: Span<UInt8>, pinBits: Int,
        token: Span<UInt8>, permit: Span<UInt8>?, time: Int64, message: Span<UInt8>, u: inout MutableSpan<UInt8>,
        ut: inout MutableSpan<UInt8>, v: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard v.count == MPinSize.g1 else { throw .wrongParameter }
        try withG1Arena { arena throws(MPinError) in
            let secret = arena.octets(MPinSize.g1)
            var sec = secret.mutableSpan
            try Client.pass1(
                date: date, id: id, point: point, x: x, pinScalar: pinScalar, pinBits: pinBits, token: token,
                permit: permit, sec: &sec, u: &u, ut: &ut)
            var y = InlineArray<32, UInt8>(repeating: 0)
            var ySpan = y.mutableSpan
            if date > 0 {
                try OnePass.y(time: time, u: ut.span, message: message, into: &ySpan)
            } else {
                try OnePass.y(time: time, u: u.span, message: message, into: &ySpan)
            }
            try Client.pass2(x: x, y: y.span, sec: secret.span, into: &v)
        }
    }
}

extension ServerContext {
    /// Verifies a proof of `OnePass.prove`. If the proof is wrong, writes `e` and `f` as in `pass2` and throws
    /// `badPIN`.
    ///
    /// A date above 0 requires `ut`, otherwise `u` is required; `u` is also required if `e` and `f` are wanted.
    /// `publicKey`, 128 bytes, is the public key of an identity with a key pair; nil for any other identity.
    package func onePass(
        date: Int32, id: Span<UInt8>, u: Span<UInt8>?, ut: Span<UInt8>?, v: Span<UInt8>, time: Int64,
        message: Span<UInt8>, publicKey: Span<UInt8>?, e: inout MutableSpan<UInt8>, f: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard let commitment = date > 0 ? ut : u else { throw .wrongParameter }
        var hid = InlineArray<65, UInt8>(repeating: 0), htid = InlineArray<65, UInt8>(repeating: 0)
        var y = InlineArray<32, UInt8>(repeating: 0)
        var ySpan = y.mutableSpan, hidSpan = hid.mutableSpan, htidSpan = htid.mutableSpan
        try OnePass.y(time: time, u: commitment, message: message, into: &ySpan)
        var none = MutableSpan<UInt8>()
        if date > 0 {
            try Server.pass1(date: date, id: id, hid: &hidSpan, htid: &htidSpan)
        } else {
            try Server.pass1(date: date, id: id, hid: &hidSpan, htid: &none)
        }
        try pass2(
            date: date, hid: hid.span, htid: htid.span, y: y.span, u: u, ut: ut, v: v, publicKey: publicKey, e: &e,
            f: &f)
    }
}
