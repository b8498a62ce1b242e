import CMPin
import Glibc
import MPinHTTP
import MPinSDK
import MPinSession

let sessions = HandleTable<SessionOfSDK>(.session)
/// The sessions of each sdk, by the sdk's handle. They end when the sdk is freed.
let sessionsOfSDKs = Locked<[UInt: [AppSession]]>([:])

/// A session together with the handle of its sdk.
final class SessionOfSDK: Sendable {
    let session: AppSession
    let sdk: UInt

    init(_ session: AppSession, _ sdk: UInt) {
        self.session = session
        self.sdk = sdk
    }
}

func makeHandle(_ session: AppSession, of sdk: OpaquePointer?) -> OpaquePointer? {
    let key = UInt(bitPattern: sdk)
    guard let handle = sessions.insert(SessionOfSDK(session, key)) else { return nil }
    sessionsOfSDKs.withLock { $0[key, default: []].append(session) }
    return handle
}

/// The session of the handle. Nil for any other handle, and if the session's sdk was freed.
func session(_ handle: OpaquePointer?) -> AppSession? {
    guard !Forks.isLost(handle), let entry = sessions.object(handle), sdk(OpaquePointer(bitPattern: entry.sdk)) != nil
    else { return nil }
    return entry.session
}

func removeSession(_ handle: OpaquePointer?) -> AppSession? {
    guard let entry = sessions.remove(handle) else { return nil }
    sessionsOfSDKs.withLock { $0[entry.sdk]?.removeAll { $0 === entry.session } }
    return entry.session
}

/// Ends the calls on the sessions of an sdk that is about to be freed, because they use its callbacks.
func closeSessions(of sdk: OpaquePointer?) {
    let ended = sessionsOfSDKs.withLock { $0.removeValue(forKey: UInt(bitPattern: sdk)) ?? [] }
    for session in ended { session.close() }
}

extension AppSession {
    /// Runs a call and returns its status for C. The caller's errno is preserved.
    func status(_ call: () throws(SDKError) -> Void) -> mpin_status {
        let number = errno
        defer { errno = number }
        do throws(SDKError) {
            try Forks.during(call)
            return MPIN_OK
        } catch { return error.status.rawValue }
    }

    /// Runs a call that returns a number.
    func status<Number>(
        _ out: UnsafeMutablePointer<Number>?, _ call: () throws(SDKError) -> Number
    ) -> mpin_status {
        guard let out else { return refuse("an output is NULL") }
        return status { () throws(SDKError) in out.pointee = try call() }
    }

    /// Runs a call that returns a text.
    func status(
        _ out: UnsafeMutablePointer<CChar>?, _ length: UnsafeMutablePointer<Int>?,
        _ call: () throws(SDKError) -> String
    ) -> mpin_status {
        guard length != nil else { return refuse("the length of an output is NULL") }
        var text = ""
        let status = status { () throws(SDKError) in text = try call() }
        return status == MPIN_OK ? copyOut(text, out, length) : status
    }

    /// Records why the arguments were refused, and returns INVALID_ARGUMENT.
    func refuse(_ reason: String) -> mpin_status {
        Forks.during { record(SDKError(.invalidArgument, reason)) }
        return MPIN_INVALID_ARGUMENT
    }
}
