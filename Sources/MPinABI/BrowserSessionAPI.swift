// mpin.h: sessions of a browser. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import MPinSDK

@_cdecl("mpin_sdk_get_session_details") @implementation
public func mpin_sdk_get_session_details(
    _ sdk: OpaquePointer?, _ details: UnsafeMutablePointer<mpin_session_details>?, _ access_code: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let accessCode = text(access_code) else { return sdk.refuse("access_code is NULL or not UTF-8") }
    return sdk.status(details) { output throws(SDKError) in
        let session = try sdk.sessionDetails(accessCode)
        output.set(\.register_only, session.isRegistrationOnly ? 1 : 0)
        output.set(\.preroll_id, text: session.proposedUserID)
        output.set(\.app_name, text: session.applicationName)
        output.set(\.app_icon_url, text: session.applicationIconURL)
        output.set(\.customer_id, text: session.customerID)
        output.set(\.customer_name, text: session.customerName)
        output.set(\.customer_icon_url, text: session.customerIconURL)
        output.set(\.client_id, text: session.clientID)
        output.set(\.redirect_uri, text: session.redirectURI)
        output.set(\.screen_address, text: session.place.screenAddress)
        output.set(\.screen_program, cutText: session.place.screenProgram)
        output.set(\.site_address, text: session.place.siteAddress)
    }
}

@_cdecl("mpin_sdk_abort_session") @implementation
public func mpin_sdk_abort_session(_ sdk: OpaquePointer?, _ access_code: UnsafePointer<CChar>?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let accessCode = text(access_code) else { return sdk.refuse("access_code is NULL or not UTF-8") }
    return sdk.status { () throws(SDKError) in try sdk.abortSession(accessCode) }
}

@_cdecl("mpin_sdk_get_access_code") @implementation
public func mpin_sdk_get_access_code(
    _ sdk: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?,
    _ authz_url: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let authzURL = text(authz_url) else { return sdk.refuse("authz_url is NULL or not UTF-8") }
    return sdk.status(out, out_len) { () throws(SDKError) in try sdk.accessCode(authorizeURL: authzURL) }
}
