// mpin_crypto.h: one pass, M-Pin Full. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CMPin
import MPinCrypto

@_cdecl("mpin_crypto_key_size") @implementation
public func mpin_crypto_key_size() -> Int { MPinFull.keySize }

@_cdecl("mpin_crypto_get_y") @implementation
public func mpin_crypto_get_y(
    _ y: UnsafeMutablePointer<UInt8>?, _ y_len: Int, _ time: Int64, _ u: UnsafePointer<UInt8>?, _ u_len: Int,
    _ message: UnsafePointer<UInt8>?, _ message_len: Int
) -> Int32 {
    guard let u = octets(u, u_len),
        let message = octets(message, message_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let y = try Output(y, y_len, size: MPinSize.scalar)
        var yRoom = y.room.mutableSpan
        try OnePass.y(time: time, u: u.span, message: message.span, into: &yRoom)
        y.handOver()
    }
}

@_cdecl("mpin_crypto_client") @implementation
public func mpin_crypto_client(
    _ u: UnsafeMutablePointer<UInt8>?, _ u_len: Int, _ ut: UnsafeMutablePointer<UInt8>?, _ ut_len: Int,
    _ v: UnsafeMutablePointer<UInt8>?, _ v_len: Int, _ date: Int32, _ id: UnsafePointer<UInt8>?, _ id_len: Int,
    _ x: UnsafePointer<UInt8>?, _ x_len: Int, _ pin: UnsafePointer<UInt8>?, _ pin_len: Int, _ pin_bits: Int32,
    _ token: UnsafePointer<UInt8>?, _ token_len: Int, _ permit: UnsafePointer<UInt8>?, _ permit_len: Int,
    _ time: Int64, _ message: UnsafePointer<UInt8>?, _ message_len: Int
) -> Int32 {
    guard let id = octets(id, id_len),
        let x = octets(x, x_len),
        let pin = octets(pin, pin_len),
        let token = octets(token, token_len),
        let permit = optionalOctets(permit, permit_len),
        let message = octets(message, message_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let u = try Output(u, u_len, size: MPinSize.g1)
        let ut = try Output(ut, ut_len, size: MPinSize.g1, optional: true)
        let v = try Output(v, v_len, size: MPinSize.g1)
        var uRoom = u.room.mutableSpan
        var utRoom = ut.room.mutableSpan
        var vRoom = v.room.mutableSpan
        try OnePass.prove(
            date: date, id: id.span, x: x.span, pinScalar: pin.span, pinBits: Int(pin_bits), token: token.span,
            permit: permit?.span, time: time, message: message.span, u: &uRoom, ut: &utRoom, v: &vRoom)
        u.handOver()
        ut.handOver()
        v.handOver()
    }
}

@_cdecl("mpin_crypto_server") @implementation
public func mpin_crypto_server(
    _ e: UnsafeMutablePointer<UInt8>?, _ e_len: Int, _ f: UnsafeMutablePointer<UInt8>?, _ f_len: Int, _ date: Int32,
    _ id: UnsafePointer<UInt8>?, _ id_len: Int, _ server_secret: UnsafePointer<UInt8>?, _ server_secret_len: Int,
    _ public_key: UnsafePointer<UInt8>?, _ public_key_len: Int, _ u: UnsafePointer<UInt8>?, _ u_len: Int,
    _ ut: UnsafePointer<UInt8>?, _ ut_len: Int, _ v: UnsafePointer<UInt8>?, _ v_len: Int, _ time: Int64,
    _ message: UnsafePointer<UInt8>?, _ message_len: Int
) -> Int32 {
    guard let id = octets(id, id_len),
        let server_secret = octets(server_secret, server_secret_len),
        let public_key = optionalOctets(public_key, public_key_len),
        let u = optionalOctets(u, u_len),
        let ut = optionalOctets(ut, ut_len),
        let v = octets(v, v_len),
        let message = octets(message, message_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let e = try Output(e, e_len, size: MPinSize.gt, optional: true)
        let f = try Output(f, f_len, size: MPinSize.gt, optional: true)
        var eRoom = e.room.mutableSpan
        var fRoom = f.room.mutableSpan
        let context = try ServerContext(serverSecret: server_secret.span)
        do throws(MPinError) {
            try context.onePass(
                date: date, id: id.span, u: u?.span, ut: ut?.span, v: v.span, time: time, message: message.span,
                publicKey: public_key?.span, e: &eRoom, f: &fRoom)
        } catch {
            if error == .badPIN {
                e.handOver()
                f.handOver()
            }
            throw error
        }
    }
}

@_cdecl("mpin_crypto_precompute") @implementation
public func mpin_crypto_precompute(
    _ g1: UnsafeMutablePointer<UInt8>?, _ g1_len: Int, _ g2: UnsafeMutablePointer<UInt8>?, _ g2_len: Int,
    _ token: UnsafePointer<UInt8>?, _ token_len: Int, _ hash_id: UnsafePointer<UInt8>?, _ hash_id_len: Int
) -> Int32 {
    guard let token = octets(token, token_len),
        let hash_id = octets(hash_id, hash_id_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let g1 = try Output(g1, g1_len, size: MPinSize.gt)
        let g2 = try Output(g2, g2_len, size: MPinSize.gt)
        var g1Room = g1.room.mutableSpan
        var g2Room = g2.room.mutableSpan
        try MPinFull.precompute(token: token.span, hashID: hash_id.span, g1: &g1Room, g2: &g2Room)
        g1.handOver()
        g2.handOver()
    }
}

@_cdecl("mpin_crypto_client_key") @implementation
public func mpin_crypto_client_key(
    _ key: UnsafeMutablePointer<UInt8>?, _ key_len: Int, _ g1: UnsafePointer<UInt8>?, _ g1_len: Int,
    _ g2: UnsafePointer<UInt8>?, _ g2_len: Int, _ pin: UnsafePointer<UInt8>?, _ pin_len: Int, _ pin_bits: Int32,
    _ r: UnsafePointer<UInt8>?, _ r_len: Int, _ x: UnsafePointer<UInt8>?, _ x_len: Int,
    _ t: UnsafePointer<UInt8>?, _ t_len: Int
) -> Int32 {
    guard let g1 = octets(g1, g1_len),
        let g2 = octets(g2, g2_len),
        let pin = octets(pin, pin_len),
        let r = octets(r, r_len),
        let x = octets(x, x_len),
        let t = octets(t, t_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let key = try Output(key, key_len, size: MPinFull.keySize)
        var keyRoom = key.room.mutableSpan
        try MPinFull.clientKey(
            g1: g1.span, g2: g2.span, pinScalar: pin.span, pinBits: Int(pin_bits), r: r.span, x: x.span, t: t.span,
            into: &keyRoom)
        key.handOver()
    }
}

@_cdecl("mpin_crypto_server_key") @implementation
public func mpin_crypto_server_key(
    _ key: UnsafeMutablePointer<UInt8>?, _ key_len: Int, _ z: UnsafePointer<UInt8>?, _ z_len: Int,
    _ server_secret: UnsafePointer<UInt8>?, _ server_secret_len: Int, _ w: UnsafePointer<UInt8>?, _ w_len: Int,
    _ u: UnsafePointer<UInt8>?, _ u_len: Int, _ ut: UnsafePointer<UInt8>?, _ ut_len: Int
) -> Int32 {
    guard let z = octets(z, z_len),
        let server_secret = octets(server_secret, server_secret_len),
        let w = octets(w, w_len),
        let u = octets(u, u_len),
        let ut = optionalOctets(ut, ut_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let key = try Output(key, key_len, size: MPinFull.keySize)
        var keyRoom = key.room.mutableSpan
        try MPinFull.serverKey(
            z: z.span, serverSecret: server_secret.span, w: w.span, u: u.span, ut: ut?.span, into: &keyRoom)
        key.handOver()
    }
}
