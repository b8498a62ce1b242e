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
        _ name: String, _ address: ListenAddress, edge: Edge, cors: [CORSPolicy] = [], rates: RateLimiter? = nil,
        readiness: Readiness, logger: Logger, routes: (Router<RequestContext>) -> Void
    ) throws(StartError) {
        try edge.exposure.require(address)
        self.name = name
        self.address = address
        self.logger = logger
        let router = Router(context: RequestContext.self)
        for part in middleware(name, edge, cors: cors, rates: rates) { router.add(middleware: part) }
        routes(router)
        application = Application(
            responder: router.buildResponder(), server: Self.server(edge),
            configuration: .init(address: .hostname(address.host, port: address.port), serverName: nil),
            onServerRunning: { _ in readiness.arrived(name, address) }, logger: logger)
    }

    func run() async throws {
        do { try await application.run() } catch let error as IOError {
            throw StartError("cannot listen on \(address) (\(name)): \(String(cString: strerror(error.errnoCode)))")
        }
    }

    private static func server(_ edge: Edge) -> HTTPServerBuilder {
        let counter = ConnectionCounter(edge.limits, proxies: edge.exposure.proxies)
        return HTTPServerBuilder { responder in
            Connections(responder: responder, limits: edge.limits, tls: edge.exposure.identity, counter: counter)
        }
    }
}
