import Glibc
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// One HTTP/1.1 listener with its routes, limits and middleware.
struct Listener: Service {
    let name: String
    let address: ListenAddress
    let logger: Logger
    private let application: Application<RouterResponder<RequestContext>>

    init(
        _ name: String, _ address: ListenAddress, cors: [CORSPolicy], limits: Limits, readiness: Readiness,
        logger: Logger,
        routes: (Router<RequestContext>) -> Void
    ) {
        self.name = name
        self.address = address
        self.logger = logger
        let router = Router(context: RequestContext.self)
        for part in middleware(cors: cors, limits: limits) { router.add(middleware: part) }
        routes(router)
        application = Application(
            responder: router.buildResponder(), server: Self.server(limits),
            configuration: .init(address: .hostname(address.host, port: address.port), serverName: nil),
            onServerRunning: { _ in readiness.arrived(name, address) }, logger: logger)
    }

    func run() async throws {
        do { try await application.run() } catch let error as IOError {
            throw StartError("cannot listen on \(address) (\(name)): \(String(cString: strerror(error.errnoCode)))")
        }
    }

    private static func server(_ limits: Limits) -> HTTPServerBuilder {
        .http1(
            configuration: .init(
                additionalChannelHandlers: [ExpectContinueHandler(bodyLimit: limits.bodyBytes)],
                idleTimeout: .seconds(Int64(limits.idleSeconds)),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: limits.headerBytes, maxHeaderListSize: limits.headerBytes,
                    maxHeaderFieldCount: limits.headerCount)))
    }
}
