import CMPin
import Glibc
import MPinSDK

private let sdks = HandleTable<SDK>(.sdk)
private let users = HandleTable<UserOfSDK>(.user)

/// A user and the handle of its sdk, which it must not outlive.
private final class UserOfSDK: Sendable {
    let user: User
    let sdk: UInt

    init(_ user: User, _ sdk: OpaquePointer?) {
        self.user = user
        self.sdk = UInt(bitPattern: sdk)
    }
}

func makeHandle(_ sdk: SDK) -> OpaquePointer? { sdks.insert(sdk) }

func makeHandle(_ user: User, of sdk: OpaquePointer?) -> OpaquePointer? { users.insert(UserOfSDK(user, sdk)) }

/// Nil for a handle that is no sdk's.
func sdk(_ handle: OpaquePointer?) -> SDK? { sdks.object(handle) }

/// Nil for a handle that is no user's, and for one whose sdk is gone.
func user(_ handle: OpaquePointer?) -> User? {
    guard let entry = users.object(handle), sdks.object(OpaquePointer(bitPattern: entry.sdk)) != nil else { return nil }
    return entry.user
}

/// An sdk and a user of its own; nil for anything else.
func sdkAndUser(_ sdkHandle: OpaquePointer?, _ userHandle: OpaquePointer?) -> (SDK, User)? {
    guard let sdk = sdks.object(sdkHandle), let entry = users.object(userHandle),
        entry.sdk == UInt(bitPattern: sdkHandle)
    else { return nil }
    return (sdk, entry.user)
}

func removeSDK(_ handle: OpaquePointer?) -> SDK? { sdks.remove(handle) }

func removeUser(_ handle: OpaquePointer?) { _ = users.remove(handle) }

extension SDK {
    /// Runs a call and tells its result in C's numbers. The caller's errno stays as it was.
    func status(_ call: () throws(SDKError) -> Void) -> mpin_status {
        let number = errno
        defer { errno = number }
        do {
            try call()
            return MPIN_OK
        } catch {
            return error.status.rawValue
        }
    }

    /// Runs a call that gives a text.
    func status(
        _ out: UnsafeMutablePointer<CChar>?, _ length: UnsafeMutablePointer<Int>?, _ call: () throws(SDKError) -> String
    ) -> mpin_status {
        guard length != nil else { return refuse("the length of an output is NULL") }
        var result = MPIN_OK
        let status = status { () throws(SDKError) in result = copyOut(try call(), out, length) }
        return status == MPIN_OK ? result : status
    }

    /// Runs a call that fills a structure.
    func status<Structure>(
        _ target: UnsafeMutablePointer<Structure>?,
        _ call: (inout StructureOutput<Structure>) throws(SDKError) -> Void
    ) -> mpin_status {
        guard var output = StructureOutput(target) else {
            return refuse("a structure of outputs is NULL, or its size is not set")
        }
        return status { () throws(SDKError) in
            try call(&output)
            guard !output.handOver() else { return }
            let error = SDKError(.responseParseError, "a text of the answer is too long")
            record(error)
            throw error
        }
    }

    /// The result for arguments that do not get as far as a call.
    func refuse(_ reason: String) -> mpin_status {
        record(SDKError(.invalidArgument, reason))
        return MPIN_INVALID_ARGUMENT
    }
}
