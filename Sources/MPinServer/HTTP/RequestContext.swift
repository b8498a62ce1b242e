import Hummingbird
import Logging
import MPinSecrets
import NIOCore

/// The facts about a request that a handler needs besides the request itself.
struct RequestContext: Hummingbird.RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address of the sender: the peer of the connection, or the address that a trusted proxy names. Nil if the
    /// system knows no peer.
    var remoteAddress: IPAddress?
    /// Names the sender for limits, which count all addresses of one IPv6 network as one sender. Nil if it is not known.
    var asker: String? { remoteAddress.map { "\($0.caller)" } }
    /// Whether the request came over TLS, here or at a trusted proxy.
    var isSecure = false
    /// Whether a trusted proxy has sent the request, so that its headers about the browser's request count.
    var isFromTrustedProxy = false
    /// The request's id. It is in the answer (`X-Request-Id`) and in every log line of this request.
    var requestID = Self.newID()
    /// The request's id under the name that the framework uses.
    var id: String { requestID }
    private let listenerLogger: Logger

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress.flatMap { IPAddress($0) }
        listenerLogger = source.logger
    }

    /// The logger with the request's id. It is made on demand, because most requests log nothing.
    var logger: Logger {
        var logger = listenerLogger
        logger[metadataKey: "request_id"] = "\(requestID)"
        return logger
    }

    /// Whether messages of `level` are logged.
    func logs(_ level: Logger.Level) -> Bool { listenerLogger.logLevel <= level }

    /// A random id of 16 hex digits.
    private static func newID() -> String {
        var generator = SystemRandomNumberGenerator()
        return withUnsafeBytes(of: generator.next()) { Hex.encode(Array($0)) }
    }
}
