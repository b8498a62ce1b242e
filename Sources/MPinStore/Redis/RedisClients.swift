import NIOCore
import NIOPosix
import Synchronization

/// A client for each event loop, so that whoever runs on one needs no other thread to use Redis.
struct RedisClients: Sendable {
    let trips = TripCount()
    private let clients: [ObjectIdentifier: RedisClient]
    private let other: RedisClient

    init(_ url: RedisURL, names: ServiceNames) {
        let (loops, trips, losses) = (MultiThreadedEventLoopGroup.singleton, trips, RedisLosses())
        clients = Dictionary(
            uniqueKeysWithValues: loops.makeIterator().map { loop in
                (ObjectIdentifier(loop), RedisClient(url, names: names, on: loop, losses, trips))
            })
        other =
            clients[ObjectIdentifier(loops.any())] ?? RedisClient(url, names: names, on: loops.any(), losses, trips)
    }

    /// The client of the event loop on which the caller runs; one of them for a caller on another thread.
    var ofCaller: RedisClient {
        MultiThreadedEventLoopGroup.currentEventLoop.flatMap { clients[ObjectIdentifier($0)] } ?? other
    }
}

/// How often clients of one server have found that it is not what it was: gone, or not the primary any more. What one of
/// them finds ends the sessions of all, because each would otherwise find it by a request that fails.
final class RedisLosses: Sendable {
    private let number = Atomic(0)

    /// The number of losses that a new session begins with.
    var count: Int { number.load(ordering: .acquiring) }

    /// Counts a loss, unless the session that has found it is from before the last one.
    func add(after count: Int) {
        _ = number.compareExchange(expected: count, desired: count &+ 1, ordering: .acquiringAndReleasing)
    }
}
