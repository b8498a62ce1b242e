// mpin.h: a user. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import MPinSDK

@_cdecl("mpin_user_free") @implementation
public func mpin_user_free(_ user: OpaquePointer?) {
    removeUser(user)
}

@_cdecl("mpin_user_get_id") @implementation
public func mpin_user_get_id(
    _ user: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    get(user, out, out_len) { $0.id }
}

@_cdecl("mpin_user_get_backend") @implementation
public func mpin_user_get_backend(
    _ user: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    get(user, out, out_len) { $0.backend }
}

@_cdecl("mpin_user_get_mpin_id") @implementation
public func mpin_user_get_mpin_id(
    _ user: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    get(user, out, out_len) { $0.mpinID }
}

@_cdecl("mpin_user_get_device_name") @implementation
public func mpin_user_get_device_name(
    _ user: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    get(user, out, out_len) { $0.deviceName }
}

@_cdecl("mpin_user_get_state") @implementation
public func mpin_user_get_state(_ user: OpaquePointer?, _ state: UnsafeMutablePointer<Int32>?) -> mpin_status {
    get(user, state) { $0.state.rawValue }
}

@_cdecl("mpin_user_get_state_legacy") @implementation
public func mpin_user_get_state_legacy(_ user: OpaquePointer?, _ state: UnsafeMutablePointer<Int32>?) -> mpin_status {
    get(user, state) { $0.state.legacyNumber }
}

@_cdecl("mpin_user_get_customer_id") @implementation
public func mpin_user_get_customer_id(
    _ user: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    get(user, out, out_len) { $0.customerID }
}

@_cdecl("mpin_user_get_app_id") @implementation
public func mpin_user_get_app_id(
    _ user: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    get(user, out, out_len) { $0.appID }
}

@_cdecl("mpin_user_get_pin_length") @implementation
public func mpin_user_get_pin_length(_ user: OpaquePointer?, _ digits: UnsafeMutablePointer<Int32>?) -> mpin_status {
    get(user, digits) { Int32(clamping: $0.pinLength) }
}

@_cdecl("mpin_user_get_registration_pin_length") @implementation
public func mpin_user_get_registration_pin_length(
    _ user: OpaquePointer?, _ digits: UnsafeMutablePointer<Int32>?
) -> mpin_status {
    get(user, digits) { Int32(clamping: $0.registrationPINLength) }
}

@_cdecl("mpin_user_get_verification_type") @implementation
public func mpin_user_get_verification_type(
    _ user: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    get(user, out, out_len) { $0.verificationType }
}

@_cdecl("mpin_user_get_can_sign") @implementation
public func mpin_user_get_can_sign(_ user: OpaquePointer?, _ can_sign: UnsafeMutablePointer<Int32>?) -> mpin_status {
    get(user, can_sign) { $0.canSign ? 1 : 0 }
}

@_cdecl("mpin_user_is_registration_token_set") @implementation
public func mpin_user_is_registration_token_set(_ user: OpaquePointer?, _ is_set: UnsafeMutablePointer<Int32>?)
    -> mpin_status
{
    get(user, is_set) { $0.isRegistrationTokenSet ? 1 : 0 }
}

@_cdecl("mpin_user_get_registration_expiration") @implementation
public func mpin_user_get_registration_expiration(
    _ user: OpaquePointer?, _ expiration: UnsafeMutablePointer<mpin_expiration>?
) -> mpin_status {
    guard let user = MPinABI.user(user) else { return unusable(user) }
    guard var output = StructureOutput(expiration) else { return MPIN_INVALID_ARGUMENT }
    let known = Forks.during { user.registrationExpiration }
    output.set(\.expire_time, known.expireTime)
    output.set(\.now_time, known.nowTime)
    return output.handOver() ? MPIN_OK : MPIN_INVALID_ARGUMENT
}

/// Writes the text that `text` returns for a user, and returns the status for C.
func get(
    _ user: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?,
    _ text: (User) -> String
) -> mpin_status {
    guard let user = MPinABI.user(user) else { return unusable(user) }
    return copyOut(Forks.during { text(user) }, out, out_len)
}

/// Writes the number that `number` returns for a user, and returns the status for C.
func get(
    _ user: OpaquePointer?, _ out: UnsafeMutablePointer<Int32>?, _ number: (User) -> Int32
) -> mpin_status {
    guard let user = MPinABI.user(user) else { return unusable(user) }
    guard let out else { return MPIN_INVALID_ARGUMENT }
    out.pointee = Forks.during { number(user) }
    return MPIN_OK
}
