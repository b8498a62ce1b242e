import Glibc
import MPinHTTP

/// Keeps the last error for each thread that has called the client core.
package final class LastErrors: Sendable {
    private struct Entry {
        let thread: Thread
        let error: SDKError
    }

    private let errors = Locked<[ObjectIdentifier: Entry]>([:])
    /// When there are this many entries, the entries of ended threads are removed.
    private static let manyThreads = 256

    package init() {}

    package func record(_ error: SDKError) {
        let thread = Thread.current
        errors.withLock { errors in
            if errors.count >= Self.manyThreads { errors = errors.filter { !$0.value.thread.isOver } }
            errors[ObjectIdentifier(thread)] = Entry(thread: thread, error: error)
        }
    }

    /// The last error of the calling thread. Nil if no call of this thread has failed.
    package var current: SDKError? {
        let thread = Thread.current
        return errors.withLock { $0[ObjectIdentifier(thread)]?.error }
    }
}

/// Identifies a thread. `pthread_self` is not enough, because the system can give its value to a later thread.
private final class Thread: Sendable {
    private let ended = Locked(false)
    var isOver: Bool { ended.withLock { $0 } }

    static var current: Thread {
        guard let key else { return unknown }
        if let known = pthread_getspecific(key) { return Unmanaged<Thread>.fromOpaque(known).takeUnretainedValue() }
        let thread = Thread()
        let owned = Unmanaged.passRetained(thread)
        if pthread_setspecific(key, owned.toOpaque()) != 0 { owned.release() }
        return thread
    }

    /// Stands for all threads if `pthread_key_create` fails, because the process has used up its keys for
    /// thread-specific data.
    private static let unknown = Thread()
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        let end: @convention(c) (UnsafeMutableRawPointer?) -> Void = { thread in
            if let thread { Unmanaged<Thread>.fromOpaque(thread).takeRetainedValue().ended.withLock { $0 = true } }
        }
        return pthread_key_create(&key, end) == 0 ? key : nil
    }()
}
