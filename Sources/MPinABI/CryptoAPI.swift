// mpin_crypto.h: sizes, identity, trust authority, PIN. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CMPin
import MPinCrypto
import MPinSecrets

@_cdecl("mpin_crypto_g1_size") @implementation
public func mpin_crypto_g1_size() -> Int { MPinSize.g1 }

@_cdecl("mpin_crypto_g2_size") @implementation
public func mpin_crypto_g2_size() -> Int { MPinSize.g2 }

@_cdecl("mpin_crypto_gt_size") @implementation
public func mpin_crypto_gt_size() -> Int { MPinSize.gt }

@_cdecl("mpin_crypto_scalar_size") @implementation
public func mpin_crypto_scalar_size() -> Int { MPinSize.scalar }

@_cdecl("mpin_crypto_hash_size") @implementation
public func mpin_crypto_hash_size() -> Int { MPinSize.hash }

@_cdecl("mpin_crypto_hash_id") @implementation
public func mpin_crypto_hash_id(
    _ hash: UnsafeMutablePointer<UInt8>?, _ hash_len: Int, _ id: UnsafePointer<UInt8>?, _ id_len: Int
) -> Int32 {
    guard let id = octets(id, id_len) else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let hash = try Output(hash, hash_len, size: MPinSize.hash)
        var hashRoom = hash.room.mutableSpan
        try Identity.hash(id: id.span, into: &hashRoom)
        hash.handOver()
    }
}

@_cdecl("mpin_crypto_map_to_g1") @implementation
public func mpin_crypto_map_to_g1(
    _ point: UnsafeMutablePointer<UInt8>?, _ point_len: Int, _ hash: UnsafePointer<UInt8>?, _ hash_len: Int
) -> Int32 {
    guard let hash = octets(hash, hash_len) else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let point = try Output(point, point_len, size: MPinSize.g1)
        var pointRoom = point.room.mutableSpan
        try Identity.mapToG1(hash: hash.span, into: &pointRoom)
        point.handOver()
    }
}

@_cdecl("mpin_crypto_random_generate") @implementation
public func mpin_crypto_random_generate(
    _ scalar: UnsafeMutablePointer<UInt8>?, _ scalar_len: Int
) -> Int32 {
    return crypto { () throws(MPinError) in
        let scalar = try Output(scalar, scalar_len, size: MPinSize.scalar)
        var scalarRoom = scalar.room.mutableSpan
        try RandomScalar.generate(into: &scalarRoom, random: systemRandom)
        scalar.handOver()
    }
}

@_cdecl("mpin_crypto_get_client_secret") @implementation
public func mpin_crypto_get_client_secret(
    _ secret: UnsafeMutablePointer<UInt8>?, _ secret_len: Int, _ s: UnsafePointer<UInt8>?, _ s_len: Int,
    _ hash_id: UnsafePointer<UInt8>?, _ hash_id_len: Int
) -> Int32 {
    guard let s = octets(s, s_len),
        let hash_id = octets(hash_id, hash_id_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let secret = try Output(secret, secret_len, size: MPinSize.g1)
        var secretRoom = secret.room.mutableSpan
        try TrustAuthority.clientSecretShare(master: s.span, hashID: hash_id.span, into: &secretRoom)
        secret.handOver()
    }
}

@_cdecl("mpin_crypto_get_server_secret") @implementation
public func mpin_crypto_get_server_secret(
    _ secret: UnsafeMutablePointer<UInt8>?, _ secret_len: Int, _ s: UnsafePointer<UInt8>?, _ s_len: Int
) -> Int32 {
    guard let s = octets(s, s_len) else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let secret = try Output(secret, secret_len, size: MPinSize.g2)
        var secretRoom = secret.room.mutableSpan
        try TrustAuthority.serverSecretShare(master: s.span, into: &secretRoom)
        secret.handOver()
    }
}

@_cdecl("mpin_crypto_get_client_permit") @implementation
public func mpin_crypto_get_client_permit(
    _ permit: UnsafeMutablePointer<UInt8>?, _ permit_len: Int, _ date: Int32,
    _ s: UnsafePointer<UInt8>?, _ s_len: Int, _ hash_id: UnsafePointer<UInt8>?, _ hash_id_len: Int
) -> Int32 {
    guard let s = octets(s, s_len),
        let hash_id = octets(hash_id, hash_id_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let permit = try Output(permit, permit_len, size: MPinSize.g1)
        var permitRoom = permit.room.mutableSpan
        try TrustAuthority.timePermitShare(master: s.span, date: date, hashID: hash_id.span, into: &permitRoom)
        permit.handOver()
    }
}

@_cdecl("mpin_crypto_recombine_g1") @implementation
public func mpin_crypto_recombine_g1(
    _ sum: UnsafeMutablePointer<UInt8>?, _ sum_len: Int, _ a: UnsafePointer<UInt8>?, _ a_len: Int,
    _ b: UnsafePointer<UInt8>?, _ b_len: Int
) -> Int32 {
    guard let a = octets(a, a_len),
        let b = octets(b, b_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let sum = try Output(sum, sum_len, size: MPinSize.g1)
        var sumRoom = sum.room.mutableSpan
        try Shares.recombineG1(a.span, b.span, into: &sumRoom)
        sum.handOver()
    }
}

@_cdecl("mpin_crypto_recombine_g2") @implementation
public func mpin_crypto_recombine_g2(
    _ sum: UnsafeMutablePointer<UInt8>?, _ sum_len: Int, _ a: UnsafePointer<UInt8>?, _ a_len: Int,
    _ b: UnsafePointer<UInt8>?, _ b_len: Int
) -> Int32 {
    guard let a = octets(a, a_len),
        let b = octets(b, b_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let sum = try Output(sum, sum_len, size: MPinSize.g2)
        var sumRoom = sum.room.mutableSpan
        try Shares.recombineG2(a.span, b.span, into: &sumRoom)
        sum.handOver()
    }
}

/// The PIN mapping that has this number in the C header. Nil if no mapping has it.
private func pinMapping(_ number: Int32) -> PINMapping? {
    switch number {
    case MPIN_PIN_DECIMAL6: .decimal6
    case MPIN_PIN_DECIMAL4: .decimal4
    case MPIN_PIN_LEGACY_HASH: .legacyHash
    case MPIN_PIN_LEGACY14: .legacy14
    default: nil
    }
}

@_cdecl("mpin_crypto_pin_to_scalar") @implementation
public func mpin_crypto_pin_to_scalar(
    _ scalar: UnsafeMutablePointer<UInt8>?, _ scalar_len: Int, _ bits: UnsafeMutablePointer<Int32>?,
    _ mapping: Int32, _ pin: UnsafePointer<UInt8>?, _ pin_len: Int
) -> Int32 {
    guard let pin = octets(pin, pin_len),
        let bits,
        let mapping = pinMapping(mapping)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let scalar = try Output(scalar, scalar_len, size: MPinSize.scalar)
        var scalarRoom = scalar.room.mutableSpan
        try mapping.scalar(pin: pin.span, into: &scalarRoom)
        bits.pointee = Int32(mapping.bits)
        scalar.handOver()
    }
}

@_cdecl("mpin_crypto_extract_pin") @implementation
public func mpin_crypto_extract_pin(
    _ token: UnsafeMutablePointer<UInt8>?, _ token_len: Int, _ id: UnsafePointer<UInt8>?, _ id_len: Int,
    _ pin: UnsafePointer<UInt8>?, _ pin_len: Int, _ pin_bits: Int32,
    _ client_secret: UnsafePointer<UInt8>?, _ client_secret_len: Int
) -> Int32 {
    guard let id = octets(id, id_len),
        let pin = octets(pin, pin_len),
        let client_secret = octets(client_secret, client_secret_len)
    else { return MPIN_CRYPTO_WRONG_PARAMETER }
    return crypto { () throws(MPinError) in
        let token = try Output(token, token_len, size: MPinSize.g1)
        var tokenRoom = token.room.mutableSpan
        try Client.extractPIN(
            id: id.span, pinScalar: pin.span, pinBits: Int(pin_bits), clientSecret: client_secret.span, into: &tokenRoom
        )
        token.handOver()
    }
}

extension MPinError {
    /// The number of the error in the C header.
    var code: Int32 {
        switch self {
        case .wrongParameter: MPIN_CRYPTO_WRONG_PARAMETER
        case .invalidPoint: MPIN_CRYPTO_INVALID_POINT
        case .wrongOrder: MPIN_CRYPTO_WRONG_ORDER
        case .badPIN: MPIN_CRYPTO_BAD_PIN
        case .randomFailed: MPIN_CRYPTO_RANDOM_FAILED
        case .bufferTooSmall: MPIN_CRYPTO_BUFFER_TOO_SMALL
        }
    }
}

/// Runs a cryptographic operation and returns its result as a number of the C header.
func crypto(_ primitive: () throws(MPinError) -> Void) -> Int32 {
    do {
        try primitive()
        return MPIN_CRYPTO_OK
    } catch {
        return error.code
    }
}
