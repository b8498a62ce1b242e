// mpin.h: signing. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import MPinSDK

@_cdecl("mpin_sdk_start_registration_dvs") @implementation
public func mpin_sdk_start_registration_dvs(_ sdk: OpaquePointer?, _ user: OpaquePointer?, _ pin: UnsafePointer<CChar>?)
    -> mpin_status
{
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    return sdk.status { () throws(SDKError) in try sdk.startRegistrationDVS(user, pin: pin.span) }
}

@_cdecl("mpin_sdk_finish_registration_dvs") @implementation
public func mpin_sdk_finish_registration_dvs(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    return sdk.status { () throws(SDKError) in try sdk.finishRegistrationDVS(user, pin: pin.span) }
}

@_cdecl("mpin_sdk_hash_document") @implementation
public func mpin_sdk_hash_document(
    _ hash: UnsafeMutablePointer<UInt8>?, _ document: UnsafePointer<UInt8>?, _ document_len: Int
) -> mpin_status {
    guard let hash, let document = octets(document, document_len) else { return MPIN_INVALID_ARGUMENT }
    hash.update(from: SDK.hashDocument(document.span), count: hashSize)
    return MPIN_OK
}

@_cdecl("mpin_sdk_verify_document") @implementation
public func mpin_sdk_verify_document(
    _ is_same: UnsafeMutablePointer<Int32>?, _ document: UnsafePointer<UInt8>?, _ document_len: Int,
    _ hash: UnsafePointer<UInt8>?
) -> mpin_status {
    guard let is_same, let document = octets(document, document_len), let hash = octets(hash, hashSize) else {
        return MPIN_INVALID_ARGUMENT
    }
    is_same.pointee = SDK.verifyDocument(document.span, hash: hash.span) ? 1 : 0
    return MPIN_OK
}

private let hashSize = Int(MPIN_DOCUMENT_HASH_SIZE)

@_cdecl("mpin_sdk_sign") @implementation
public func mpin_sdk_sign(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ signature: UnsafeMutablePointer<mpin_signature>?,
    _ hash: UnsafePointer<UInt8>?, _ hash_len: Int, _ pin: UnsafePointer<CChar>?, _ epoch_time: Int64,
    _ authz_token: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let hash = octets(hash, hash_len), 1...256 ~= hash.count else {
        return sdk.refuse("hash is NULL or not 1 to 256 bytes")
    }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    guard 0..<1 << 32 ~= epoch_time else { return sdk.refuse("epoch_time is not below 2^32") }
    guard let authzToken = optionalText(authz_token) else { return sdk.refuse("authz_token is not UTF-8") }
    return sdk.status(signature) { output throws(SDKError) in
        let result = try sdk.sign(user, hash: hash.span, pin: pin.span, epochTime: epoch_time, authzToken: authzToken)
        set(&output, result)
    }
}

func set(_ output: inout StructureOutput<mpin_signature>, _ signature: Signature) {
    output.set(\.timestamp, signature.timestamp)
    output.set(\.u, bytes: signature.u.span)
    output.set(\.v, bytes: signature.v.span)
    output.set(\.public_key, bytes: signature.publicKey.span)
    output.set(\.mpin_id, text: signature.mpinID)
    output.set(\.dtas, text: signature.dtas)
}
