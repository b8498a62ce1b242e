// mpin_crypto.h: factors, key pair, Elligator squared. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CMPin
import MPinCrypto
import MPinSecrets

@_cdecl("mpin_crypto_extract_factor") @implementation
public func mpin_crypto_extract_factor(
    _ result: UnsafeMutablePointer<UInt8>?, _ result_len: Int, _ id: UnsafePointer<UInt8>?, _ id_len: Int,
    _ factor: UnsafePointer<UInt8>?, _ factor_len: Int, _ factor_bits: Int32,
    _ token: UnsafePointer<UInt8>?, _ token_len: Int
) -> Int32 {
    guard let id = octets(id, id_len),
        let factor = octets(factor, factor_len),
        let token = octets(token, token_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let result = try Output(result, result_len, size: MPinSize.g1)
        var resultRoom = result.room.mutableSpan
        try Factor.extract(
            id: id.span, factor: factor.span, bits: Int(factor_bits), token: token.span, into: &resultRoom)
        result.handOver()
    }
}

@_cdecl("mpin_crypto_restore_factor") @implementation
public func mpin_crypto_restore_factor(
    _ result: UnsafeMutablePointer<UInt8>?, _ result_len: Int, _ id: UnsafePointer<UInt8>?, _ id_len: Int,
    _ factor: UnsafePointer<UInt8>?, _ factor_len: Int, _ factor_bits: Int32,
    _ token: UnsafePointer<UInt8>?, _ token_len: Int
) -> Int32 {
    guard let id = octets(id, id_len),
        let factor = octets(factor, factor_len),
        let token = octets(token, token_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let result = try Output(result, result_len, size: MPinSize.g1)
        var resultRoom = result.room.mutableSpan
        try Factor.restore(
            id: id.span, factor: factor.span, bits: Int(factor_bits), token: token.span, into: &resultRoom)
        result.handOver()
    }
}

@_cdecl("mpin_crypto_change_pin") @implementation
public func mpin_crypto_change_pin(
    _ result: UnsafeMutablePointer<UInt8>?, _ result_len: Int, _ id: UnsafePointer<UInt8>?, _ id_len: Int,
    _ old_pin: UnsafePointer<UInt8>?, _ old_pin_len: Int, _ old_pin_bits: Int32,
    _ new_pin: UnsafePointer<UInt8>?, _ new_pin_len: Int, _ new_pin_bits: Int32,
    _ token: UnsafePointer<UInt8>?, _ token_len: Int
) -> Int32 {
    guard let id = octets(id, id_len),
        let old_pin = octets(old_pin, old_pin_len),
        let new_pin = octets(new_pin, new_pin_len),
        let token = octets(token, token_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let result = try Output(result, result_len, size: MPinSize.g1)
        var resultRoom = result.room.mutableSpan
        try Factor.changePIN(
            id: id.span, old: old_pin.span, oldBits: Int(old_pin_bits), new: new_pin.span, newBits: Int(new_pin_bits),
            token: token.span, into: &resultRoom)
        result.handOver()
    }
}

@_cdecl("mpin_crypto_get_dvs_keypair") @implementation
public func mpin_crypto_get_dvs_keypair(
    _ z: UnsafeMutablePointer<UInt8>?, _ z_len: Int, _ public_key: UnsafeMutablePointer<UInt8>?, _ public_key_len: Int
) -> Int32 {
    return crypto { () throws(MPinError) in
        let z = try Output(z, z_len, size: MPinSize.scalar)
        let public_key = try Output(public_key, public_key_len, size: MPinSize.g2)
        var zRoom = z.room.mutableSpan
        var publicKeyRoom = public_key.room.mutableSpan
        try KeyPair.generate(z: &zRoom, publicKey: &publicKeyRoom, random: systemRandom)
        z.handOver()
        public_key.handOver()
    }
}

@_cdecl("mpin_crypto_get_dvs_public_key") @implementation
public func mpin_crypto_get_dvs_public_key(
    _ public_key: UnsafeMutablePointer<UInt8>?, _ public_key_len: Int, _ z: UnsafePointer<UInt8>?, _ z_len: Int
) -> Int32 {
    guard let z = octets(z, z_len) else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let public_key = try Output(public_key, public_key_len, size: MPinSize.g2)
        var publicKeyRoom = public_key.room.mutableSpan
        try KeyPair.publicKey(z: z.span, into: &publicKeyRoom)
        public_key.handOver()
    }
}

@_cdecl("mpin_crypto_get_g1_multiple") @implementation
public func mpin_crypto_get_g1_multiple(
    _ product: UnsafeMutablePointer<UInt8>?, _ product_len: Int, _ x: UnsafePointer<UInt8>?, _ x_len: Int,
    _ point: UnsafePointer<UInt8>?, _ point_len: Int
) -> Int32 {
    guard let x = octets(x, x_len),
        let point = octets(point, point_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let product = try Output(product, product_len, size: MPinSize.g1)
        var productRoom = product.room.mutableSpan
        try KeyPair.multiple(z: x.span, of: point.span, into: &productRoom)
        product.handOver()
    }
}

@_cdecl("mpin_crypto_server_context_verify_dvs") @implementation
public func mpin_crypto_server_context_verify_dvs(
    _ context: OpaquePointer?, _ public_key: UnsafePointer<UInt8>?, _ public_key_len: Int,
    _ id: UnsafePointer<UInt8>?, _ id_len: Int, _ u: UnsafePointer<UInt8>?, _ u_len: Int,
    _ y: UnsafePointer<UInt8>?, _ y_len: Int, _ v: UnsafePointer<UInt8>?, _ v_len: Int
) -> Int32 {
    guard let context = contexts.object(context) else { return MPIN_CRYPTO_INVALID_HANDLE }
    guard let public_key = octets(public_key, public_key_len),
        let id = octets(id, id_len),
        let u = octets(u, u_len),
        let y = octets(y, y_len),
        let v = octets(v, v_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let isRight = try context.verify(
            id: id.span, date: 0, u: u.span, y: y.span, v: v.span, publicKey: public_key.span)
        guard isRight else { throw .badPIN }
    }
}

@_cdecl("mpin_crypto_encoding") @implementation
public func mpin_crypto_encoding(
    _ encoded: UnsafeMutablePointer<UInt8>?, _ encoded_len: Int, _ point: UnsafePointer<UInt8>?, _ point_len: Int
) -> Int32 {
    guard let point = octets(point, point_len) else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let encoded = try Output(encoded, encoded_len, size: ElligatorSquared.size)
        var encodedRoom = encoded.room.mutableSpan
        try ElligatorSquared.encode(point: point.span, random: systemRandom, into: &encodedRoom)
        encoded.handOver()
    }
}

@_cdecl("mpin_crypto_decoding") @implementation
public func mpin_crypto_decoding(
    _ point: UnsafeMutablePointer<UInt8>?, _ point_len: Int, _ encoded: UnsafePointer<UInt8>?, _ encoded_len: Int
) -> Int32 {
    guard let encoded = octets(encoded, encoded_len) else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let point = try Output(point, point_len, size: MPinSize.g1)
        var pointRoom = point.room.mutableSpan
        try ElligatorSquared.decode(encoded.span, into: &pointRoom)
        point.handOver()
    }
}
