import Glibc

/// The moment at which an operation must have ended, on the monotonic clock: changes of the wall clock do not move it.
package struct Deadline: Sendable, Equatable {
    /// Nanoseconds on the monotonic clock.
    package let nanoseconds: UInt64

    /// The moment `nanoseconds` on the monotonic clock.
    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// `milliseconds` from `now`.
    package static func after(milliseconds: UInt32, now: UInt64 = monotonicNanoseconds()) -> Deadline {
        Deadline(nanoseconds: now &+ UInt64(milliseconds) &* 1_000_000)
    }

    /// Milliseconds that are left, rounded up; 0 when the moment has passed.
    package func remainingMilliseconds(now: UInt64 = monotonicNanoseconds()) -> Int {
        guard nanoseconds > now else { return 0 }
        return Int(truncatingIfNeeded: (nanoseconds &- now &+ 999_999) / 1_000_000)
    }

    /// Sleeps until the moment, at most `milliseconds`.
    package func sleep(atMost milliseconds: UInt32) {
        usleep(min(UInt32(clamping: remainingMilliseconds()), milliseconds) &* 1000)
    }
}

/// Nanoseconds of the system's monotonic clock.
package func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(truncatingIfNeeded: time.tv_sec) &* 1_000_000_000 &+ UInt64(truncatingIfNeeded: time.tv_nsec)
}
