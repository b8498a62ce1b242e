/// The Sentinels that watch a Redis server and its replicas, and that name the primary: it may be another one each time
/// ("Guidelines for Redis clients with support for Redis Sentinel", step 1 and 2). Whether the server that they name has
/// become the primary is looked at when it is greeted.
struct RedisSentinels {
    private let url: RedisURL
    private let name: String

    /// How long one Sentinel may take to connect, and then to answer. The next one is asked afterwards.
    private static let patience = Duration.milliseconds(500)

    /// `name` is the name under which the Sentinels know the primary.
    init(_ url: RedisURL, _ name: String) {
        self.url = url
        self.name = name
    }

    /// Returns the address of the primary, by the first Sentinel that knows it. Waits. Throws ``RedisFailure``.
    func primary() throws -> RedisURL.Address {
        var reasons: [String] = []
        for address in url.addresses {
            do { return try ask(address) } catch let failure as RedisFailure { reasons.append(failure.reason) }
        }
        throw RedisFailure.unreachable(reasons.joined(separator: "; "))
    }

    private func ask(_ address: RedisURL.Address) throws -> RedisURL.Address {
        let connection = try RedisConnection(address, passfile: url.sentinelPassfile, within: Self.patience)
        var question = RedisCommands()
        question.add([.text("SENTINEL"), .text("GET-MASTER-ADDR-BY-NAME"), .text(name)])
        let replies = try connection.replies(to: question, within: Self.patience)
        for case .error(let message) in replies {
            throw RedisFailure.refused("Sentinel at \(address.text): \(message)")
        }
        let words = replies.last?.array.map(\.text) ?? []
        guard words.count == 2, let host = words.first, let port = words.last.flatMap(UInt16.init) else {
            throw RedisFailure.refused("Sentinel at \(address.text): does not know \(name)")
        }
        return RedisURL.Address(host: host, port: Int32(port))
    }
}
