import Foundation
import Synchronization

/// Many phones at once, a thread and a connection each.
struct Load: Sendable {
    let endpoint: Endpoint
    let connections: Int

    /// What the logins of one stretch of time were like.
    struct Result: Sendable {
        /// Milliseconds of each login that succeeded, sorted.
        var latencies: [Double] = []
        /// Logins that ended otherwise, by what was said.
        var failures: [String: Int] = [:]
        var seconds = 0.0

        /// The share `part` (0...1) of logins took at most as many milliseconds.
        func percentile(_ part: Double) -> Double {
            latencies.isEmpty ? 0 : latencies[min(latencies.count - 1, Int(Double(latencies.count) * part))]
        }

        mutating func add(_ other: Result) {
            latencies += other.latencies
            failures.merge(other.failures, uniquingKeysWith: +)
        }
    }

    /// Registers so many identities; any failure ends it.
    func register(_ count: Int) throws -> [Identity] {
        let next = Atomic(0)
        let results = Mutex<[Identity]>([])
        let failure = Mutex<(any Error)?>(nil)
        inParallel {
            do {
                let phone = try Phone(endpoint)
                while true {
                    let number = next.add(1, ordering: .relaxed).oldValue
                    guard number < count, failure.withLock({ $0 == nil }) else { return }
                    let identity = try phone.register("user\(number)@example.com")
                    results.withLock { $0.append(identity) }
                }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        return results.withLock { $0 }
    }

    /// Logs the identities in, the one that rests longest first, for so many seconds: as fast as the connections allow,
    /// or `rate` a second whatever the server does. Then the time of a login counts from when it was due. At least one
    /// identity a connection: each has one login at a time, as phones do.
    func login(_ identities: [Identity], seconds: Double, rate: Double?) -> Result {
        let next = Atomic(0)
        let resting = Mutex(Ring(identities))
        let total = Mutex(Result())
        let start = now()
        inParallel {
            var mine = Result()
            var phone: Phone?
            while true {
                let number = next.add(1, ordering: .relaxed).oldValue
                let due = rate.map { start + Double(number) / $0 } ?? now()
                guard due < start + seconds else { break }
                if due > now() { Thread.sleep(forTimeInterval: due - now()) }
                let identity = resting.withLock { $0.take() }
                defer { resting.withLock { $0.put(identity) } }
                do {
                    let ready = try phone ?? Phone(endpoint)
                    phone = ready
                    try ready.login(identity)
                    mine.latencies.append((now() - due) * 1000)
                } catch {
                    mine.failures["\(error)", default: 0] += 1
                    // As phones do: else they would take the processor from the server that refuses them.
                    if let wanted = (error as? Phone.Refused)?.retryAfter { Thread.sleep(forTimeInterval: wanted) }
                }
            }
            let finished = mine
            total.withLock { $0.add(finished) }
        }
        var result = total.withLock { $0 }
        result.seconds = now() - start
        result.latencies.sort()
        return result
    }

    /// A queue of identities, of which never more are taken than there are.
    private struct Ring {
        private var identities: [Identity]
        private var first = 0
        private var end = 0

        init(_ identities: [Identity]) { self.identities = identities }

        mutating func take() -> Identity {
            defer { first = (first + 1) % identities.count }
            return identities[first]
        }

        mutating func put(_ identity: Identity) {
            identities[end] = identity
            end = (end + 1) % identities.count
        }
    }

    private func inParallel(_ work: @escaping @Sendable () -> Void) {
        let group = DispatchGroup()
        for _ in 0..<connections {
            group.enter()
            Thread.detachNewThread {
                work()
                group.leave()
            }
        }
        group.wait()
    }

    /// Seconds of a clock that nobody sets.
    private func now() -> Double { ProcessInfo.processInfo.systemUptime }
}
