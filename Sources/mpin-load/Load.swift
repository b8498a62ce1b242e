import Foundation
import Synchronization

/// Many simulated phones that run at once, each with its own thread and connection.
struct Load: Sendable {
    let endpoint: Endpoint
    let connections: Int

    /// The results of the logins during one period.
    struct Result: Sendable {
        /// The time of each successful login in milliseconds, sorted.
        var latencies: [Double] = []
        /// The number of failed logins for each reason.
        var failures: [String: Int] = [:]
        var seconds = 0.0

        var perSecond: Double { Double(latencies.count) / seconds }

        /// The time in milliseconds within which the fraction `part` (0...1) of the logins ended.
        func percentile(_ part: Double) -> Double {
            latencies.isEmpty ? 0 : latencies[min(latencies.count - 1, Int(Double(latencies.count) * part))]
        }

        mutating func add(_ other: Result) {
            latencies += other.latencies
            failures.merge(other.failures, uniquingKeysWith: +)
            seconds += other.seconds
        }
    }

    /// Registers `count` identities. Any error ends the run.
    func register(_ count: Int) throws -> [Identity] {
        try register(count) {
            let phone = try Phone(endpoint)
            return { try phone.register($0) }
        }
    }

    /// Registers `count` identities with key pairs.
    func register(_ count: Int, _ project: TrustProject) throws -> [Identity] {
        try register(count) {
            let phone = TrustPhone(endpoint, project)
            return { try phone.register($0) }
        }
    }

    private func register(
        _ count: Int, by open: @escaping @Sendable () throws -> (String) throws -> Identity
    ) throws -> [Identity] {
        let next = Atomic(0)
        let results = Mutex<[Identity]>([])
        let failure = Mutex<(any Error)?>(nil)
        inParallel {
            do {
                let register = try open()
                while true {
                    let number = next.add(1, ordering: .relaxed).oldValue
                    guard number < count, failure.withLock({ $0 == nil }) else { return }
                    let identity = try register("user\(number)@example.com")
                    results.withLock { $0.append(identity) }
                }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        return results.withLock { $0 }
    }

    /// A way to log in one identity. Only one thread may use it.
    typealias Way = (Identity) throws -> Void

    /// Logs in at the server's own website, for `seconds` seconds.
    func login(_ identities: [Identity], seconds: Double, rate: Double?) -> Result {
        run(identities, seconds: seconds, rate: rate) {
            let phone = try Phone(endpoint)
            return { try phone.login($0) }
        }
    }

    /// Logs in at a client of the OpenID provider, for `seconds` seconds.
    func login(_ identities: [Identity], client: String, seconds: Double) -> Result {
        run(identities, seconds: seconds, rate: nil) {
            let login = try OpenIDLogin(endpoint, clientID: client)
            return { try login.login($0) }
        }
    }

    /// Logs in identities with key pairs, for tokens of their app, for `seconds` seconds.
    func login(_ identities: [Identity], _ project: TrustProject, seconds: Double) -> Result {
        run(identities, seconds: seconds, rate: nil) {
            let phone = TrustPhone(endpoint, project)
            return { try phone.login($0) }
        }
    }

    /// Loads the login page of the OpenID provider, again and again, for `seconds` seconds.
    func loadPages(_ identities: [Identity], client: String, seconds: Double) -> Result {
        run(identities, seconds: seconds, rate: nil) {
            let login = try OpenIDLogin(endpoint, clientID: client)
            return { _ in try login.loadPage() }
        }
    }

    /// Logs in for `seconds` seconds. Each thread opens its own way to log in. The identity whose last login is the
    /// longest ago comes next.
    ///
    /// If `rate` is nil, logins run as fast as the connections allow. Otherwise `rate` logins are started each second,
    /// however slow the server is, and the time of a login counts from its planned start. There must be at least one
    /// identity for each connection, because an identity has only one login at a time, as on a phone.
    private func run(
        _ identities: [Identity], seconds: Double, rate: Double?, by open: @escaping @Sendable () throws -> Way
    ) -> Result {
        let next = Atomic(0)
        let resting = Mutex(Ring(identities))
        let total = Mutex(Result())
        let start = now()
        inParallel {
            var mine = Result()
            var way: Way?
            while true {
                let number = next.add(1, ordering: .relaxed).oldValue
                let due = rate.map { start + Double(number) / $0 } ?? now()
                guard due < start + seconds else { break }
                if due > now() { Thread.sleep(forTimeInterval: due - now()) }
                let identity = resting.withLock { $0.take() }
                defer { resting.withLock { $0.put(identity) } }
                do {
                    let ready = try way ?? open()
                    way = ready
                    try ready(identity)
                    mine.latencies.append((now() - due) * 1000)
                } catch {
                    mine.failures["\(error)", default: 0] += 1
                    // Waits as long as the server asks, as a phone does. Otherwise the refused requests would take
                    // processor time from the server.
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

    /// The identities that have no login at the moment; the one that has waited longest is taken first.
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

    /// The seconds of a monotonic clock.
    private func now() -> Double { ProcessInfo.processInfo.systemUptime }
}
