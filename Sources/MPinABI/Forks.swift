// What becomes of the objects of a process in the child that `fork` makes.
//
// The child has a copy of all memory, but only the thread that has called `fork`. If another thread was in a call, what
// this call held or was changing stays so in the child for ever. So in this case the child may use none of the objects
// that its parent has made. If no call was under way, the child may use all of them.

import CMPin
import Glibc
import MPinHTTP
import Synchronization

/// What is short of being whole only while it is locked. It is locked during a `fork`, so the child finds it whole and
/// unlocked.
protocol WholeAtFork: Sendable {
    func lock()
    func unlock()
    /// Does once what calls do with it before they are counted.
    func rehearse()
}

extension Locked: WholeAtFork {
    func rehearse() {}
}

enum Forks {
    /// How many calls are under way in this process.
    private static let underWay = Locked(0)
    /// Counts the forks during a call, from the first process to this one.
    private static let count = Atomic<UInt64>(0)
    /// Everything that calls use before they are counted.
    private static let whole: [any WholeAtFork] = [
        underWay, sdks, users, sessions, sessionsOfSDKs, answers, stored, contexts,
    ]

    /// Where a handle has the number of its process (``generation``), and the last such number.
    static let shift: UInt64 = 52
    static let last: UInt64 = 0xFF

    /// Whether the system tells this library of forks; it does so from the first question on. False if there is no
    /// memory for it.
    static let areSeen: Bool = {
        // Swift makes the metadata of types at their first use, under locks that a child may find locked for ever. So none
        // may be made outside of a counted call, and none for a handle that a child has lost.
        lock()
        unlock()
        for part in whole { part.rehearse() }
        return pthread_atfork({ lock() }, { unlock() }, { begin() }) == 0
    }()

    /// Differs between the objects that this process may use and those that it may not.
    static var generation: UInt64 { count.load(ordering: .relaxed) }

    /// Whether a handle was made by a parent whose objects this process may not use. Only looks at the number.
    static func isLost(_ handle: OpaquePointer?) -> Bool {
        let key = UInt64(UInt(bitPattern: handle))
        return key >> 63 == 1 && key >> shift & last < generation
    }

    /// Runs a call. A child that is made meanwhile may not use the objects of this process.
    static func during<Result, Failure>(_ call: () throws(Failure) -> Result) throws(Failure) -> Result {
        let begun = generation
        underWay.withLock { $0 &+= 1 }
        // In a child that was made within the call, by a callback, the call is not counted.
        defer { if generation == begun { underWay.withLock { $0 &-= 1 } } }
        return try call()
    }

    private static func lock() { for part in whole { part.lock() } }

    private static func unlock() { for part in whole { part.unlock() } }

    /// The first that a child does.
    private static func begin() {
        unlock()
        underWay.withLock { calls in
            guard calls > 0 else { return }
            calls = 0
            // After 255 such forks in a row nobody can tell parents from children any more.
            count.store(min(generation &+ 1, last), ordering: .relaxed)
        }
    }
}

/// The status of a call with one or two handles that it cannot use.
func unusable(_ first: OpaquePointer?, _ second: OpaquePointer? = nil) -> mpin_status {
    Forks.isLost(first) || Forks.isLost(second) ? MPIN_FORKED : MPIN_INVALID_HANDLE
}
