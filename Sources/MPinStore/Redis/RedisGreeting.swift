/// What is said on a new connection before it is used.
struct RedisGreeting {
    /// What the server has said about itself.
    struct Answer: Sendable {
        /// What all names begin with while this server is the primary.
        let prefix: [UInt8]
        /// Is it still the primary that the prefix belongs to?
        let tenure: RedisTenure
        /// The names under which the server knows our scripts.
        let scripts: [RedisScript: [UInt8]]
    }

    private let url: RedisURL

    /// How long the server may take.
    private static let patience = Duration.seconds(2)

    init(_ url: RedisURL) { self.url = url }

    /// Chooses the database, looks whether the server may be used, and loads the scripts. Waits. Throws ``RedisFailure``.
    func greet(_ connection: RedisConnection) throws -> Answer {
        var commands = RedisCommands()
        if url.database != 0 { commands.add([.text("SELECT"), .number(Int64(url.database))]) }
        commands.add([.text("INFO")])
        for script in RedisScript.allCases { commands.add([.text("SCRIPT"), .text("LOAD"), .text(script.rawValue)]) }
        let replies = try connection.replies(to: commands, within: Self.patience)
        for case .error(let message) in replies { throw refusal(message) }
        let names = replies.suffix(RedisScript.allCases.count).compactMap(\.bytes)
        let info = replies.dropLast(RedisScript.allCases.count).last?.text ?? ""
        let facts = Self.facts(info)
        return Answer(
            prefix: try prefix(facts), tenure: RedisTenure(facts["master_replid"] ?? ""),
            scripts: Dictionary(uniqueKeysWithValues: zip(RedisScript.allCases, names)))
    }

    /// What all names begin with while this server is the primary. Throws if the server could lose or refuse what is kept there.
    private func prefix(_ facts: [String: String]) throws -> [UInt8] {
        let version = (facts["redis_version"] ?? "").split(separator: ".").prefix(2).map { Int($0) ?? 0 }
        guard let run = facts["run_id"], let tenure = facts["master_replid"], !run.isEmpty, !tenure.isEmpty,
            !version.lexicographicallyPrecedes([6, 2])
        else {
            throw refusal("not version 6.2 or later")
        }
        // Somebody whose challenge was evicted would only have to try again. But no login would be sure to succeed.
        guard let policy = facts["maxmemory_policy"], policy == "noeviction" else {
            throw refusal("maxmemory-policy is \(facts["maxmemory_policy"] ?? "unknown"), and must be noeviction")
        }
        guard facts["role"] == "master" else { throw refusal("is a replica") }
        // 64 random bits of each are enough: nobody chooses them.
        return Array("\(url.prefix):\(run.prefix(16)):\(tenure.prefix(16)):".utf8)
    }

    private func refusal(_ reason: String) -> RedisFailure { .refused("Redis at \(url.place): \(reason)") }

    /// The lines NAME:VALUE of the answer to INFO.
    private static func facts(_ text: String) -> [String: String] {
        let pairs = text.split(whereSeparator: \.isNewline).compactMap { line -> (String, String)? in
            let pair = line.split(separator: ":", maxSplits: 1)
            return pair.count == 2 ? (String(pair[0]), String(pair[1])) : nil
        }
        return Dictionary(pairs) { first, _ in first }
    }
}
