import Logging
import MPinStore
import ServiceLifecycle
import Synchronization

/// The time by the clock of the machine that keeps the store, so that all servers with one store have the same time. An
/// item that one server has made then does not count as expired at another one, whose own clock is ahead. Between two
/// looks at the store's clock the time goes on steadily, also if somebody sets this machine's clock.
final class StoreClock: Sendable {
    private let store: any Store
    private let start = ContinuousClock.now
    /// The store's time at `start`, in microseconds since 1970.
    private let timeAtStart = Atomic<Int64>(0)

    /// The number of seconds by which this machine's clock may be wrong. If it is worse, something is broken, and the
    /// server reports that it is not ready.
    private static let tolerance = 20.0

    /// Nil if the store is on this machine.
    init?(_ store: any Store) async throws {
        self.store = store
        while timeAtStart.load(ordering: .relaxed) == 0 { guard try await look() else { return nil } }
    }

    var now: Moment { Moment(microseconds: timeAtStart.load(ordering: .relaxed) &+ elapsed) }

    /// Seconds by which the store's clock is ahead of this machine's.
    var seconds: Double { Double(now.microseconds &- Moment.now().microseconds) / 1_000_000 }

    var isNearOwn: Bool { abs(seconds) <= Self.tolerance }

    /// Asks for the time. False if the store has no clock of its own. An answer that took more than a second says too
    /// little and is ignored.
    @discardableResult
    func look() async throws -> Bool {
        let before = elapsed
        guard let there = try await store.time()?.microseconds else { return false }
        let after = elapsed
        if after &- before <= 1_000_000 {
            timeAtStart.store(there &- (before &+ (after &- before) / 2), ordering: .relaxed)
        }
        return true
    }

    /// Microseconds since `start`.
    private var elapsed: Int64 { Int64((ContinuousClock.now - start) / .microseconds(1)) }
}

/// Compares the clocks regularly.
struct StoreClockWatch: Service {
    private static let seconds = 10

    let clock: StoreClock
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                if !clock.isNearOwn {
                    logger.error(
                        "the clock of this machine differs from the database's: not ready",
                        metadata: ["seconds": "\(clock.seconds)"])
                }
                try await Task.sleep(for: .seconds(Self.seconds))
                // If the store does not answer, the check of the store reports it.
                _ = try? await clock.look()
            }
        }
    }
}
