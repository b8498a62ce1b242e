import MPinService
import MPinStore
import Synchronization

/// Writes time permits into the audit log. Anybody may ask for them, for any ID and as often as the rate limits allow.
/// So in each interval an identity gets one line for each outcome, and all other permits are only counted in one
/// summary line.
final class PermitAudit: Sendable {
    /// The largest number of lines in one interval, besides its summary. Further permits are only counted.
    private static let capacity = 10_000

    private struct Interval {
        /// When the first permit of the interval was noted; nil if there was none yet.
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

    /// Notes a permit. `user`: nil for an unregistered ID. Takes the same time for registered and unregistered IDs,
    /// because the line is written later, by another thread.
    func note(_ id: MPinID, user: String?, status: Int) {
        sumUp(isEnd: false)
        let (now, name) = (clock(), "\(status) \(id.key)")
        let isNew = interval.withLock { interval in
            interval.start = interval.start ?? now
            // This look-up is made for unregistered IDs, too, so that requests for them take as long as for others.
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

    /// Writes the summary line of the interval if the interval is over. With `isEnd`, at the end of the process, writes
    /// it in any case.
    func sumUp(isEnd: Bool) {
        let now = clock()
        let past = interval.withLock { interval -> Interval? in
            guard let start = interval.start, isEnd || now >= start.adding(seconds: seconds) else { return nil }
            defer { interval = Interval() }
            return interval
        }
        guard let past, let start = past.start, past.strangers > 0 || past.repeated > 0 else { return }
        // The summary must not contain the address of the last client.
        Audit.$origin.withValue(nil) {
            audit.recordSoon(.permits(since: start, strangers: past.strangers, repeated: past.repeated))
        }
    }
}
