// mpin.h: projects of MIRACL Trust, verification and registration. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import MPinSDK

@_cdecl("mpin_trust_set_project") @implementation
public func mpin_trust_set_project(
    _ sdk: OpaquePointer?, _ project_id: UnsafePointer<CChar>?, _ url: UnsafePointer<CChar>?,
    _ device_name: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let projectID = text(project_id) else { return sdk.refuse("project_id is NULL or not UTF-8") }
    guard let url = optionalText(url) else { return sdk.refuse("url is not UTF-8") }
    guard let deviceName = optionalText(device_name) else { return sdk.refuse("device_name is not UTF-8") }
    return sdk.status { () throws(SDKError) in
        try sdk.setProject(projectID, url: url ?? MPIN_TRUST_URL, deviceName: deviceName)
    }
}

@_cdecl("mpin_trust_get_last_error") @implementation
public func mpin_trust_get_last_error(
    _ sdk: OpaquePointer?, _ error: UnsafeMutablePointer<mpin_trust_error>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard var output = StructureOutput(error) else { return MPIN_INVALID_ARGUMENT }
    let report = sdk.kept?.server
    output.set(\.retry_at, report?.retryAt ?? 0)
    output.set(\.code, cutText: report?.code ?? "")
    output.set(\.project_id, cutText: report?.projectID ?? "")
    output.set(\.access_id, cutText: report?.accessID ?? "")
    return output.handOver() ? MPIN_OK : MPIN_INVALID_ARGUMENT
}

@_cdecl("mpin_trust_send_verification_email") @implementation
public func mpin_trust_send_verification_email(
    _ sdk: OpaquePointer?, _ verification: UnsafeMutablePointer<mpin_trust_verification>?,
    _ user_id: UnsafePointer<CChar>?, _ access_id: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let userID = text(user_id) else { return sdk.refuse("user_id is NULL or not UTF-8") }
    guard let accessID = optionalText(access_id) else { return sdk.refuse("access_id is not UTF-8") }
    return sdk.status(verification) { output throws(SDKError) in
        let mail = try sdk.sendVerificationEmail(userID, accessID: accessID)
        output.set(\.backoff, mail.backoff)
        output.set(\.method, mail.method.rawValue)
    }
}

@_cdecl("mpin_trust_get_activation_token") @implementation
public func mpin_trust_get_activation_token(
    _ sdk: OpaquePointer?, _ activation: UnsafeMutablePointer<mpin_trust_activation>?,
    _ user_id: UnsafePointer<CChar>?, _ code: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let userID = text(user_id) else { return sdk.refuse("user_id is NULL or not UTF-8") }
    guard let code = text(code) else { return sdk.refuse("code is NULL or not UTF-8") }
    return sdk.status(activation) { output throws(SDKError) in
        set(&output, try sdk.activationToken(userID, code: code))
    }
}

@_cdecl("mpin_trust_get_activation_token_by_link") @implementation
public func mpin_trust_get_activation_token_by_link(
    _ sdk: OpaquePointer?, _ activation: UnsafeMutablePointer<mpin_trust_activation>?, _ link: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let link = text(link) else { return sdk.refuse("link is NULL or not UTF-8") }
    return sdk.status(activation) { output throws(SDKError) in set(&output, try sdk.activationToken(link: link)) }
}

private func set(_ output: inout StructureOutput<mpin_trust_activation>, _ activation: Activation) {
    output.set(\.expire_time, activation.expireTime)
    output.set(\.project_id, text: activation.projectID)
    output.set(\.user_id, text: activation.userID)
    output.set(\.access_id, text: activation.accessID)
    output.set(\.activation_token, text: activation.token)
}

@_cdecl("mpin_trust_start_registration") @implementation
public func mpin_trust_start_registration(
    _ sdk: OpaquePointer?, _ user: UnsafeMutablePointer<OpaquePointer?>?, _ user_id: UnsafePointer<CChar>?,
    _ activation_token: UnsafePointer<CChar>?, _ push_token: UnsafePointer<CChar>?
) -> mpin_status {
    guard let core = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let user else { return core.refuse("user is NULL") }
    guard let userID = text(user_id) else { return core.refuse("user_id is NULL or not UTF-8") }
    guard let token = text(activation_token) else { return core.refuse("activation_token is NULL or not UTF-8") }
    guard let pushToken = optionalText(push_token) else { return core.refuse("push_token is not UTF-8") }
    return core.status { () throws(SDKError) in
        let made = try core.startTrustRegistration(userID, activationToken: token, pushToken: pushToken)
        user.pointee = makeHandle(made, of: sdk)
    }
}

@_cdecl("mpin_trust_finish_registration") @implementation
public func mpin_trust_finish_registration(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    return sdk.status { () throws(SDKError) in try sdk.finishTrustRegistration(user, pin: pin.span) }
}

@_cdecl("mpin_trust_export_users") @implementation
public func mpin_trust_export_users(
    _ sdk: OpaquePointer?, _ exported: UnsafeMutablePointer<Int>?, _ path: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let exported else { return sdk.refuse("exported is NULL") }
    guard let path = text(path) else { return sdk.refuse("path is NULL or not UTF-8") }
    return sdk.status { () throws(SDKError) in
        exported.pointee = try sdk.exportUsers(to: path)
    }
}
