import Logging
import NIOConcurrencyHelpers

/// Reports once, in the log and to a closure, that all listeners of this process are running.
package final class Readiness: Sendable {
    private let missing: NIOLockedValueBox<Int>
    private let routes = NIOLockedValueBox<[String: [Route]]>([:])
    /// The URL of this process, for the log line.
    private let url: String
    private let logger: Logger
    private let onReady: OnReady

    init(listeners: Int, url: String, logger: Logger, onReady: @escaping OnReady) {
        self.url = url
        missing = NIOLockedValueBox(listeners)
        self.logger = logger
        self.onReady = onReady
    }

    /// Gets the routes of each listener, by its name.
    package typealias OnReady = @Sendable (_ routes: [String: [Route]]) -> Void

    /// Whether all listeners are running.
    var isComplete: Bool { missing.withLockedValue { $0 <= 0 } }

    func arrived(_ name: String, _ table: RouteTable) {
        routes.withLockedValue { $0[name, default: []] += table.routes.filter { !$0.isRest } }
        let left = missing.withLockedValue { count in
            count -= 1
            return count
        }
        guard left == 0 else { return }
        logger.info("mpind is ready at \(url)")
        onReady(routes.withLockedValue(\.self))
    }
}
