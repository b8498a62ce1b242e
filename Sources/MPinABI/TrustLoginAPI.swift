// mpin.h: logins, sessions and signatures at projects of MIRACL Trust. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import Glibc
import MPinSDK
import MPinSecrets

@_cdecl("mpin_trust_authenticate") @implementation
public func mpin_trust_authenticate(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ jwt: UnsafeMutablePointer<CChar>?,
    _ jwt_len: UnsafeMutablePointer<Int>?, _ pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    guard jwt == nil || jwt_len != nil else { return sdk.refuse("jwt_len is NULL") }
    let number = errno
    defer { errno = number }
    do {
        let token = try sdk.authenticate(user, pin: pin.span)
        return jwt_len == nil ? MPIN_OK : copyOut(token, jwt, jwt_len)
    } catch {
        return error.status.rawValue
    }
}

@_cdecl("mpin_trust_get_jwt") @implementation
public func mpin_trust_get_jwt(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?,
    _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    guard let (_, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    return copyOut(user.jwt ?? SecretBytes(count: 0), out, out_len)
}

@_cdecl("mpin_trust_get_session_details") @implementation
public func mpin_trust_get_session_details(
    _ sdk: OpaquePointer?, _ session: UnsafeMutablePointer<mpin_trust_session>?, _ session_url: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let sessionURL = text(session_url) else { return sdk.refuse("session_url is NULL or not UTF-8") }
    return sdk.status(session) { output throws(SDKError) in
        let details = try sdk.trustSessionDetails(sessionURL)
        output.set(\.access_id, text: details.accessID)
        output.set(\.project_id, text: details.projectID)
        output.set(\.user_id, text: details.userID)
        output.set(\.description, text: details.description)
        output.set(\.hash, start: details.hash.span)
        output.set(\.hash_len, details.hash.count)
        output.set(\.project_name, text: details.projectName)
        output.set(\.project_logo_url, text: details.projectLogoURL)
        output.set(\.pin_length, Int32(clamping: details.pinLength))
        output.set(\.screen_address, text: details.place.screenAddress)
        output.set(\.screen_program, cutText: details.place.screenProgram)
        output.set(\.site_address, text: details.place.siteAddress)
    }
}

@_cdecl("mpin_trust_abort_session") @implementation
public func mpin_trust_abort_session(_ sdk: OpaquePointer?, _ session_url: UnsafePointer<CChar>?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let sessionURL = text(session_url) else { return sdk.refuse("session_url is NULL or not UTF-8") }
    return sdk.status { () throws(SDKError) in try sdk.abortTrustSession(sessionURL) }
}

@_cdecl("mpin_trust_authenticate_with_qr_code") @implementation
public func mpin_trust_authenticate_with_qr_code(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ qr_code: UnsafePointer<CChar>?, _ pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let qrCode = text(qr_code) else { return sdk.refuse("qr_code is NULL or not UTF-8") }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    return sdk.status { () throws(SDKError) in try sdk.authenticate(user, sessionURL: qrCode, pin: pin.span) }
}

@_cdecl("mpin_trust_authenticate_with_app_link") @implementation
public func mpin_trust_authenticate_with_app_link(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ app_link: UnsafePointer<CChar>?, _ pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let appLink = text(app_link) else { return sdk.refuse("app_link is NULL or not UTF-8") }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    return sdk.status { () throws(SDKError) in try sdk.authenticate(user, sessionURL: appLink, pin: pin.span) }
}

@_cdecl("mpin_trust_authenticate_with_push_payload") @implementation
public func mpin_trust_authenticate_with_push_payload(
    _ sdk: OpaquePointer?, _ project_id: UnsafePointer<CChar>?, _ user_id: UnsafePointer<CChar>?,
    _ qr_url: UnsafePointer<CChar>?, _ pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let projectID = optionalText(project_id) else { return sdk.refuse("project_id is not UTF-8") }
    guard let userID = text(user_id) else { return sdk.refuse("user_id is NULL or not UTF-8") }
    guard let qrURL = text(qr_url) else { return sdk.refuse("qr_url is NULL or not UTF-8") }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    return sdk.status { () throws(SDKError) in
        try sdk.authenticate(pushProjectID: projectID, userID: userID, sessionURL: qrURL, pin: pin.span)
    }
}

@_cdecl("mpin_trust_generate_quick_code") @implementation
public func mpin_trust_generate_quick_code(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ quick_code: UnsafeMutablePointer<mpin_trust_quick_code>?,
    _ pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    return sdk.status(quick_code) { output throws(SDKError) in
        let made = try sdk.generateQuickCode(user, pin: pin.span)
        output.set(\.expire_time, made.expireTime)
        output.set(\.ttl_seconds, made.ttlSeconds)
        output.set(\.code, text: made.code)
    }
}

@_cdecl("mpin_trust_sign") @implementation
public func mpin_trust_sign(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ signature: UnsafeMutablePointer<mpin_signature>?,
    _ hash: UnsafePointer<UInt8>?, _ hash_len: Int, _ pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let hash = octets(hash, hash_len), 1...256 ~= hash.count else {
        return sdk.refuse("hash is NULL or not 1 to 256 bytes")
    }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    return sdk.status(signature) { output throws(SDKError) in
        set(&output, try sdk.signTrust(user, hash: hash.span, pin: pin.span))
    }
}

@_cdecl("mpin_trust_sign_session") @implementation
public func mpin_trust_sign_session(
    _ sdk: OpaquePointer?, _ user: OpaquePointer?, _ session_url: UnsafePointer<CChar>?,
    _ hash: UnsafePointer<UInt8>?, _ hash_len: Int, _ pin: UnsafePointer<CChar>?
) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    guard let sessionURL = text(session_url) else { return sdk.refuse("session_url is NULL or not UTF-8") }
    guard let hash = octets(hash, hash_len), 1...256 ~= hash.count else {
        return sdk.refuse("hash is NULL or not 1 to 256 bytes")
    }
    guard let pin = secretOctets(pin) else { return sdk.refuse("pin is NULL") }
    return sdk.status { () throws(SDKError) in
        try sdk.signSession(user, sessionURL: sessionURL, hash: hash.span, pin: pin.span)
    }
}
