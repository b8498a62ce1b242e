import NIOCore
import NIOPosix

/// A connection that any number of callers use at the same time. It belongs to an event loop, and callers who run there need
/// no other thread.
final class RedisLink: Sendable {
    private let channel: any Channel
    private let exchanges: NIOLoopBound<RedisExchanges>
    private let loss: RedisExchanges.Loss
    private let trips: TripCount

    /// How long the server may take for an answer. Others use the connection, so it is not lost when the caller gives up
    /// earlier.
    private static let patience = Duration.seconds(5)

    /// Takes a connection over, for callers on `loop`. Waits, so not on an event loop. Each exchange counts as a trip.
    init(
        _ connection: RedisConnection, _ tenure: RedisTenure, on loop: any EventLoop, _ trips: TripCount
    ) throws {
        let (place, descriptor, loss) = (connection.place, connection.handOver(), RedisExchanges.Loss())
        let bootstrap = ClientBootstrap(group: loop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let exchanges = try RedisExchanges(place, descriptor, tenure, loss)
                try channel.pipeline.syncOperations.addHandler(exchanges)
            }
        }
        (channel, exchanges) = try bootstrap.withConnectedSocket(descriptor).flatMapThrowing { channel in
            let exchanges = try channel.pipeline.syncOperations.handler(type: RedisExchanges.self)
            return (channel, NIOLoopBound(exchanges, eventLoop: channel.eventLoop))
        }.wait()
        self.loss = loss
        self.trips = trips
    }

    deinit { channel.close(promise: nil) }

    var isLost: Bool { loss.isLost }

    /// Sends a command and returns its reply, which may be an error. Throws ``RedisFailure``. If there is no answer for five
    /// seconds, the connection is lost, for all its callers.
    func exchange(_ command: RedisCommands, by deadline: ContinuousClock.Instant) async throws -> RedisReply {
        trips.add()
        return try await withCheckedThrowingContinuation { continuation in
            let end = max(deadline, .now + Self.patience)
            begin(.init(continuation: continuation, deadline: deadline, end: end), command)
        }
    }

    /// Sends a command whose reply nobody wants.
    func post(_ command: RedisCommands, by deadline: ContinuousClock.Instant) {
        begin(.init(continuation: nil, deadline: deadline, end: deadline), command)
    }

    private func begin(_ exchange: RedisExchanges.Exchange, _ command: RedisCommands) {
        let bytes = command.bytes
        if channel.eventLoop.inEventLoop { return exchanges.value.begin(exchange, bytes) }
        channel.eventLoop.execute { [exchanges] in exchanges.value.begin(exchange, bytes) }
    }
}
