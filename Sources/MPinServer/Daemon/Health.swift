import NIOConcurrencyHelpers
import ServiceLifecycle

/// Checks whether this process can serve requests.
final class Health: Sendable {
    typealias Check = @Sendable () async -> Bool

    private struct State {
        var checks: [String: Check] = [:]
        var isDraining = false
        /// What each check said when they last ran, and when that was.
        var last: (report: [String: Bool], at: ContinuousClock.Instant)?
    }

    private let state = NIOLockedValueBox(State())

    func add(_ name: String, _ check: @escaping Check) { state.withLockedValue { $0.checks[name] = check } }

    /// What each check said when they last ran; empty if nobody has asked for a minute.
    var last: [String: Bool] {
        guard let last = state.withLockedValue({ $0.last }), .now - last.at < .seconds(60) else { return [:] }
        return last.report
    }

    /// Reports the process as not ready from now on, because it is about to end.
    func drain() { state.withLockedValue { $0.isDraining = true } }

    /// Runs all checks and returns their results by name. A check that takes longer than two seconds has failed. While
    /// the process is ending, `running` is false.
    func report() async -> [String: Bool] {
        let state = self.state.withLockedValue { $0 }
        var report = await withTaskGroup(of: (String, Bool).self) { group in
            for (name, check) in state.checks { group.addTask { (name, await Self.inTime(check)) } }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        self.state.withLockedValue { $0.last = (report, .now) }
        if state.isDraining { report["running"] = false }
        return report
    }

    private static func inTime(_ check: @escaping Check) async -> Bool {
        // A task group is not used here, because it would wait for the check to return.
        let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
        Task { answer.yield(await check()) }
        let alarm = Task {
            try? await Task.sleep(for: .seconds(2))
            answer.yield(false)
        }
        defer { alarm.cancel() }
        return await answers.first { _ in true } ?? false
    }
}

/// Whether this process can serve requests, for callers that may be anybody: however many ask, the checks run at most
/// once a second.
actor RecentHealth {
    private let health: Health
    private var last: (begun: ContinuousClock.Instant, answer: Task<Bool, Never>)?

    init(_ health: Health) { self.health = health }

    func isReady() async -> Bool {
        if let last, .now - last.begun < .seconds(1) { return await last.answer.value }
        let answer = Task { [health] in await health.report().values.allSatisfy(\.self) }
        last = (.now, answer)
        return await answer.value
    }
}

/// Reports the process as not ready at the beginning of a graceful shutdown.
struct Draining: Service {
    let health: Health

    func run() async throws {
        try? await gracefulShutdown()
        health.drain()
    }
}
