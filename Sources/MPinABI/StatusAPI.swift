// mpin.h: version and status names. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import Glibc
import MPinSDK

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
