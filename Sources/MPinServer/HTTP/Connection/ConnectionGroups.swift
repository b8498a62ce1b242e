import ServiceLifecycle
import Synchronization

/// Serves the connections of a listener in many small task groups.
///
/// The framework serves all connections in one group. When a task ends, Swift's task group searches the list of its
/// tasks for it. With 5,000 waiting pages, that search took a third of the RPS's processor time.
final class ConnectionGroups: Sendable {
    private let streams: [AsyncStream<Arrival>]
    private let entrances: [AsyncStream<Arrival>.Continuation]
    private let turn = Atomic<UInt>(0)

    init(count: Int = 128) {
        let made = (0..<count).map { _ in AsyncStream.makeStream(of: Arrival.self) }
        streams = made.map(\.stream)
        entrances = made.map(\.continuation)
    }

    /// Hands the connection to the next of the groups, and does not wait for its end.
    func serve(_ arrival: Arrival) {
        let turn = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        entrances[Int(turn % UInt(entrances.count))].yield(arrival)
    }

    /// Runs the server, and returns when it has ended and all connections are served.
    func run(_ server: any Service) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for stream in streams { group.addTask { await Self.serve(stream) } }
            defer { for entrance in entrances { entrance.finish() } }
            try await server.run()
        }
    }

    private static func serve(_ arrivals: AsyncStream<Arrival>) async {
        await withDiscardingTaskGroup { group in
            for await arrival in arrivals {
                group.addTask(executorPreference: arrival.executor) { await arrival.serve() }
            }
        }
    }
}

/// A server whose connections are served in the task groups of ``ConnectionGroups``.
struct GroupedServer: Service {
    let server: any Service
    let groups: ConnectionGroups

    func run() async throws { try await groups.run(server) }
}
