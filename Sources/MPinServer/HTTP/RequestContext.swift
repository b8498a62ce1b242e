import Hummingbird
import Logging
import MPinSecrets
import NIOCore

/// What a handler knows about a request beside the request itself.
struct RequestContext: Hummingbird.RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Who sent it: the peer of the connection, or whom a trusted proxy names. Nil where the system names no peer.
    var remoteAddress: IPAddress?
    /// Whether it came over TLS, here or at a trusted proxy.
    var isSecure = false
    /// Stands in the answer (`X-Request-Id`) and in every log line of this request.
    var requestID = Self.newID()
    /// Other parts of the framework know the id by this name.
    var id: String { requestID }
    private let listenerLogger: Logger

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress.flatMap { IPAddress($0) }
        listenerLogger = source.logger
    }

    /// Made when somebody asks: most requests log nothing.
    var logger: Logger {
        var logger = listenerLogger
        logger[metadataKey: "request_id"] = "\(requestID)"
        return logger
    }

    /// Whether anybody wants to know.
    func logs(_ level: Logger.Level) -> Bool { listenerLogger.logLevel <= level }

    /// 16 hex digits.
    private static func newID() -> String {
        var generator = SystemRandomNumberGenerator()
        let text = String(generator.next(), radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
