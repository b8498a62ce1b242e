import Glibc

/// The time at which an operation must have ended. The time is that of the monotonic clock, so changes of the wall
/// clock have no effect.
package struct Deadline: Sendable, Equatable {
    /// The time in nanoseconds on the monotonic clock.
    package let nanoseconds: UInt64

    /// Makes the deadline at `nanoseconds` on the monotonic clock.
    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// Makes the deadline `milliseconds` after `now`.
    package static func after(milliseconds: UInt32, now: UInt64 = monotonicNanoseconds()) -> Deadline {
        Deadline(nanoseconds: now &+ UInt64(milliseconds) &* 1_000_000)
    }

    /// The remaining milliseconds, rounded up; 0 after the deadline.
    package func remainingMilliseconds(now: UInt64 = monotonicNanoseconds()) -> Int {
        guard nanoseconds > now else { return 0 }
        return Int(truncatingIfNeeded: (nanoseconds &- now &+ 999_999) / 1_000_000)
    }

    /// Sleeps until the deadline, but at most `milliseconds`.
    package func sleep(atMost milliseconds: UInt32) {
        usleep(min(UInt32(clamping: remainingMilliseconds()), milliseconds) &* 1000)
    }
}

/// The current time on the system's monotonic clock, in nanoseconds.
package func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(truncatingIfNeeded: time.tv_sec) &* 1_000_000_000 &+ UInt64(truncatingIfNeeded: time.tv_nsec)
}
