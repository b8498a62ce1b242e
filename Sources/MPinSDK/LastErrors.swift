import Glibc
import MPinHTTP
import Synchronization

/// The last error of each thread, so that one thread's failure does not cover another's.
final class LastErrors: Sendable {
    private let errors = Locked<[UInt: SDKError]>([:])
    /// Threads end without telling: beyond this many the memory starts afresh.
    private static let maxThreads = 256

    func record(_ error: SDKError) {
        errors.withLock { errors in
            if errors.count >= Self.maxThreads && errors[Self.thread] == nil { errors.removeAll() }
            errors[Self.thread] = error
        }
    }

    /// Nil where no call of this thread has failed.
    var current: SDKError? { errors.withLock { $0[Self.thread] } }

    /// The calling thread's number. That of `pthread_self` will not do: the system gives it to a later thread again.
    private static var thread: UInt {
        guard let key else { return 0 }
        if let number = pthread_getspecific(key) { return UInt(bitPattern: number) }
        let number = counter.wrappingAdd(1, ordering: .relaxed).newValue
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: number))
        return number
    }

    private static let counter = Atomic<UInt>(0)
    /// Where a thread keeps its number; nil if the process has no room for another key.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()
}
