// mpin_crypto.h: client, server, pairing. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CMPin
import MPinCrypto

@_cdecl("mpin_crypto_client_1") @implementation
public func mpin_crypto_client_1(
    _ sec: UnsafeMutablePointer<UInt8>?, _ sec_len: Int, _ u: UnsafeMutablePointer<UInt8>?, _ u_len: Int,
    _ ut: UnsafeMutablePointer<UInt8>?, _ ut_len: Int, _ date: Int32, _ id: UnsafePointer<UInt8>?, _ id_len: Int,
    _ x: UnsafePointer<UInt8>?, _ x_len: Int, _ pin: UnsafePointer<UInt8>?, _ pin_len: Int, _ pin_bits: Int32,
    _ token: UnsafePointer<UInt8>?, _ token_len: Int, _ permit: UnsafePointer<UInt8>?, _ permit_len: Int
) -> Int32 {
    guard let id = octets(id, id_len),
        let x = octets(x, x_len),
        let pin = octets(pin, pin_len),
        let token = octets(token, token_len),
        let permit = optionalOctets(permit, permit_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let sec = try Output(sec, sec_len, size: MPinSize.g1)
        let u = try Output(u, u_len, size: MPinSize.g1)
        let ut = try Output(ut, ut_len, size: MPinSize.g1, optional: true)
        var secRoom = sec.room.mutableSpan
        var uRoom = u.room.mutableSpan
        var utRoom = ut.room.mutableSpan
        try Client.pass1(
            date: date, id: id.span, x: x.span, pinScalar: pin.span, pinBits: Int(pin_bits), token: token.span,
            permit: permit?.span, sec: &secRoom, u: &uRoom, ut: &utRoom)
        sec.handOver()
        u.handOver()
        ut.handOver()
    }
}

@_cdecl("mpin_crypto_client_2") @implementation
public func mpin_crypto_client_2(
    _ v: UnsafeMutablePointer<UInt8>?, _ v_len: Int, _ x: UnsafePointer<UInt8>?, _ x_len: Int,
    _ y: UnsafePointer<UInt8>?, _ y_len: Int, _ sec: UnsafePointer<UInt8>?, _ sec_len: Int
) -> Int32 {
    guard let x = octets(x, x_len),
        let y = octets(y, y_len),
        let sec = octets(sec, sec_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let v = try Output(v, v_len, size: MPinSize.g1)
        var vRoom = v.room.mutableSpan
        try Client.pass2(x: x.span, y: y.span, sec: sec.span, into: &vRoom)
        v.handOver()
    }
}

@_cdecl("mpin_crypto_server_1") @implementation
public func mpin_crypto_server_1(
    _ hid: UnsafeMutablePointer<UInt8>?, _ hid_len: Int, _ htid: UnsafeMutablePointer<UInt8>?, _ htid_len: Int,
    _ date: Int32, _ id: UnsafePointer<UInt8>?, _ id_len: Int
) -> Int32 {
    guard let id = octets(id, id_len) else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let hid = try Output(hid, hid_len, size: MPinSize.g1)
        let htid = try Output(htid, htid_len, size: MPinSize.g1, optional: true)
        var hidRoom = hid.room.mutableSpan
        var htidRoom = htid.room.mutableSpan
        try Server.pass1(date: date, id: id.span, hid: &hidRoom, htid: &htidRoom)
        hid.handOver()
        htid.handOver()
    }
}

let contexts = HandleTable<ServerContext>(.serverContext, survivesForks: true)

@_cdecl("mpin_crypto_server_context_new") @implementation
public func mpin_crypto_server_context_new(
    _ context: UnsafeMutablePointer<OpaquePointer?>?,
    _ server_secret: UnsafePointer<UInt8>?, _ server_secret_len: Int
) -> Int32 {
    guard let context, let server_secret = octets(server_secret, server_secret_len) else {
        return MPIN_CRYPTO_WRONG_PARAMETER
    }
    return crypto { () throws(MPinError) in
        let handle = contexts.insert(try ServerContext(serverSecret: server_secret.span))
        guard let handle else { throw .wrongParameter }
        context.pointee = handle
    }
}

@_cdecl("mpin_crypto_server_context_free") @implementation
public func mpin_crypto_server_context_free(_ context: OpaquePointer?) {
    _ = contexts.remove(context)
}

@_cdecl("mpin_crypto_server_context_verify") @implementation
public func mpin_crypto_server_context_verify(
    _ context: OpaquePointer?, _ date: Int32, _ id: UnsafePointer<UInt8>?, _ id_len: Int,
    _ u: UnsafePointer<UInt8>?, _ u_len: Int, _ y: UnsafePointer<UInt8>?, _ y_len: Int,
    _ v: UnsafePointer<UInt8>?, _ v_len: Int
) -> Int32 {
    guard let context = contexts.object(context) else { return MPIN_CRYPTO_INVALID_HANDLE }
    guard let id = octets(id, id_len),
        let u = octets(u, u_len),
        let y = octets(y, y_len),
        let v = octets(v, v_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        guard try context.verify(id: id.span, date: date, u: u.span, y: y.span, v: v.span) else { throw .badPIN }
    }
}

@_cdecl("mpin_crypto_server_2") @implementation
public func mpin_crypto_server_2(
    _ e: UnsafeMutablePointer<UInt8>?, _ e_len: Int, _ f: UnsafeMutablePointer<UInt8>?, _ f_len: Int, _ date: Int32,
    _ hid: UnsafePointer<UInt8>?, _ hid_len: Int, _ htid: UnsafePointer<UInt8>?, _ htid_len: Int,
    _ y: UnsafePointer<UInt8>?, _ y_len: Int, _ server_secret: UnsafePointer<UInt8>?, _ server_secret_len: Int,
    _ u: UnsafePointer<UInt8>?, _ u_len: Int, _ ut: UnsafePointer<UInt8>?, _ ut_len: Int,
    _ v: UnsafePointer<UInt8>?, _ v_len: Int
) -> Int32 {
    guard let hid = octets(hid, hid_len),
        let htid = optionalOctets(htid, htid_len),
        let y = octets(y, y_len),
        let server_secret = octets(server_secret, server_secret_len),
        let u = optionalOctets(u, u_len),
        let ut = optionalOctets(ut, ut_len),
        let v = octets(v, v_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let e = try Output(e, e_len, size: MPinSize.gt, optional: true)
        let f = try Output(f, f_len, size: MPinSize.gt, optional: true)
        var eRoom = e.room.mutableSpan
        var fRoom = f.room.mutableSpan
        let context = try ServerContext(serverSecret: server_secret.span)
        do throws(MPinError) {
            try context.pass2(
                date: date, hid: hid.span, htid: htid?.span, y: y.span, u: u?.span, ut: ut?.span, v: v.span,
                e: &eRoom, f: &fRoom)
        } catch {
            if error == .badPIN {
                e.handOver()
                f.handOver()
            }
            throw error
        }
    }
}

@_cdecl("mpin_crypto_kangaroo") @implementation
public func mpin_crypto_kangaroo(
    _ error: UnsafeMutablePointer<Int32>?, _ e: UnsafePointer<UInt8>?, _ e_len: Int,
    _ f: UnsafePointer<UInt8>?, _ f_len: Int, _ range: Int32
) -> Int32 {
    guard let error, let e = octets(e, e_len), let f = octets(f, f_len), 1...999_999 ~= range else {
        return MPIN_CRYPTO_WRONG_PARAMETER
    }
    return crypto { () throws(MPinError) in
        error.pointee = try Kangaroo.find(e: e.span, f: f.span, range: range) ?? 0
    }
}

@_cdecl("mpin_crypto_pairing") @implementation
public func mpin_crypto_pairing(
    _ e: UnsafeMutablePointer<UInt8>?, _ e_len: Int, _ q: UnsafePointer<UInt8>?, _ q_len: Int,
    _ p: UnsafePointer<UInt8>?, _ p_len: Int
) -> Int32 {
    guard let q = octets(q, q_len),
        let p = octets(p, p_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let e = try Output(e, e_len, size: MPinSize.gt)
        var eRoom = e.room.mutableSpan
        try PairingOctets.pairing(q: q.span, p: p.span, into: &eRoom)
        e.handOver()
    }
}

@_cdecl("mpin_crypto_pairing_product") @implementation
public func mpin_crypto_pairing_product(
    _ e: UnsafeMutablePointer<UInt8>?, _ e_len: Int, _ q1: UnsafePointer<UInt8>?, _ q1_len: Int,
    _ p1: UnsafePointer<UInt8>?, _ p1_len: Int, _ q2: UnsafePointer<UInt8>?, _ q2_len: Int,
    _ p2: UnsafePointer<UInt8>?, _ p2_len: Int
) -> Int32 {
    guard let q1 = octets(q1, q1_len),
        let p1 = octets(p1, p1_len),
        let q2 = octets(q2, q2_len),
        let p2 = octets(p2, p2_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let e = try Output(e, e_len, size: MPinSize.gt)
        var eRoom = e.room.mutableSpan
        try PairingOctets.product(q1: q1.span, p1: p1.span, q2: q2.span, p2: p2.span, into: &eRoom)
        e.handOver()
    }
}
