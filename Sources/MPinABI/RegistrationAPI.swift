// mpin.h: verification and registration. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import MPinSDK
import MPinSecrets
import MPinWire

@_cdecl("mpin_sdk_start_verification") @implementation
public func mpin_sdk_start_verification(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ client_id: UnsafePointer<CChar>?,
    _ access_code: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let clientID = text(client_id) else { return sdk.refuse("client_id is NULL or not UTF-8") }
    guard let accessCode = optionalText(access_code) else { return sdk.refuse("access_code is not UTF-8") }
    return sdk.status { () throws(SDKError) in
        try sdk.startVerification(user, clientID: clientID, accessCode: accessCode)
    }
}

@_cdecl("mpin_sdk_finish_verification") @implementation
public func mpin_sdk_finish_verification(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ verification: UnsafeMutablePointer<mpin_verification>?,
    _ code: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let code = text(code) else { return sdk.refuse("code is NULL or not UTF-8") }
    return sdk.status(verification) { output throws(SDKError) in
        let result = try sdk.finishVerification(user, code: code)
        output.set(\.expire_time, result.expireTime)
        output.set(\.access_id, text: result.accessID)
        output.set(\.activation_token, text: result.activationToken)
    }
}

@_cdecl("mpin_sdk_start_registration") @implementation
public func mpin_sdk_start_registration(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ activate_code: UnsafePointer<CChar>?,
    _ user_data: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let activateCode = optionalText(activate_code) else { return sdk.refuse("activate_code is not UTF-8") }
    guard let userData = optionalText(user_data) else { return sdk.refuse("user_data is not UTF-8") }
    return sdk.status { () throws(SDKError) in
        try sdk.startRegistration(user, activateCode: activateCode, userData: userData)
    }
}

@_cdecl("mpin_sdk_start_registration_mfa") @implementation
public func mpin_sdk_start_registration_mfa(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ access_code: UnsafePointer<CChar>?,
    _ activate_code: UnsafePointer<CChar>?, _ push_id: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let accessCode = optionalText(access_code) else { return sdk.refuse("access_code is not UTF-8") }
    guard let activateCode = optionalText(activate_code) else { return sdk.refuse("activate_code is not UTF-8") }
    guard let pushID = optionalText(push_id) else { return sdk.refuse("push_id is not UTF-8") }
    return sdk.status { () throws(SDKError) in
        try sdk.startRegistrationMFA(user, accessCode: accessCode, activateCode: activateCode, pushID: pushID)
    }
}

@_cdecl("mpin_sdk_set_registration_token") @implementation
public func mpin_sdk_set_registration_token(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ token: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let token = secretOctets(token), isUTF8(token) else { return sdk.refuse("token is NULL or not UTF-8") }
    let secret = SecretText(SecretBytes(copying: token.span))
    return sdk.status { () throws(SDKError) in try sdk.setRegistrationToken(user, token: secret) }
}

@_cdecl("mpin_sdk_restart_registration") @implementation
public func mpin_sdk_restart_registration(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ user_data: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let userData = optionalText(user_data) else { return sdk.refuse("user_data is not UTF-8") }
    return sdk.status { () throws(SDKError) in try sdk.restartRegistration(user, userData: userData) }
}

@_cdecl("mpin_sdk_confirm_registration") @implementation
public func mpin_sdk_confirm_registration(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ push_id: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let pushID = optionalText(push_id) else { return sdk.refuse("push_id is not UTF-8") }
    return sdk.status { () throws(SDKError) in try sdk.confirmRegistration(user, pushID: pushID) }
}

@_cdecl("mpin_sdk_finish_registration") @implementation
public func mpin_sdk_finish_registration(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    return sdk.status { () throws(SDKError) in try sdk.finishRegistration(user, pin: pin.span) }
}

@_cdecl("mpin_sdk_add_factor") @implementation
public func mpin_sdk_add_factor(_ sdk: OpaquePointer?, _ user: OpaquePointer?, _ factor: UnsafePointer<CChar>?)
    -> mpin_status
{
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let factor = secretOctets(factor) else { return sdk.refuse("factor is NULL") }
    return sdk.status { () throws(SDKError) in try sdk.addFactor(user, factor: factor.span) }
}

@_cdecl("mpin_sdk_change_pin") @implementation
public func mpin_sdk_change_pin(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ old_pin: UnsafePointer<CChar>?, _ new_pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let oldPin = secretOctets(old_pin) else { return sdk.refuse("old_pin is NULL") }
    guard let newPin = secretOctets(new_pin) else { return sdk.refuse("new_pin is NULL") }
    return sdk.status { () throws(SDKError) in try sdk.changePIN(user, old: oldPin.span, new: newPin.span) }
}
