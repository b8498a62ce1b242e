// mpin.h: life cycle and backend. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import MPinSDK

@_cdecl("mpin_sdk_new") @implementation
public func mpin_sdk_new(_ sdk: UnsafeMutablePointer<OpaquePointer?>?) -> mpin_status {
    guard let sdk, let handle = makeHandle(SDK()) else { return MPIN_INVALID_ARGUMENT }
    sdk.pointee = handle
    return MPIN_OK
}

@_cdecl("mpin_sdk_free") @implementation
public func mpin_sdk_free(_ sdk: OpaquePointer?) {
    removeSDK(sdk)?.close()
}

@_cdecl("mpin_sdk_init") @implementation
public func mpin_sdk_init(_ sdk: OpaquePointer?, _ config: UnsafePointer<mpin_config>?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return MPIN_INVALID_HANDLE }
    guard let config = readConfig(config) else { return sdk.refuse("config is NULL or malformed") }
    return sdk.status { () throws(SDKError) in try sdk.initialize(config) }
}

@_cdecl("mpin_sdk_destroy") @implementation
public func mpin_sdk_destroy(_ sdk: OpaquePointer?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return MPIN_INVALID_HANDLE }
    return sdk.status { () throws(SDKError) in try sdk.destroy() }
}

@_cdecl("mpin_sdk_clear_users") @implementation
public func mpin_sdk_clear_users(_ sdk: OpaquePointer?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return MPIN_INVALID_HANDLE }
    return sdk.status { () throws(SDKError) in try sdk.clearUsers() }
}

@_cdecl("mpin_sdk_cancel") @implementation
public func mpin_sdk_cancel(_ sdk: OpaquePointer?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return MPIN_INVALID_HANDLE }
    sdk.cancel()
    return MPIN_OK
}

@_cdecl("mpin_sdk_last_error") @implementation
public func mpin_sdk_last_error(
    _ sdk: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return MPIN_INVALID_HANDLE }
    return copyOut(sdk.lastError?.text ?? "", out, out_len)
}

@_cdecl("mpin_sdk_self_test") @implementation
public func mpin_sdk_self_test() -> mpin_status {
    do {
        try SDK.selfTest()
        return MPIN_OK
    } catch {
        return error.status.rawValue
    }
}

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
    var result = MPIN_OK
    let status = sdk.status { () throws(SDKError) in result = copyOut(try sdk.clientParam(key), out, out_len) }
    return status == MPIN_OK ? result : status
}
