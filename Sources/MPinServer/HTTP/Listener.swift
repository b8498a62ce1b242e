import Glibc
import Hummingbird
import HummingbirdCore
import Logging
import MPinService
import NIOCore
import NIOPosix
import ServiceLifecycle

/// One HTTP/1.1 listener with its routes, limits and middleware.
struct Listener: Service {
    let name: String
    let address: ListenAddress
    let logger: Logger
    private let edge: Edge
    private let readiness: Readiness
    private let table: RouteTable
    private let router: RouterResponder<RequestContext>
    private let counter: ConnectionCounter
    private let queue = AcceptQueue()

    init(
        _ name: String, _ address: ListenAddress, edge: Edge, rates: RateLimiter? = nil, servesLogins: Bool = false,
        readiness: Readiness, logger: Logger, table: RouteTable
    ) throws(StartError) {
        try edge.exposure.require(address)
        self.name = name
        self.address = address
        self.logger = logger
        self.edge = edge
        self.readiness = readiness
        self.table = table
        router = table.router(ListenerEdge(name, edge, rates: rates, servesLogins: servesLogins))
        let metrics = edge.metrics
        counter = ConnectionCounter(edge.limits, edge.exposure) {
            metrics.count(.connectionsLost, [name, $0.rawValue])
        }
        edge.watch.add(name, counter)
    }

    /// Serves until the task is shut down gracefully. The shutdown has two steps: first the waiting connections are
    /// accepted, and then the framework closes the socket and waits for the connections to end. The framework runs in a
    /// service group of its own in a detached task, so that it does not see this task's shutdown before the second
    /// step.
    func run() async throws {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .info)
        let group = ServiceGroup(configuration: .init(services: [try server()], logger: logger))
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

    private func server() throws -> any Service {
        let groups = ConnectionGroups()
        let builder = HTTPServerBuilder { responder in
            Connections(
                responder: responder, limits: edge.limits, tls: edge.exposure.identity, counter: counter, queue: queue,
                groups: groups)
        }
        let server = try builder.buildServer(
            configuration: .init(
                address: .hostname(address.host, port: address.port), availableConnectionsDelegate: queue),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger, responder: responder,
            onServerRunning: { channel in
                queue.opened(channel)
                readiness.arrived(name, table)
            })
        return GroupedServer(server: server, groups: groups)
    }

    /// Answers requests as the framework's `Application` would, but gives each request a logger and an id of its own.
    private var responder: HTTPChannelHandler.Responder {
        let date = DateHeader()
        return { request, _, channel in
            let context = RequestContext(source: .init(channel: channel, logger: logger))
            var response = try await router.respond(to: request, context: context)
            response.headers.append(date.field)
            try await AnswerWriter(channel: channel).write(response)
        }
    }
}

/// The settings that all listeners of a process share.
struct Edge: Sendable {
    let exposure: Exposure
    let limits: Limits
    let metrics: Metrics
    let watch: ConnectionWatch

    /// The settings for a listener on a loopback address that only parts of the system use.
    var inside: Edge { Edge(exposure: .loopback, limits: limits, metrics: metrics, watch: watch) }
}
