import MPinService
import MPinStore
import Synchronization

/// Brings time permits into the audit log. Anybody may ask for them, known or not and as often as the rate limits let
/// them, so within an interval an identity's outcome gets one line, and all others are counted in one more.
final class PermitAudit: Sendable {
    /// Of identities with a line of their own in an interval; what comes beyond is counted.
    private static let capacity = 10_000

    private struct Interval {
        /// Nil: nothing has come since the last sum.
        var start: Moment?
        var seen: Set<String> = []
        var strangers = 0
        var repeated = 0
    }

    private let audit: Audit
    private let seconds: Int
    private let clock: Clock
    private let interval = Mutex(Interval())

    init(_ config: RelyingPartyServiceConfig) {
        (audit, seconds, clock) = (config.audit, config.limits.permitAuditSeconds, config.clock)
    }

    /// `user`: nil for a stranger. Strangers and the others take the same time: nothing is written here.
    func note(_ id: MPinID, user: String?, status: Int) {
        sumUp(isEnd: false)
        let (now, name) = (clock(), "\(status) \(id.key)")
        let isNew = interval.withLock { interval in
            interval.start = interval.start ?? now
            // Looked up for strangers, too.
            let isSeen = interval.seen.contains(name)
            guard user != nil else {
                interval.strangers += 1
                return false
            }
            guard !isSeen, interval.seen.count < Self.capacity else {
                interval.repeated += 1
                return false
            }
            interval.seen.insert(name)
            return true
        }
        if isNew, let user { audit.recordSoon(.permit(id, user: user, status: status)) }
    }

    /// Writes the line of an interval that is over, or of any at the end of the process.
    func sumUp(isEnd: Bool) {
        let now = clock()
        let past = interval.withLock { interval -> Interval? in
            guard let start = interval.start, isEnd || now >= start.adding(seconds: seconds) else { return nil }
            defer { interval = Interval() }
            return interval
        }
        guard let past, let start = past.start, past.strangers > 0 || past.repeated > 0 else { return }
        // Not of whoever came last.
        Audit.$origin.withValue(nil) {
            audit.recordSoon(.permits(since: start, strangers: past.strangers, repeated: past.repeated))
        }
    }
}
