import HTTPTypes
import Hummingbird
package import Logging
package import MPinSecrets
package import MPinService
import MPinStore
import MPinWire
import NIOCore
import Synchronization

/// A receiver of pushes for development: it checks who has sent a push, and hands on its link instead of sending it to a
/// phone.
package struct PushRelay: Sendable {
    /// The largest body of a request in bytes.
    private static let bodyBytes = 16_384
    /// The seconds by which the time of a request may differ from now, before and after.
    private static let seconds: Int64 = 300
    /// How many ids are remembered, so that a push that is sent again is shown once.
    private static let remembered = 1000

    private let address: ListenAddress
    private let key: SecretBytes
    private let show: @Sendable (String) -> Void
    private let shown = Shown()

    private final class Shown: Sendable {
        private let ids = Mutex<[String]>([])

        /// Whether the id is new. It is remembered.
        func isNew(_ id: String) -> Bool {
            ids.withLock { ids in
                guard !ids.contains(id) else { return false }
                ids = ids.suffix(PushRelay.remembered - 1) + [id]
                return true
            }
        }
    }

    /// `listen`: HOST:PORT of this machine. `show` is called with a line of text for each push.
    package init(listen: String, key: SecretBytes, show: @escaping @Sendable (String) -> Void) throws(StartError) {
        address = try ListenAddress(listen)
        guard address.isLoopback else { throw StartError("\(listen): the relay listens on this machine only") }
        self.key = key
        self.show = show
    }

    /// Serves until a signal ends the process.
    package func run(logger: Logger) async throws {
        let router = Router()
        router.post("/") { request, _ in try await take(request) }
        let application = Application(
            router: router, configuration: .init(address: .hostname(address.host, port: address.port)), logger: logger)
        try await application.runService()
    }

    private func take(_ request: Request) async throws -> Response {
        var request = request
        let body = Array(buffer: try await request.collectBody(upTo: Self.bodyBytes))
        guard let id = request.value(Webhook.Header.id), let time = request.value(Webhook.Header.time),
            let signature = request.value(Webhook.Header.signature),
            Webhook(id: id, time: time, body: body).isSigned(signature, key), isNow(time)
        else { return Response(status: .unauthorized) }
        guard let push = try? JSON.decode(TrustPush.self, from: body.span) else { return Response(status: .badRequest) }
        if shown.isNew(id) { show("\(push.userID) of \(push.projectID): \(push.qrURL)") }
        return Response(status: .noContent)
    }

    private func isNow(_ time: String) -> Bool {
        guard let time = Int64(time) else { return false }
        let now = Moment.now().seconds
        return (now - Self.seconds...now + Self.seconds).contains(time)
    }
}

extension Request {
    fileprivate func value(_ header: String) -> String? {
        HTTPField.Name(header).flatMap { headers.value($0) }
    }
}
