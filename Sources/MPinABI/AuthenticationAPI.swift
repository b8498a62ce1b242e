// mpin.h: authentication. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import MPinSDK

@_cdecl("mpin_sdk_start_authentication") @implementation
public func mpin_sdk_start_authentication(_ sdk: OpaquePointer?, _ user: OpaquePointer?) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    return sdk.status { () throws(SDKError) in try sdk.startAuthentication(user) }
}

@_cdecl("mpin_sdk_finish_authentication") @implementation
public func mpin_sdk_finish_authentication(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ auth_data: UnsafeMutablePointer<CChar>?,
    _ auth_data_len: UnsafeMutablePointer<Int>?, _ pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    guard auth_data == nil || auth_data_len != nil else { return sdk.refuse("auth_data_len is NULL") }
    return sdk.status(auth_data, auth_data_len, isWanted: auth_data_len != nil) { () throws(SDKError) in
        try sdk.finishAuthentication(user, pin: pin.span)
    }
}

@_cdecl("mpin_sdk_get_auth_data") @implementation
public func mpin_sdk_get_auth_data(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?,
    _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    guard let (_, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    return copyOut(user.authData, out, out_len)
}

@_cdecl("mpin_sdk_start_authentication_mfa") @implementation
public func mpin_sdk_start_authentication_mfa(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ access_code: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let accessCode = text(access_code) else { return sdk.refuse("access_code is NULL or not UTF-8") }
    return sdk.status { () throws(SDKError) in try sdk.startAuthenticationMFA(user, accessCode: accessCode) }
}

@_cdecl("mpin_sdk_check_access_number") @implementation
public func mpin_sdk_check_access_number(_ sdk: OpaquePointer?, _ access_number: UnsafePointer<CChar>?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let accessNumber = text(access_number) else { return sdk.refuse("access_number is NULL or not UTF-8") }
    return sdk.status { () throws(SDKError) in try sdk.checkAccessNumber(accessNumber) }
}

@_cdecl("mpin_sdk_finish_authentication_an") @implementation
public func mpin_sdk_finish_authentication_an(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ pin: UnsafePointer<CChar>?, _ access_number: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    guard let accessNumber = text(access_number) else { return sdk.refuse("access_number is NULL or not UTF-8") }
    return sdk.status { () throws(SDKError) in
        try sdk.finishAuthenticationAN(user, pin: pin.span, accessNumber: accessNumber)
    }
}

@_cdecl("mpin_sdk_finish_authentication_mfa") @implementation
public func mpin_sdk_finish_authentication_mfa(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ authz_code: UnsafeMutablePointer<CChar>?,
    _ authz_code_len: UnsafeMutablePointer<Int>?, _ pin: UnsafePointer<CChar>?, _ access_code: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    guard let accessCode = optionalText(access_code) else { return sdk.refuse("access_code is not UTF-8") }
    guard authz_code == nil || authz_code_len != nil else { return sdk.refuse("authz_code_len is NULL") }
    return sdk.status(authz_code, authz_code_len, isWanted: authz_code_len != nil) { () throws(SDKError) in
        try sdk.finishAuthenticationMFA(user, pin: pin.span, accessCode: accessCode)
    }
}

@_cdecl("mpin_sdk_start_authentication_otp") @implementation
public func mpin_sdk_start_authentication_otp(_ sdk: OpaquePointer?, _ user: OpaquePointer?) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    return sdk.status { () throws(SDKError) in try sdk.startAuthenticationOTP(user) }
}

@_cdecl("mpin_sdk_finish_authentication_otp") @implementation
public func mpin_sdk_finish_authentication_otp(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ otp: UnsafeMutablePointer<mpin_otp>?, _ pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    return sdk.status(otp) { output throws(SDKError) in
        set(&output, try sdk.finishAuthenticationOTP(user, pin: pin.span))
    }
}

@_cdecl("mpin_sdk_start_authentication_reg_code") @implementation
public func mpin_sdk_start_authentication_reg_code(_ sdk: OpaquePointer?, _ user: OpaquePointer?) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    return sdk.status { () throws(SDKError) in try sdk.startAuthenticationRegCode(user) }
}

@_cdecl("mpin_sdk_finish_authentication_reg_code") @implementation
public func mpin_sdk_finish_authentication_reg_code(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ reg_code: UnsafeMutablePointer<mpin_otp>?,
    _ pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    return sdk.status(reg_code) { output throws(SDKError) in
        set(&output, try sdk.finishAuthenticationRegCode(user, pin: pin.span))
    }
}

@_cdecl("mpin_sdk_can_logout") @implementation
public func mpin_sdk_can_logout(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ can_logout: UnsafeMutablePointer<Int32>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let can_logout else { return sdk.refuse("can_logout is NULL") }
    can_logout.pointee = user.canLogout ? 1 : 0
    return MPIN_OK
}

@_cdecl("mpin_sdk_logout") @implementation
public func mpin_sdk_logout(_ sdk: OpaquePointer?, _ user: OpaquePointer?) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    return sdk.status { () throws(SDKError) in try sdk.logout(user) }
}

private func set(_ output: inout StructureOutput<mpin_otp>, _ otp: OTP) {
    output.set(\.status, otp.status.rawValue)
    output.set(\.ttl_seconds, otp.ttlSeconds)
    output.set(\.expire_time, otp.expireTime)
    output.set(\.now_time, otp.nowTime)
    output.set(\.otp, text: otp.code)
}
