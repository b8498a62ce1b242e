// mpin.h: backend, headers and trusted domains. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import MPinSDK

@_cdecl("mpin_sdk_test_backend") @implementation
public func mpin_sdk_test_backend(
    _ sdk: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ rps_prefix: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let url = text(url) else { return sdk.refuse("url is NULL or not UTF-8") }
    guard let prefix = optionalText(rps_prefix) else { return sdk.refuse("rps_prefix is not UTF-8") }
    return sdk.status { () throws(SDKError) in try sdk.testBackend(url, prefix: prefix) }
}

@_cdecl("mpin_sdk_set_backend") @implementation
public func mpin_sdk_set_backend(
    _ sdk: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ rps_prefix: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let url = text(url) else { return sdk.refuse("url is NULL or not UTF-8") }
    guard let prefix = optionalText(rps_prefix) else { return sdk.refuse("rps_prefix is not UTF-8") }
    return sdk.status { () throws(SDKError) in try sdk.setBackend(url, prefix: prefix) }
}

@_cdecl("mpin_sdk_get_client_param") @implementation
public func mpin_sdk_get_client_param(
    _ sdk: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?,
    _ key: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let key = text(key) else { return sdk.refuse("key is NULL or not UTF-8") }
    return sdk.status(out, out_len) { () throws(SDKError) in try sdk.clientParam(key) }
}

@_cdecl("mpin_sdk_set_client_id") @implementation
public func mpin_sdk_set_client_id(_ sdk: OpaquePointer?, _ client_id: UnsafePointer<CChar>?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let clientID = optionalText(client_id) else { return sdk.refuse("client_id is not UTF-8") }
    return sdk.status { () throws(SDKError) in try sdk.setClientID(clientID) }
}

@_cdecl("mpin_sdk_add_custom_header") @implementation
public func mpin_sdk_add_custom_header(
    _ sdk: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let name = text(name) else { return sdk.refuse("name is NULL or not UTF-8") }
    guard let value = text(value) else { return sdk.refuse("value is NULL or not UTF-8") }
    return sdk.status { () throws(SDKError) in try sdk.addCustomHeader(name, value) }
}

@_cdecl("mpin_sdk_clear_custom_headers") @implementation
public func mpin_sdk_clear_custom_headers(_ sdk: OpaquePointer?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    return sdk.status { () throws(SDKError) in try sdk.clearCustomHeaders() }
}

@_cdecl("mpin_sdk_add_trusted_domain") @implementation
public func mpin_sdk_add_trusted_domain(_ sdk: OpaquePointer?, _ domain: UnsafePointer<CChar>?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let domain = text(domain) else { return sdk.refuse("domain is NULL or not UTF-8") }
    return sdk.status { () throws(SDKError) in try sdk.addTrustedDomain(domain) }
}

@_cdecl("mpin_sdk_clear_trusted_domains") @implementation
public func mpin_sdk_clear_trusted_domains(_ sdk: OpaquePointer?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    return sdk.status { () throws(SDKError) in try sdk.clearTrustedDomains() }
}

@_cdecl("mpin_sdk_get_service_details") @implementation
public func mpin_sdk_get_service_details(
    _ sdk: OpaquePointer?, _ details: UnsafeMutablePointer<mpin_service_details>?, _ url: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let url = text(url) else { return sdk.refuse("url is NULL or not UTF-8") }
    return sdk.status(details) { output throws(SDKError) in
        let service = try sdk.serviceDetails(url)
        output.set(\.name, text: service.name)
        output.set(\.backend_url, text: service.backend)
        output.set(\.rps_prefix, text: service.prefix)
        output.set(\.logo_url, text: service.logoURL)
    }
}
