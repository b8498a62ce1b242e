// mpin.h: version, life cycle and errors. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import Glibc
import MPinSDK

@_cdecl("mpin_sdk_new") @implementation
public func mpin_sdk_new(_ sdk: UnsafeMutablePointer<OpaquePointer?>?) -> mpin_status {
    guard let sdk, let handle = makeHandle(SDK()) else { return MPIN_INVALID_ARGUMENT }
    sdk.pointee = handle
    return MPIN_OK
}

@_cdecl("mpin_sdk_free") @implementation
public func mpin_sdk_free(_ sdk: OpaquePointer?) {
    let number = errno
    guard !Forks.isLost(sdk) else { return }
    Forks.during {
        closeSessions(of: sdk)
        removeSDK(sdk)?.close()
    }
    errno = number
}

@_cdecl("mpin_sdk_init") @implementation
public func mpin_sdk_init(_ sdk: OpaquePointer?, _ config: UnsafePointer<mpin_config>?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    let read: (SDKConfig, Environment)
    do { read = try readConfig(config) } catch { return sdk.refuse(error.text) }
    return sdk.status { () throws(SDKError) in try sdk.initialize(read.0, read.1) }
}

@_cdecl("mpin_sdk_destroy") @implementation
public func mpin_sdk_destroy(_ sdk: OpaquePointer?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    return sdk.status { () throws(SDKError) in try sdk.destroy() }
}

@_cdecl("mpin_sdk_clear_users") @implementation
public func mpin_sdk_clear_users(_ sdk: OpaquePointer?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    return sdk.status { () throws(SDKError) in try sdk.clearUsers() }
}

@_cdecl("mpin_sdk_cancel") @implementation
public func mpin_sdk_cancel(_ sdk: OpaquePointer?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    Forks.during { sdk.cancel() }
    return MPIN_OK
}

@_cdecl("mpin_sdk_last_error") @implementation
public func mpin_sdk_last_error(
    _ sdk: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    return copyOut(sdk.kept?.text ?? "", out, out_len)
}

@_cdecl("mpin_sdk_get_last_error") @implementation
public func mpin_sdk_get_last_error(_ sdk: OpaquePointer?, _ error: UnsafeMutablePointer<mpin_error>?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    return copyOut(sdk.kept, error)
}

/// Writes the parts of the last error.
func copyOut(_ last: SDKError?, _ error: UnsafeMutablePointer<mpin_error>?) -> mpin_status {
    guard var output = StructureOutput(error) else { return MPIN_INVALID_ARGUMENT }
    output.set(\.status, last?.status.rawValue ?? MPIN_OK)
    output.set(\.http_status, Int32(clamping: last?.httpStatus ?? 0))
    output.set(\.retry_after, last?.server.retryAfter ?? 0)
    output.set(\.text, cutText: last?.text ?? "")
    output.set(\.server_error, cutText: last?.server.text ?? "")
    output.set(\.request_id, cutText: last?.server.requestID ?? "")
    return output.handOver() ? MPIN_OK : MPIN_INVALID_ARGUMENT
}

@_cdecl("mpin_sdk_get_attempts_left") @implementation
public func mpin_sdk_get_attempts_left(
    _ sdk: OpaquePointer?, _ attempts_left: UnsafeMutablePointer<Int32>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let attempts_left else { return MPIN_INVALID_ARGUMENT }
    let last = sdk.kept
    attempts_left.pointee = (last?.status == .incorrectPIN ? last?.server.attemptsLeft : nil) ?? -1
    return MPIN_OK
}

@_cdecl("mpin_sdk_damaged_records") @implementation
public func mpin_sdk_damaged_records(_ sdk: OpaquePointer?, _ count: UnsafeMutablePointer<Int>?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let count else { return sdk.refuse("count is NULL") }
    return sdk.status { () throws(SDKError) in count.pointee = try sdk.damagedRecords() }
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

// Each text is copied once and never freed, so that the returned pointers stay valid.
nonisolated(unsafe) private let version = strdup(MPIN_VERSION)
nonisolated(unsafe) private let unknown = strdup("UNKNOWN")
nonisolated(unsafe) private let names = Dictionary(
    Status.allCases.map { ($0.rawValue, strdup($0.name)) }, uniquingKeysWith: { first, _ in first })

@_cdecl("mpin_version") @implementation
public func mpin_version() -> UnsafePointer<CChar>? { UnsafePointer(version) }

@_cdecl("mpin_abi_version") @implementation
public func mpin_abi_version() -> Int32 { MPIN_ABI_VERSION }

@_cdecl("mpin_status_name") @implementation
public func mpin_status_name(_ status: mpin_status) -> UnsafePointer<CChar>? {
    UnsafePointer(names[status] ?? unknown)
}
