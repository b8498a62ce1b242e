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
    private let queue = AcceptQueue()

    init(
        _ name: String, _ address: ListenAddress, edge: Edge, cors: [CORSPolicy] = [], rates: RateLimiter? = nil,
        readiness: Readiness, logger: Logger, routes: (Router<RequestContext>) -> Void
    ) throws(StartError) {
        try edge.exposure.require(address)
        self.name = name
        self.address = address
        self.logger = logger
        let router = Router(context: RequestContext.self)
        router.add(middleware: Surroundings(name, edge, cors: cors, rates: rates))
        routes(router)
        application = Application(
            responder: router.buildResponder(), server: Self.server(edge),
            configuration: .init(address: .hostname(address.host, port: address.port), serverName: nil),
            onServerRunning: { [queue] channel in
                queue.opened(channel)
                readiness.arrived(name, address)
            }, logger: logger)
    }

    /// A graceful end comes in two steps: first whoever has connected is let in, then the framework closes the socket and
    /// waits for the connections. The framework hears of it from a group of its own, in a task that does not see the
    /// graceful end of this one.
    func run() async throws {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .info)
        let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
        let serving = Task.detached(executorPreference: EventLoopExecutor.shared) { try await group.run() }
        do {
            try await withTaskCancellationHandler {
                try await withGracefulShutdownHandler {
                    try await serving.value
                } onGracefulShutdown: {
                    Task {
                        await queue.runDry()
                        await group.triggerGracefulShutdown()
                    }
                }
            } onCancel: {
                serving.cancel()
            }
        } catch let error as IOError {
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
