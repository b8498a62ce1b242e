/// Counters that all servers with one PostgreSQL database share.
///
/// A request is admitted from this server's memory, so that no login waits for another trip. What it has admitted is sent
/// to the database at once, many requests in one exchange, and the answer says how full each bucket is with the requests of
/// all servers. Only who asks again before that answer has come waits for it, if the bucket is small or has many such
/// requests. So n servers together admit at most (n - 1)/30 more than the limit. When the database does not answer, each
/// server counts for itself.
package actor SharedCounters: Counters {
    private struct Bucket {
        let limit: RateLimit
        /// When the bucket will be full again, without the requests that follow.
        var full: ContinuousClock.Instant
        /// Requests that this server has admitted and that are not sent yet, and those that are on their way.
        var new = 0
        var sent = 0

        var interval: Duration { .seconds(limit.seconds) / limit.requests }

        /// The time until a request is allowed, if `before` requests come first; zero or less: now.
        func wait(after before: Int, at now: ContinuousClock.Instant) -> Duration {
            (max(full, now) - now) + interval * (before + 1) - .seconds(limit.seconds)
        }
    }

    /// What the database has said about the buckets of one exchange: when each would be full without the requests that
    /// were sent.
    private typealias Answer = [String: ContinuousClock.Instant]

    private let open: @Sendable () async throws -> PostgresStore
    private var store: PostgresStore?
    private var buckets: [String: Bucket] = [:]
    /// The keys of the buckets with new requests.
    private var changed: Set<String> = []
    private var current: Task<Answer, Never>?
    /// The exchange that begins when the current one has ended.
    private var next: Task<Answer, Never>?
    private var nextCleanup = ContinuousClock.now

    /// The number of buckets above which those that are full again are forgotten.
    private static let capacity = 50_000
    /// How many buckets an exchange contains at most.
    private static let mostSent = 500

    package init(_ url: PostgresURL) {
        open = { try await PostgresStore(url, .shortLived, patience: .seconds(1)) }
    }

    package func admit(_ counter: String, _ key: [UInt8], _ limit: RateLimit) async throws -> Int? {
        let name = counter + "/" + key.prefix(16).map { String($0, radix: 16) }.joined(separator: ".")
        let now = ContinuousClock.now
        var bucket = buckets[name] ?? Bucket(limit: limit, full: now)
        let waiting = bucket.wait(after: bucket.new + bucket.sent, at: now)
        guard waiting <= .zero else { return Self.seconds(waiting) }
        bucket.new += 1
        let number = bucket.new
        buckets[name] = bucket
        changed.insert(name)
        let exchange = nextExchange()
        guard bucket.new + bucket.sent > limit.requests / 30 else { return nil }
        guard let full = await exchange.value[name] else { return nil }
        let told = Bucket(limit: limit, full: full).wait(after: number - 1, at: .now)
        return told > .zero ? Self.seconds(told) : nil
    }

    /// The exchange that will send the new requests.
    private func nextExchange() -> Task<Answer, Never> {
        if let next { return next }
        let before = current
        let task = Task {
            _ = await before?.value
            return await exchange()
        }
        next = task
        return task
    }

    /// Sends the new requests of some buckets.
    private func exchange() async -> Answer {
        (current, next) = (next, nil)
        let names = changed.sorted()
        let changes = names.map { (name: $0, count: buckets[$0]?.new ?? 0) }
        changed = []
        for (name, count) in changes {
            buckets[name]?.sent = count
            buckets[name]?.new = 0
        }
        defer { forgetFullBuckets() }
        do { return try await send(changes) } catch {
            for (name, count) in changes { keep(name, count) }
            return [:]
        }
    }

    private func send(_ changes: [(name: String, count: Int)]) async throws -> Answer {
        let store = try await opened()
        var answer: Answer = [:]
        for start in stride(from: 0, to: changes.count, by: Self.mostSent) {
            let part = changes[start..<min(start + Self.mostSent, changes.count)]
            let commands = part.compactMap { change in buckets[change.name].map { command(change, $0) } }
            let results = try await store.exchange(commands, isChange: false)
            for ((name, count), result) in zip(part, results) {
                guard let bucket = buckets[name], let left = result.rows.first?.first.flatMap(Self.number) else {
                    continue
                }
                let full = ContinuousClock.now + .microseconds(left)
                buckets[name]?.full = full
                buckets[name]?.sent = 0
                answer[name] = full - bucket.interval * count
            }
        }
        try await cleanUp(store)
        return answer
    }

    private func command(_ change: (name: String, count: Int), _ bucket: Bucket) -> PostgresCommand {
        let interval = Int64(bucket.interval / .microseconds(1))
        return PostgresCommand(
            Self.count, .text(change.name), .integer(interval), .integer(Int64(change.count)),
            .integer(2 * interval * Int64(bucket.limit.requests)))
    }

    /// Counts requests that could not be sent in this server alone.
    private func keep(_ name: String, _ count: Int) {
        guard var bucket = buckets[name], bucket.sent > 0 else { return }
        bucket.full = max(bucket.full, .now) + bucket.interval * count
        bucket.sent = 0
        buckets[name] = bucket
    }

    private func opened() async throws -> PostgresStore {
        if let store { return store }
        let opened = try await open()
        store = opened
        return opened
    }

    /// Deletes the buckets that are full again from the database, once a minute.
    private func cleanUp(_ store: PostgresStore) async throws {
        guard nextCleanup <= .now else { return }
        nextCleanup = .now + .seconds(60)
        _ = try await store.exchange([PostgresCommand(Self.delete)], isChange: false)
    }

    private func forgetFullBuckets() {
        guard buckets.count > Self.capacity else { return }
        let now = ContinuousClock.now
        buckets = buckets.filter { $0.value.full > now || $0.value.new + $0.value.sent > 0 }
        if buckets.count > Self.capacity { buckets = buckets.filter { $0.value.new + $0.value.sent > 0 } }
    }

    private static func number(_ bytes: [UInt8]?) -> Int64? {
        bytes.map { Int64(truncatingIfNeeded: $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) }
    }

    private static func seconds(_ duration: Duration) -> Int {
        Int((duration / .seconds(1)).rounded(.up))
    }

    /// The time of the database in microseconds.
    private static let now = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

    /// Adds $3 requests to a bucket that regains one request in $2 microseconds, and returns the microseconds until it is
    /// full. It is never counted as full later than after $4 microseconds, so that a flood locks nobody out for long.
    private static let count = """
        INSERT INTO bucket AS there (key, full_again) VALUES ($1, \(now) + least($2::bigint * $3, $4::bigint))
        ON CONFLICT (key) DO UPDATE SET full_again =
            least(greatest(there.full_again, \(now)) + $2::bigint * $3, \(now) + $4::bigint)
        RETURNING full_again - \(now)
        """
    private static let delete = "DELETE FROM bucket WHERE full_again < \(now)"
}
