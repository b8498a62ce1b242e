// mpin.h: registration and authentication. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import MPinSDK

@_cdecl("mpin_sdk_start_registration") @implementation
public func mpin_sdk_start_registration(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ activate_code: UnsafePointer<CChar>?,
    _ user_data: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return MPIN_INVALID_HANDLE }
    guard let activateCode = optionalText(activate_code) else { return sdk.refuse("activate_code is not UTF-8") }
    guard let userData = optionalText(user_data) else { return sdk.refuse("user_data is not UTF-8") }
    return sdk.status { () throws(SDKError) in
        try sdk.startRegistration(user, activateCode: activateCode, userData: userData)
    }
}

@_cdecl("mpin_sdk_restart_registration") @implementation
public func mpin_sdk_restart_registration(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ user_data: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return MPIN_INVALID_HANDLE }
    guard let userData = optionalText(user_data) else { return sdk.refuse("user_data is not UTF-8") }
    return sdk.status { () throws(SDKError) in try sdk.restartRegistration(user, userData: userData) }
}

@_cdecl("mpin_sdk_confirm_registration") @implementation
public func mpin_sdk_confirm_registration(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ push_id: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return MPIN_INVALID_HANDLE }
    guard let pushID = optionalText(push_id) else { return sdk.refuse("push_id is not UTF-8") }
    return sdk.status { () throws(SDKError) in try sdk.confirmRegistration(user, pushID: pushID) }
}

@_cdecl("mpin_sdk_finish_registration") @implementation
public func mpin_sdk_finish_registration(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return MPIN_INVALID_HANDLE }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    return sdk.status { () throws(SDKError) in try sdk.finishRegistration(user, pin: pin.span) }
}

@_cdecl("mpin_sdk_start_authentication") @implementation
public func mpin_sdk_start_authentication(_ sdk: OpaquePointer?, _ user: OpaquePointer?) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return MPIN_INVALID_HANDLE }
    return sdk.status { () throws(SDKError) in try sdk.startAuthentication(user) }
}

@_cdecl("mpin_sdk_finish_authentication") @implementation
public func mpin_sdk_finish_authentication(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ auth_data: UnsafeMutablePointer<CChar>?,
    _ auth_data_len: UnsafeMutablePointer<Int>?, _ pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return MPIN_INVALID_HANDLE }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    guard auth_data == nil || auth_data_len != nil else { return sdk.refuse("auth_data_len is NULL") }
    var result = MPIN_OK
    let status = sdk.status { () throws(SDKError) in
        let answer = try sdk.finishAuthentication(user, pin: pin.span)
        if auth_data_len != nil { result = copyOut(answer, auth_data, auth_data_len) }
    }
    return status == MPIN_OK ? result : status
}

@_cdecl("mpin_sdk_get_auth_data") @implementation
public func mpin_sdk_get_auth_data(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?,
    _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    guard let (_, user) = sdkAndUser(sdk, user) else { return MPIN_INVALID_HANDLE }
    return copyOut(user.authData, out, out_len)
}
