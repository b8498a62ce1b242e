/// Counters that all servers with one ``BucketBook`` share.
///
/// A request is admitted from this server's memory, so that no login waits for another trip. What it has admitted is sent
/// to the book at once, many requests in one exchange, and the answer says how full each bucket is with the requests of
/// all servers. Only who asks again before that answer has come waits for it, if the bucket is small or has many such
/// requests. So each server but one may admit a hundredth more than the limit, or one request if that is more, and none if
/// the limit is below 60. When the book does not answer, each server counts for itself.
package actor SharedCounters: Counters {
    private struct Bucket {
        let limit: RateLimit
        /// When the bucket will be full again, without the requests that follow.
        var full: ContinuousClock.Instant
        /// Requests that this server has admitted and that are not sent yet, and those that are on their way.
        var new = 0
        var sent = 0
        /// The id that the bucket's name carried when the book last told of it.
        var service: String?

        var interval: Duration { .seconds(limit.seconds) / limit.requests }

        /// The time until a request is allowed, if `before` requests come first; zero or less: now.
        func wait(after before: Int, at now: ContinuousClock.Instant) -> Duration {
            (max(full, now) - now) + interval * (before + 1) - .seconds(limit.seconds)
        }
    }

    /// What the book has said about the buckets of one exchange: when each would be full without the requests that
    /// were sent.
    private typealias Answer = [String: ContinuousClock.Instant]

    private let open: @Sendable () async throws -> any BucketBook
    private let names: ServiceNames
    private var book: (any BucketBook)?
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

    init(_ names: ServiceNames, _ open: @escaping @Sendable () async throws -> any BucketBook) {
        (self.names, self.open) = (names, open)
    }

    /// Nil before the first request, and if the book is no PostgreSQL database.
    package var poolUse: PoolUse? { book?.poolUse }

    package func admit(_ counter: String, _ key: [UInt8], _ limit: RateLimit) async throws -> Int? {
        let name = counter + "/" + key.prefix(16).map { String($0, radix: 16) }.joined(separator: ".")
        let now = ContinuousClock.now
        var bucket = buckets[name] ?? Bucket(limit: limit, full: now, service: names.service)
        let waiting = bucket.wait(after: bucket.new + bucket.sent, at: now)
        guard waiting <= .zero else { return Self.seconds(waiting) }
        bucket.new += 1
        let number = bucket.new
        buckets[name] = bucket
        changed.insert(name)
        let exchange = nextExchange()
        guard bucket.new + bucket.sent > Self.unasked(limit) else { return nil }
        guard let full = await Self.answer(of: exchange)[name] else { return nil }
        let told = Bucket(limit: limit, full: full).wait(after: number - 1, at: .now)
        return told > .zero ? Self.seconds(told) : nil
    }

    /// How many requests are admitted in one exchange before a request waits for its answer.
    private static func unasked(_ limit: RateLimit) -> Int { limit.requests < 60 ? 0 : max(1, limit.requests / 100) }

    /// Waits for an exchange, perhaps one that another request has begun. The request has less time left for its stores then.
    private static func answer(of exchange: Task<Answer, Never>) async -> Answer {
        var answer: Answer = [:]
        await StorePatience.counting { answer = await exchange.value }
        return answer
    }

    /// The exchange that will send the new requests.
    private func nextExchange() -> Task<Answer, Never> {
        if let next { return next }
        let before = current
        let task = Task {
            _ = await before?.value
            // It is for all, so it does not end with the request that began it.
            return await StorePatience.limit { await exchange() }
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
        let (book, service) = (try await opened(), names.service)
        var answer: Answer = [:]
        for start in stride(from: 0, to: changes.count, by: Self.mostSent) {
            let part = changes[start..<min(start + Self.mostSent, changes.count)]
            let counts = part.compactMap { change in buckets[change.name].map { Self.change(change, $0, service) } }
            let results = try await book.add(counts)
            for ((name, count), left) in zip(part, results) {
                guard let bucket = buckets[name], let left else { continue }
                let full = ContinuousClock.now + .microseconds(left)
                buckets[name]?.full = full
                buckets[name]?.sent = 0
                buckets[name]?.service = service
                answer[name] = full - bucket.interval * count
            }
        }
        try await cleanUp(book)
        return answer
    }

    /// When names have changed, the book has an empty bucket under the new one. Each server tells it how full the bucket
    /// was, and the most that one of them knows counts.
    private static func change(
        _ change: (name: String, count: Int), _ bucket: Bucket, _ service: String?
    ) -> BucketChange {
        let interval = Int64(bucket.interval / .microseconds(1))
        let known = bucket.service == service ? 0 : Int64(max(.zero, bucket.full - .now) / .microseconds(1))
        return BucketChange(
            name: change.name, interval: interval, count: change.count,
            most: 2 * interval * Int64(bucket.limit.requests), known: known)
    }

    /// Counts requests that could not be sent in this server alone.
    private func keep(_ name: String, _ count: Int) {
        guard var bucket = buckets[name], bucket.sent > 0 else { return }
        bucket.full = max(bucket.full, .now) + bucket.interval * count
        bucket.sent = 0
        buckets[name] = bucket
    }

    private func opened() async throws -> any BucketBook {
        if let book { return book }
        let opened = try await open()
        book = opened
        return opened
    }

    /// Deletes the buckets that are full again from the book, once a minute.
    private func cleanUp(_ book: any BucketBook) async throws {
        guard nextCleanup <= .now else { return }
        nextCleanup = .now + .seconds(60)
        try await book.cleanUp()
    }

    private func forgetFullBuckets() {
        guard buckets.count > Self.capacity else { return }
        let now = ContinuousClock.now
        buckets = buckets.filter { $0.value.full > now || $0.value.new + $0.value.sent > 0 }
        if buckets.count > Self.capacity { buckets = buckets.filter { $0.value.new + $0.value.sent > 0 } }
    }

    /// Tells the book how full the buckets are, when they have got other names.
    package func tell() {
        let now = ContinuousClock.now
        changed.formUnion(buckets.filter { $0.value.full > now && $0.value.service != names.service }.keys)
        if !changed.isEmpty { _ = nextExchange() }
    }

    private static func seconds(_ duration: Duration) -> Int {
        Int((duration / .seconds(1)).rounded(.up))
    }
}

/// Keeps the buckets that several servers share.
protocol BucketBook: Sendable {
    /// Nil if there is no pool of connections.
    var poolUse: PoolUse? { get }

    /// Adds requests to buckets. Returns for each the microseconds until it is full again.
    func add(_ changes: [BucketChange]) async throws -> [Int64?]

    /// Deletes the buckets that are full again.
    func cleanUp() async throws
}

/// Requests that are added to a bucket.
struct BucketChange: Sendable {
    let name: String
    /// The microseconds in which the bucket regains a request.
    let interval: Int64
    /// The number of requests.
    let count: Int
    /// The bucket is never counted as full later than after this many microseconds, so that a flood locks nobody out for
    /// long.
    let most: Int64
    /// The bucket is not full earlier than after this many microseconds, before the requests are added.
    let known: Int64
}
