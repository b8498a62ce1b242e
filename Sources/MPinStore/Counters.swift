import Synchronization

/// The limit of a token bucket: it allows `requests` at once, and is refilled by as many in each `seconds`.
package struct RateLimit: Sendable, Hashable, CustomStringConvertible {
    package let requests: Int
    package let seconds: Int

    /// Makes a limit; nil unless both numbers are positive and below a million.
    package init?(requests: Int, seconds: Int) {
        guard (1..<1_000_000).contains(requests), (1..<1_000_000).contains(seconds) else { return nil }
        self.requests = requests
        self.seconds = seconds
    }

    /// Reads a text of the form `REQUESTS/SECONDS`; nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let requests = parts[0], let seconds = parts[1] else { return nil }
        self.init(requests: requests, seconds: seconds)
    }

    package var description: String { "\(requests)/\(seconds)" }
}

/// Counts requests against limits. The bucket of a key is full again after the memory that keeps it was lost, and after
/// it was dropped for lack of room.
package protocol Counters: Sendable {
    /// Takes one request from the bucket of `key`. Nil if the request is allowed; otherwise the whole seconds until one
    /// will be allowed. A `counter` must have the same limit in all calls. `key` has at least 16 bytes that nobody can
    /// choose, such as those of a hash.
    func admit(_ counter: String, _ key: [UInt8], _ limit: RateLimit) async throws -> Int?
}

/// Counters in the memory of this process.
package final class LocalCounters: Counters {
    private let buckets = Mutex<[String: TokenBuckets]>([:])

    package init() {}

    package func admit(_ counter: String, _ key: [UInt8], _ limit: RateLimit) async throws -> Int? {
        let bucket = buckets.withLock { buckets in
            if let bucket = buckets[counter] { return bucket }
            let bucket = TokenBuckets(limit)
            buckets[counter] = bucket
            return bucket
        }
        return bucket.take(.init(key))
    }
}
