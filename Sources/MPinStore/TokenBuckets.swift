import Synchronization

/// Token buckets, one for each key, in bounded memory.
///
/// For each bucket only one number is stored: the moment at which it will be full again (the "generic cell rate
/// algorithm"). A full bucket needs no memory. There are two generations of keys. When the young one has reached its
/// capacity, it becomes the old one, and the previous old one is dropped: its keys were not used for a whole
/// generation.
package final class TokenBuckets: Sendable {
    /// The key of a bucket: 16 bytes of an address or a hash.
    package struct Key: Hashable, Sendable {
        private let high: UInt64
        private let low: UInt64

        package init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }
    }

    private struct Generations {
        var young: [Key: Int64] = [:]
        var old: [Key: Int64] = [:]
    }

    private let generations = Mutex(Generations())
    /// Nanoseconds from one token to the next.
    private let interval: Int64
    /// A request is refused if the bucket will be full again only after more than this many nanoseconds.
    private let tolerance: Int64
    private let capacity: Int
    private let start = ContinuousClock.now

    /// `capacity`: the largest number of keys in one generation.
    package init(_ limit: RateLimit, capacity: Int = 50_000) {
        interval = Int64(limit.seconds) * 1_000_000_000 / Int64(limit.requests)
        tolerance = interval * Int64(limit.requests - 1)
        self.capacity = capacity
    }

    /// Takes a token. Nil if there was one; otherwise the whole seconds until there will be one.
    package func take(_ key: Key, at now: ContinuousClock.Instant = .now) -> Int? {
        let now = nanoseconds(now)
        return generations.withLock { generations in
            let full = max(now, generations.young[key] ?? generations.old[key] ?? now)
            guard full - now <= tolerance else { return seconds(full - now - tolerance) }
            if generations.young.count >= capacity, generations.young[key] == nil {
                generations.old = generations.young
                generations.young = [:]
            }
            generations.young[key] = full + interval
            return nil
        }
    }

    /// The number of keys in memory, in both generations.
    package var count: Int { generations.withLock { $0.young.count + $0.old.count } }

    private func nanoseconds(_ instant: ContinuousClock.Instant) -> Int64 {
        let parts = start.duration(to: instant).components
        return parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000
    }

    private func seconds(_ nanoseconds: Int64) -> Int { Int((nanoseconds + 999_999_999) / 1_000_000_000) }
}

extension TokenBuckets.Key {
    /// Makes a key of the first 16 bytes of `bytes`, for example of a hash. `bytes` must have at least 16.
    package init(_ bytes: [UInt8]) {
        func word(_ start: Int) -> UInt64 { bytes.dropFirst(start).prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: word(0), low: word(8))
    }
}
