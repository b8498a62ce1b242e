import CMPin
import MPinSDK
import MPinSecrets

/// The environment of the client core: the program's callbacks, or the built-in function where a callback is NULL.
func environment(_ context: mpin_context, hasKeyPath: Bool) -> Environment {
    let callbacks = Callbacks(context)
    var result = Environment()
    if context.http_execute != nil {
        result.makeTransport = { CallbackTransport(callbacks: callbacks, policy: $0) }
    }
    if context.storage_get != nil {
        result.storage = CallbackStorage(callbacks: callbacks)
        if !hasKeyPath { result.keySource = CallbackVault(callbacks: callbacks) }
    }
    if context.storage_key != nil { result.keySource = CallbackKey(callbacks: callbacks) }
    if context.log != nil { result.log = { callbacks.log($0, $1) } }
    if context.now != nil { result.now = { () throws(SDKError) in try callbacks.now() } }
    if context.random != nil { result.random = { callbacks.fill(&$0) } }
    return result
}

/// The program's callbacks. A callback runs in the thread that called the library, so the program must make its
/// callbacks thread-safe.
struct Callbacks: @unchecked Sendable {
    let context: mpin_context

    init(_ context: mpin_context) { self.context = context }

    func log(_ level: LogLevel, _ text: String) {
        text.withCString { context.log?(context.user, level.rawValue, $0) }
    }

    func now() throws(SDKError) -> Int64 {
        var milliseconds: Int64 = 0
        let status = context.now?(context.user, &milliseconds)
        guard status == MPIN_OK else { throw SDKError(.flowError, "the program's clock failed") }
        return milliseconds
    }

    /// Fills `bytes` with random bytes from the program's callback. False if the callback fails. Also false if there
    /// are at least 16 bytes and all are zero, because random bytes practically never are.
    func fill(_ bytes: inout MutableSpan<UInt8>) -> Bool {
        let enough = 16
        return bytes.withUnsafeMutableBufferPointer { buffer in
            buffer.update(repeating: 0)
            guard context.random?(context.user, buffer.baseAddress, buffer.count) == MPIN_OK else { return false }
            return buffer.count < enough || buffer.reduce(0, |) != 0
        }
    }
}
