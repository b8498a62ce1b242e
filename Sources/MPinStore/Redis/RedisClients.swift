import NIOCore
import NIOPosix

/// A client for each event loop, so that whoever runs on one needs no other thread to use Redis.
struct RedisClients: Sendable {
    let trips = TripCount()
    private let clients: [ObjectIdentifier: RedisClient]
    private let other: RedisClient

    init(_ url: RedisURL) {
        let (loops, trips) = (MultiThreadedEventLoopGroup.singleton, trips)
        clients = Dictionary(
            uniqueKeysWithValues: loops.makeIterator().map { loop in
                (ObjectIdentifier(loop), RedisClient(url, on: loop, trips))
            })
        other = clients[ObjectIdentifier(loops.any())] ?? RedisClient(url, trips)
    }

    /// The client of the event loop on which the caller runs; one of them for a caller on another thread.
    var ofCaller: RedisClient {
        MultiThreadedEventLoopGroup.currentEventLoop.flatMap { clients[ObjectIdentifier($0)] } ?? other
    }
}
