import Logging
import NIOConcurrencyHelpers

/// Reports once, in the log and to a closure, that all listeners of this process are running.
package final class Readiness: Sendable {
    private let missing: NIOLockedValueBox<Int>
    /// The URL of this process, for the log line.
    private let url: String
    private let logger: Logger
    private let onReady: @Sendable () -> Void

    init(listeners: Int, url: String, logger: Logger, onReady: @escaping @Sendable () -> Void) {
        self.url = url
        missing = NIOLockedValueBox(listeners)
        self.logger = logger
        self.onReady = onReady
    }

    /// Whether all listeners are running.
    var isComplete: Bool { missing.withLockedValue { $0 <= 0 } }

    func arrived(_ name: String, _ address: ListenAddress) {
        let left = missing.withLockedValue { count in
            count -= 1
            return count
        }
        guard left == 0 else { return }
        logger.info("mpind is ready at \(url)")
        onReady()
    }
}
