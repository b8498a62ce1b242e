// mpin.h: sessions of apps. The header documents every function.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CMPin
import Glibc
import MPinSDK
import MPinSecrets
import MPinSession
import MPinWire

@_cdecl("mpin_session_new") @implementation
public func mpin_session_new(
    _ sdk: OpaquePointer?, _ session: UnsafeMutablePointer<OpaquePointer?>?,
    _ config: UnsafePointer<mpin_session_config>?
) -> mpin_status {
    guard let core = MPinABI.sdk(sdk) else { return unusable(sdk) }
    guard let session else { return core.refuse("session is NULL") }
    let number = errno
    defer { errno = number }
    do throws(SDKError) {
        let opened = try Forks.during { () throws(SDKError) in try openSession(core, config) }
        guard let handle = makeHandle(opened, of: sdk) else { return core.refuse("too many handles") }
        session.pointee = handle
        return MPIN_OK
    } catch { return core.keep(error) }
}

@_cdecl("mpin_session_free") @implementation
public func mpin_session_free(_ session: OpaquePointer?) {
    let number = errno
    if !Forks.isLost(session) { Forks.during { removeSession(session)?.close() } }
    errno = number
}

@_cdecl("mpin_session_cancel") @implementation
public func mpin_session_cancel(_ session: OpaquePointer?) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    Forks.during { session.cancel() }
    return MPIN_OK
}

@_cdecl("mpin_session_get_last_error") @implementation
public func mpin_session_get_last_error(
    _ session: OpaquePointer?, _ error: UnsafeMutablePointer<mpin_error>?
) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    return copyOut(Forks.during { session.lastError }, error)
}

@_cdecl("mpin_session_add_provider") @implementation
public func mpin_session_add_provider(
    _ session: OpaquePointer?, _ provider: UnsafePointer<mpin_provider>?
) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    let read: Provider
    do throws(SDKError) { read = try readProvider(provider) } catch { return session.refuse(error.text) }
    return session.status { () throws(SDKError) in try session.add(read) }
}

@_cdecl("mpin_session_login") @implementation
public func mpin_session_login(
    _ session: OpaquePointer?, _ provider: UnsafePointer<CChar>?, _ user_id: UnsafePointer<CChar>?
) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    guard let provider = text(provider) else { return session.refuse("provider is NULL or not UTF-8") }
    guard let userID = optionalText(user_id) else { return session.refuse("user_id is not UTF-8") }
    return session.status { () throws(SDKError) in try session.login(provider, userID: userID ?? "") }
}

@_cdecl("mpin_session_resume") @implementation
public func mpin_session_resume(_ session: OpaquePointer?, _ url: UnsafePointer<CChar>?) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    guard let url = text(url) else { return session.refuse("url is NULL or not UTF-8") }
    return session.status { () throws(SDKError) in try session.resume(url) }
}

@_cdecl("mpin_session_logout") @implementation
public func mpin_session_logout(_ session: OpaquePointer?, _ everywhere: Int32) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    guard (0...1).contains(everywhere) else { return session.refuse("everywhere is neither 0 nor 1") }
    return session.status { () throws(SDKError) in try session.logout(everywhere: everywhere == 1) }
}

@_cdecl("mpin_session_get_access_token") @implementation
public func mpin_session_get_access_token(
    _ session: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?,
    _ scope: UnsafePointer<CChar>?, _ min_ttl: Int32, _ may_interact: Int32
) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    guard let scope = optionalText(scope) else { return session.refuse("scope is not UTF-8") }
    guard min_ttl >= 0 else { return session.refuse("min_ttl is negative") }
    guard (0...1).contains(may_interact) else { return session.refuse("may_interact is neither 0 nor 1") }
    return session.status(out, out_len) { () throws(SDKError) in
        try session.credentials(scope: scope, minTTL: Int64(min_ttl), mayInteract: may_interact == 1)
            .accessToken.plainText
    }
}

@_cdecl("mpin_session_has_valid") @implementation
public func mpin_session_has_valid(
    _ session: OpaquePointer?, _ has_valid: UnsafeMutablePointer<Int32>?, _ min_ttl: Int32
) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    guard min_ttl >= 0 else { return session.refuse("min_ttl is negative") }
    return session.status(has_valid) { () throws(SDKError) in
        try session.hasValid(minTTL: Int64(min_ttl)) ? 1 : 0
    }
}

@_cdecl("mpin_session_authorize") @implementation
public func mpin_session_authorize(
    _ session: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?,
    _ url: UnsafePointer<CChar>?, _ rejected: UnsafePointer<CChar>?, _ may_interact: Int32
) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    guard let url = text(url) else { return session.refuse("url is NULL or not UTF-8") }
    guard (0...1).contains(may_interact) else { return session.refuse("may_interact is neither 0 nor 1") }
    let rejected = secretOctets(rejected).map { SecretText(SecretBytes(copying: $0.span)) }
    return session.status(out, out_len) { () throws(SDKError) in
        try session.authorization(for: url, rejected: rejected, mayInteract: may_interact == 1).plainText
    }
}

@_cdecl("mpin_session_handover") @implementation
public func mpin_session_handover(
    _ session: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?,
    _ audience: UnsafePointer<CChar>?, _ scope: UnsafePointer<CChar>?
) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    guard let audience = optionalText(audience) else { return session.refuse("audience is not UTF-8") }
    guard let scope = optionalText(scope) else { return session.refuse("scope is not UTF-8") }
    return session.status(out, out_len) { () throws(SDKError) in
        try session.handover(audience: audience ?? "", scope: scope ?? "").accessToken.plainText
    }
}

@_cdecl("mpin_session_get_claim") @implementation
public func mpin_session_get_claim(
    _ session: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?,
    _ name: UnsafePointer<CChar>?
) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    guard let name = text(name) else { return session.refuse("name is NULL or not UTF-8") }
    return session.status(out, out_len) { () throws(SDKError) in try session.profile()[name] }
}

@_cdecl("mpin_session_get_last_provider") @implementation
public func mpin_session_get_last_provider(
    _ session: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    return session.status(out, out_len) { () throws(SDKError) in try session.lastProvider() }
}

@_cdecl("mpin_session_get_id_token") @implementation
public func mpin_session_get_id_token(
    _ session: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    return session.status(out, out_len) { () throws(SDKError) in try session.stored()?.idToken?.plainText ?? "" }
}

@_cdecl("mpin_session_get_scope") @implementation
public func mpin_session_get_scope(
    _ session: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ out_len: UnsafeMutablePointer<Int>?
) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    return session.status(out, out_len) { () throws(SDKError) in try session.stored()?.scope ?? "" }
}

@_cdecl("mpin_session_get_state") @implementation
public func mpin_session_get_state(_ session: OpaquePointer?, _ state: UnsafeMutablePointer<Int32>?) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    return session.status(state) { () throws(SDKError) in try session.state().rawValue }
}

@_cdecl("mpin_session_get_expiry") @implementation
public func mpin_session_get_expiry(_ session: OpaquePointer?, _ expiry: UnsafeMutablePointer<Int64>?) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    return session.status(expiry) { () throws(SDKError) in try session.stored()?.expiry ?? 0 }
}

@_cdecl("mpin_session_can_renew") @implementation
public func mpin_session_can_renew(_ session: OpaquePointer?, _ can_renew: UnsafeMutablePointer<Int32>?) -> mpin_status
{
    guard let session = MPinABI.session(session) else { return unusable(session) }
    return session.status(can_renew) { () throws(SDKError) in try session.canRenew() ? 1 : 0 }
}

@_cdecl("mpin_session_renew") @implementation
public func mpin_session_renew(_ session: OpaquePointer?) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    return session.status { () throws(SDKError) in try session.renew() }
}

@_cdecl("mpin_session_revoke") @implementation
public func mpin_session_revoke(_ session: OpaquePointer?) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    return session.status { () throws(SDKError) in try session.revoke() }
}

@_cdecl("mpin_session_clear") @implementation
public func mpin_session_clear(_ session: OpaquePointer?) -> mpin_status {
    guard let session = MPinABI.session(session) else { return unusable(session) }
    return session.status { () throws(SDKError) in try session.clear() }
}
