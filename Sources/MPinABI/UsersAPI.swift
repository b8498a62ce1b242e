// mpin.h: users, and the import of users of other clients. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import MPinSDK
import MPinSecrets

@_cdecl("mpin_sdk_make_new_user") @implementation
public func mpin_sdk_make_new_user(
    _ sdk: OpaquePointer?, _ user: UnsafeMutablePointer<OpaquePointer?>?, _ id: UnsafePointer<CChar>?,
    _ device_name: UnsafePointer<CChar>?
) -> mpin_status {
    mpin_sdk_make_new_user_mfa(sdk, user, id, device_name, nil, nil)
}

@_cdecl("mpin_sdk_make_new_user_mfa") @implementation
public func mpin_sdk_make_new_user_mfa(
    _ sdk: OpaquePointer?, _ user: UnsafeMutablePointer<OpaquePointer?>?, _ id: UnsafePointer<CChar>?,
    _ device_name: UnsafePointer<CChar>?, _ customer_id: UnsafePointer<CChar>?, _ app_id: UnsafePointer<CChar>?
) -> mpin_status {
    guard let core = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let user else { return core.refuse("user is NULL") }
    guard let id = text(id) else { return core.refuse("id is NULL or not UTF-8") }
    guard let deviceName = optionalText(device_name) else { return core.refuse("device_name is not UTF-8") }
    guard let customerID = optionalText(customer_id) else { return core.refuse("customer_id is not UTF-8") }
    guard let appID = optionalText(app_id) else { return core.refuse("app_id is not UTF-8") }
    return core.status { () throws(SDKError) in
        let made = try core.makeNewUser(id, deviceName: deviceName, customerID: customerID, appID: appID)
        user.pointee = makeHandle(made, of: sdk)
    }
}

@_cdecl("mpin_sdk_get_user") @implementation
public func mpin_sdk_get_user(
    _ sdk: OpaquePointer?, _ user: UnsafeMutablePointer<OpaquePointer?>?, _ id: UnsafePointer<CChar>?
) -> mpin_status {
    mpin_sdk_get_user_mfa(sdk, user, id, nil, nil)
}

@_cdecl("mpin_sdk_get_user_mfa") @implementation
public func mpin_sdk_get_user_mfa(
    _ sdk: OpaquePointer?, _ user: UnsafeMutablePointer<OpaquePointer?>?, _ id: UnsafePointer<CChar>?,
    _ customer_id: UnsafePointer<CChar>?, _ app_id: UnsafePointer<CChar>?
) -> mpin_status {
    guard let core = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let user else { return core.refuse("user is NULL") }
    guard let id = text(id) else { return core.refuse("id is NULL or not UTF-8") }
    guard let customerID = optionalText(customer_id) else { return core.refuse("customer_id is not UTF-8") }
    guard let appID = optionalText(app_id) else { return core.refuse("app_id is not UTF-8") }
    return core.status { () throws(SDKError) in
        let found = try core.user(id, customerID: customerID, appID: appID)
        user.pointee = found.flatMap { makeHandle($0, of: sdk) }
    }
}

@_cdecl("mpin_sdk_list_users") @implementation
public func mpin_sdk_list_users(
    _ sdk: OpaquePointer?, _ users: UnsafeMutablePointer<OpaquePointer?>?, _ count: UnsafeMutablePointer<Int>?
) -> mpin_status {
    list(sdk, users, count) { core throws(SDKError) in try core.listUsers() }
}

@_cdecl("mpin_sdk_list_all_users") @implementation
public func mpin_sdk_list_all_users(
    _ sdk: OpaquePointer?, _ users: UnsafeMutablePointer<OpaquePointer?>?, _ count: UnsafeMutablePointer<Int>?
) -> mpin_status {
    list(sdk, users, count) { core throws(SDKError) in try core.listAllUsers() }
}

@_cdecl("mpin_sdk_list_backend_users") @implementation
public func mpin_sdk_list_backend_users(
    _ sdk: OpaquePointer?, _ users: UnsafeMutablePointer<OpaquePointer?>?, _ count: UnsafeMutablePointer<Int>?,
    _ backend: UnsafePointer<CChar>?
) -> mpin_status {
    guard let core = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let backend = text(backend) else { return core.refuse("backend is NULL or not UTF-8") }
    return list(sdk, users, count) { core throws(SDKError) in try core.listUsers(backend: backend) }
}

/// Writes a handle for each user that `find` returns. If there is too little room, writes only the number of users.
private func list(
    _ sdk: OpaquePointer?, _ users: UnsafeMutablePointer<OpaquePointer?>?, _ count: UnsafeMutablePointer<Int>?,
    _ find: (SDK) throws(SDKError) -> [User]
) -> mpin_status {
    guard let core = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let count else { return core.refuse("count is NULL") }
    var isTooSmall = false
    let status = core.status { () throws(SDKError) in
        let found = try find(core)
        isTooSmall = users != nil && UInt(bitPattern: count.pointee) < UInt(found.count)
        count.pointee = found.count
        guard let users, !isTooSmall else { return }
        for (index, user) in found.enumerated() { users[index] = makeHandle(user, of: sdk) }
    }
    return isTooSmall ? MPIN_BUFFER_TOO_SMALL : status
}

@_cdecl("mpin_sdk_list_backends") @implementation
public func mpin_sdk_list_backends(
    _ sdk: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    return sdk.status(out, out_len) { () throws(SDKError) in try sdk.listBackends().map { "\($0)\n" }.joined() }
}

@_cdecl("mpin_sdk_user_exists") @implementation
public func mpin_sdk_user_exists(
    _ sdk: OpaquePointer?, _ exists: UnsafeMutablePointer<Int32>?, _ id: UnsafePointer<CChar>?,
    _ customer_id: UnsafePointer<CChar>?, _ app_id: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let exists else { return sdk.refuse("exists is NULL") }
    guard let id = text(id) else { return sdk.refuse("id is NULL or not UTF-8") }
    guard let customerID = optionalText(customer_id) else { return sdk.refuse("customer_id is not UTF-8") }
    guard let appID = optionalText(app_id) else { return sdk.refuse("app_id is not UTF-8") }
    return sdk.status { () throws(SDKError) in
        exists.pointee = try sdk.userExists(id, customerID: customerID, appID: appID) ? 1 : 0
    }
}

@_cdecl("mpin_sdk_delete_users") @implementation
public func mpin_sdk_delete_users(_ sdk: OpaquePointer?) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    return sdk.status { () throws(SDKError) in try sdk.deleteUsers() }
}

@_cdecl("mpin_sdk_delete_user") @implementation
public func mpin_sdk_delete_user(_ sdk: OpaquePointer?, _ user: OpaquePointer?) -> mpin_status {
    guard let (sdk, user) = sdkAndUser(sdk, user) else { return unusable(sdk, user) }
    return sdk.status { () throws(SDKError) in try sdk.deleteUser(user) }
}

@_cdecl("mpin_sdk_import_storage") @implementation
public func mpin_sdk_import_storage(
    _ sdk: OpaquePointer?, _ imported: UnsafeMutablePointer<Int>?, _ format: Int32, _ users: UnsafePointer<CChar>?,
    _ secure: UnsafePointer<CChar>?
) -> mpin_status {
    guard let sdk = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let imported else { return sdk.refuse("imported is NULL") }
    guard let format = ImportFormat(rawValue: format) else { return sdk.refuse("format is none of MPIN_IMPORT_*") }
    guard let users = secretOctets(users) else { return sdk.refuse("users is NULL") }
    let secure = secretOctets(secure)
    guard (secure == nil) == (format == .clientJS) else { return sdk.refuse("secure does not fit the format") }
    let source = ImportSource(
        format: format, users: SecretBytes(copying: users.span), secure: secure.map { SecretBytes(copying: $0.span) })
    return sdk.status { () throws(SDKError) in imported.pointee = try sdk.importStorage(source) }
}
