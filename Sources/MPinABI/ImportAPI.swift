// mpin.h: import. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import MPinSDK
import MPinSecrets

@_cdecl("mpin_sdk_import_storage") @implementation
public func mpin_sdk_import_storage(
    _ sdk: OpaquePointer?, _ imported: UnsafeMutablePointer<Int>?, _ format: Int32, _ users: UnsafePointer<CChar>?,
    _ secure: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return MPIN_INVALID_HANDLE }
    guard let imported else { return sdk.refuse("imported is NULL") }
    guard let format = ImportFormat(rawValue: format) else { return sdk.refuse("format is none of MPIN_IMPORT_*") }
    guard let users = secretOctets(users) else { return sdk.refuse("users is NULL") }
    let secure = secretOctets(secure)
    guard (secure == nil) == (format == .clientJS) else { return sdk.refuse("secure does not fit the format") }
    let source = ImportSource(
        format: format, users: SecretBytes(copying: users.span), secure: secure.map { SecretBytes(copying: $0.span) })
    return sdk.status { () throws(SDKError) in imported.pointee = try sdk.importStorage(source) }
}
