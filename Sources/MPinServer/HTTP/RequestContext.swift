import Foundation
import Hummingbird
import Logging
import MPinSecrets

/// What a handler knows about a request beside the request itself.
struct RequestContext: Hummingbird.RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Who sent it: the peer of the connection, or whom a trusted proxy names. Nil where the system names no peer.
    var remoteAddress: IPAddress?
    /// Whether it came over TLS, here or at a trusted proxy.
    var isSecure = false
    /// Stands in the answer (`X-Request-Id`) and in every log line of this request.
    private(set) var requestID: String
    /// Other parts of the framework know the id by this name.
    var id: String { requestID }

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress.flatMap { $0.ipAddress }.flatMap(IPAddress.init)
        requestID = Self.newID()
        logger[metadataKey: "hb.request.id"] = nil
        logger[metadataKey: "request_id"] = "\(requestID)"
    }

    /// Takes over the id that a trusted proxy gave the request.
    mutating func adopt(requestID: String) {
        self.requestID = requestID
        logger[metadataKey: "request_id"] = "\(requestID)"
    }

    /// 16 hex digits.
    private static func newID() -> String {
        var generator = SystemRandomNumberGenerator()
        let text = String(generator.next(), radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
