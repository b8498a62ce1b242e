import MPinSecrets
import NIOCore
import NIOPosix

/// Signals that all servers with one Redis server share. A ring goes to the others through a channel. It may get lost, so
/// who waits also looks each second.
package final class RedisSignals: Signals {
    private let local: LocalSignals
    private let client: RedisClient
    private let channel: String
    /// The name of this process. It does not listen to itself.
    private let node: String
    private let listener: RedisListener

    /// How long a ring may wait for a connection and its answer.
    private static let patience = Duration.seconds(5)

    /// Connects to the server, and returns when it listens. Throws ``StoreError/unavailable(_:)`` if the server cannot be
    /// used. `pause` is the time after which who waits looks again.
    package init(_ url: RedisURL, looksAgainAfter pause: Duration? = .seconds(1)) async throws {
        let (local, node) = (LocalSignals(looksAgainAfter: pause), Hex.encode(try randomBytes(8)))
        (client, channel) = (RedisClient(url), url.prefix + ":signals")
        (self.local, self.node) = (local, node)
        let (beginnings, beginning) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        listener = RedisListener(url, channel) { message in
            guard let message else {
                local.ringAll()
                beginning.yield()
                return
            }
            let parts = message.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, parts[0] != node { local.ring(String(parts[1])) }
        }
        // Says why, if the server cannot be used.
        _ = try await client.session(by: .now + Self.patience)
        let alarm = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: .seconds(5)) { beginning.finish() }
        defer { alarm.cancel() }
        var iterator = beginnings.makeAsyncIterator()
        guard await iterator.next() != nil else {
            throw StoreError.unavailable("Redis at \(url.place): no answer to SUBSCRIBE \(channel)")
        }
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
        let words: [RedisCommands.Word] = [.text("PUBLISH"), .text(channel), .text(node + "/" + signal)]
        session.link.post(RedisCommands(session, words), by: .now + Self.patience)
    }

    package func rings(_ signal: String, seconds: Int) -> (rings: Rings, stop: @Sendable () -> Void) {
        local.rings(signal, seconds: seconds)
    }
}
