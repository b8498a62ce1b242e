import MPinSecrets
import NIOCore
import NIOPosix
import Synchronization

/// Signals that all servers with one Redis server share. A ring goes to the others through a channel. It may get lost, so
/// who waits also looks each second.
package final class RedisSignals: Signals {
    private let local: LocalSignals
    private let url: RedisURL
    private let names: ServiceNames
    private let client: RedisClient
    /// The name of this process. It does not listen to itself.
    private let node: String
    /// Who listens, and to which channel.
    private let ear: Mutex<(channel: String, listener: RedisListener)>

    /// How long a ring may wait for a connection and its answer.
    private static let patience = Duration.seconds(5)

    /// Connects to the server, and returns when it listens. Throws ``StoreError/unavailable(_:)`` if the server cannot be
    /// used. `pause` is the time after which who waits looks again.
    package init(
        _ url: RedisURL, names: ServiceNames = ServiceNames(), looksAgainAfter pause: Duration? = .seconds(1)
    ) async throws {
        (local, node) = (LocalSignals(looksAgainAfter: pause), Hex.encode(try randomBytes(8)))
        (self.url, self.names, client) = (url, names, RedisClient(url, names: names))
        let (beginnings, beginning) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let channel = Self.channel(url, names)
        ear = Mutex((channel, Self.listener(url, channel, local, node) { beginning.yield() }))
        // Says why, if the server cannot be used.
        _ = try await client.session(by: .now + Self.patience)
        let alarm = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: .seconds(5)) { beginning.finish() }
        defer { alarm.cancel() }
        var iterator = beginnings.makeAsyncIterator()
        guard await iterator.next() != nil else {
            throw StoreError.unavailable("Redis at \(url.place): no answer to SUBSCRIBE \(channel)")
        }
    }

    private static func channel(_ url: RedisURL, _ names: ServiceNames) -> String {
        url.prefix + ":signals" + (names.service.map { ":" + $0 } ?? "")
    }

    private static func listener(
        _ url: RedisURL, _ channel: String, _ local: LocalSignals, _ node: String,
        _ begin: @escaping @Sendable () -> Void = {}
    ) -> RedisListener {
        RedisListener(url, channel) { message in
            guard let message else {
                local.ringAll()
                return begin()
            }
            let parts = message.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, parts[0] != node { local.ring(String(parts[1])) }
        }
    }

    /// The channel. When names have changed, it is another one, and somebody must listen to it.
    private func channel() -> String {
        let channel = Self.channel(url, names)
        ear.withLock { ear in
            if ear.channel != channel { ear = (channel, Self.listener(url, channel, local, node)) }
        }
        return channel
    }

    package func ring(_ signal: String) {
        local.ring(signal)
        if let session = client.session { return publish(signal, session) }
        Task { [self] in
            guard let session = try? await client.session(by: .now + Self.patience) else { return }
            publish(signal, session)
        }
    }

    private func publish(_ signal: String, _ session: RedisSession) {
        let words: [RedisCommands.Word] = [.text("PUBLISH"), .text(channel()), .text(node + "/" + signal)]
        session.link.post(RedisCommands(session, words), by: .now + Self.patience)
    }

    package func rings(_ signal: String, seconds: Int) -> (rings: Rings, stop: @Sendable () -> Void) {
        _ = channel()
        return local.rings(signal, seconds: seconds)
    }
}
