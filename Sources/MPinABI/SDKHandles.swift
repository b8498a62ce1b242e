import CMPin
import Glibc
import MPinSDK

let sdks = HandleTable<SDK>(.sdk)
let users = HandleTable<UserOfSDK>(.user)

/// A user together with the handle of its sdk. The user's handle is invalid once the sdk is freed.
final class UserOfSDK: Sendable {
    let user: User
    let sdk: UInt

    init(_ user: User, _ sdk: OpaquePointer?) {
        self.user = user
        self.sdk = UInt(bitPattern: sdk)
    }
}

func makeHandle(_ sdk: SDK) -> OpaquePointer? { sdks.insert(sdk) }

func makeHandle(_ user: User, of sdk: OpaquePointer?) -> OpaquePointer? { users.insert(UserOfSDK(user, sdk)) }

/// The sdk of the handle. Nil for any other handle.
func sdk(_ handle: OpaquePointer?) -> SDK? { Forks.isLost(handle) ? nil : sdks.object(handle) }

/// The user of the handle. Nil for any other handle, and if the user's sdk was freed.
func user(_ handle: OpaquePointer?) -> User? {
    guard !Forks.isLost(handle), let entry = users.object(handle),
        sdks.object(OpaquePointer(bitPattern: entry.sdk)) != nil
    else { return nil }
    return entry.user
}

/// The sdk and the user of two handles. Nil unless the user belongs to that sdk.
func sdkAndUser(_ sdkHandle: OpaquePointer?, _ userHandle: OpaquePointer?) -> (SDK, User)? {
    guard !Forks.isLost(sdkHandle), !Forks.isLost(userHandle), let sdk = sdks.object(sdkHandle),
        let entry = users.object(userHandle),
        entry.sdk == UInt(bitPattern: sdkHandle)
    else { return nil }
    return (sdk, entry.user)
}

func removeSDK(_ handle: OpaquePointer?) -> SDK? { sdks.remove(handle) }

func removeUser(_ handle: OpaquePointer?) { if !Forks.isLost(handle) { _ = users.remove(handle) } }

extension SDK {
    /// Runs a call and returns its status for C. The caller's errno is preserved.
    func status(_ call: () throws(SDKError) -> Void) -> mpin_status {
        let number = errno
        defer { errno = number }
        do {
            try Forks.during(call)
            return MPIN_OK
        } catch {
            return error.status.rawValue
        }
    }

    /// Runs a call that returns a text, and writes the text and its length for C. If `isWanted` is false, the caller
    /// does not want the text, and `length` may be NULL. If the buffer is too small, only the text is missing: the call
    /// itself has been done.
    func status(
        _ out: UnsafeMutablePointer<CChar>?, _ length: UnsafeMutablePointer<Int>?, isWanted: Bool = true,
        _ call: () throws(SDKError) -> String
    ) -> mpin_status {
        guard length != nil || !isWanted else { return refuse("the length of an output is NULL") }
        let number = errno
        defer { errno = number }
        do {
            let text = try Forks.during(call)
            return isWanted ? copyOut(text, out, length) : MPIN_OK
        } catch {
            return error.status.rawValue
        }
    }

    /// Runs a call that fills a structure.
    func status<Structure>(
        _ target: UnsafeMutablePointer<Structure>?,
        _ call: (inout StructureOutput<Structure>) throws(SDKError) -> Void
    ) -> mpin_status {
        guard var output = StructureOutput(target) else {
            return refuse("a structure of outputs is NULL, or its size is not set")
        }
        let number = errno
        defer { errno = number }
        do {
            try Forks.during { () throws(SDKError) in try call(&output) }
        } catch {
            return error.status.rawValue
        }
        if output.handOver() { return MPIN_OK }
        return keep(SDKError(.responseParseError, "a text of the answer is too long"))
    }

    /// Records why the arguments were refused, and returns INVALID_ARGUMENT.
    func refuse(_ reason: String) -> mpin_status { keep(SDKError(.invalidArgument, reason)) }

    /// Records an error of this boundary, and returns its status.
    func keep(_ error: SDKError) -> mpin_status {
        Forks.during { record(error) }
        return error.status.rawValue
    }

    /// The last error of this sdk's calls in this thread.
    var kept: SDKError? { Forks.during { lastError } }
}
