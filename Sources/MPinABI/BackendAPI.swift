// mpin.h: backend, headers and trusted domains. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import MPinSDK

@_cdecl("mpin_sdk_test_backend") @implementation
public func mpin_sdk_test_backend(
    _ sdk: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ rps_prefix: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return MPIN_INVALID_HANDLE }
    guard let url = text(url) else { return sdk.refuse("url is NULL or not UTF-8") }
    guard let prefix = optionalText(rps_prefix) else { return sdk.refuse("rps_prefix is not UTF-8") }
    return sdk.status { () throws(SDKError) in try sdk.testBackend(url, prefix: prefix) }
}

@_cdecl("mpin_sdk_set_backend") @implementation
public func mpin_sdk_set_backend(
    _ sdk: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ rps_prefix: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return MPIN_INVALID_HANDLE }
    guard let url = text(url) else { return sdk.refuse("url is NULL or not UTF-8") }
    guard let prefix = optionalText(rps_prefix) else { return sdk.refuse("rps_prefix is not UTF-8") }
    return sdk.status { () throws(SDKError) in try sdk.setBackend(url, prefix: prefix) }
}

@_cdecl("mpin_sdk_get_client_param") @implementation
public func mpin_sdk_get_client_param(
    _ sdk: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?,
    _ key: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return MPIN_INVALID_HANDLE }
    guard let key = text(key) else { return sdk.refuse("key is NULL or not UTF-8") }
    return sdk.status(out, out_len) { () throws(SDKError) in try sdk.clientParam(key) }
}
