import Glibc
package import MPinHTTP

/// Lets one operation at a time enter; others wait. A thread that has entered must leave before it enters again.
/// ``cancel()`` never waits.
package final class Gate: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var owner: pthread_t?
    private var isCanceled = false
    private var isClosed = false

    package init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // The monotonic clock is used, because a change of the wall clock must not lengthen a wait.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Waits until the gate is free, at most until the deadline, and enters. The caller must then call ``leave()``.
    package func enter(until deadline: Deadline) throws(SDKError) {
        lock()
        defer { unlock() }
        if owner == pthread_self() { throw SDKError(.flowError, "called from within a call on the same sdk") }
        while owner != nil && !isClosed {
            guard wait(until: deadline) else { throw SDKError(.timedOut, "another call on this sdk is under way") }
        }
        guard !isClosed else { throw SDKError(.canceled, "the sdk is being released") }
        owner = pthread_self()
        isCanceled = false
    }

    /// Leaves, so that the next operation can enter.
    package func leave() {
        lock()
        owner = nil
        isCanceled = false
        pthread_cond_broadcast(condition)
        unlock()
    }

    /// Cancels the operation that is under way, if any.
    package func cancel() {
        lock()
        if owner != nil { isCanceled = true }
        unlock()
    }

    /// Whether the operation that is under way must end.
    package var isCancelRequested: Bool {
        lock()
        defer { unlock() }
        return isCanceled || isClosed
    }

    /// Cancels the operation that is under way and all that wait, refuses all later ones, and waits until the gate is
    /// empty. Does not wait if the calling thread is in the gate itself.
    package func close() {
        lock()
        defer { unlock() }
        isClosed = true
        pthread_cond_broadcast(condition)
        while owner != nil && owner != pthread_self() { pthread_cond_wait(condition, mutex) }
    }

    private func lock() { pthread_mutex_lock(mutex) }
    private func unlock() { pthread_mutex_unlock(mutex) }

    /// Waits for another thread to leave or to close the gate. False if the deadline has passed.
    private func wait(until deadline: Deadline) -> Bool {
        var moment = timespec(
            tv_sec: Int(truncatingIfNeeded: deadline.nanoseconds / 1_000_000_000),
            tv_nsec: Int(truncatingIfNeeded: deadline.nanoseconds % 1_000_000_000))
        return pthread_cond_timedwait(condition, mutex, &moment) != ETIMEDOUT
    }
}
