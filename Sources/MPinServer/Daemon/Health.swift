import NIOConcurrencyHelpers
import ServiceLifecycle

/// What this process needs to serve requests, and whether it is there.
final class Health: Sendable {
    typealias Check = @Sendable () async -> Bool

    private struct State {
        var checks: [String: Check] = [:]
        var isDraining = false
    }

    private let state = NIOLockedValueBox(State())

    func add(_ name: String, _ check: @escaping Check) { state.withLockedValue { $0.checks[name] = check } }

    /// From now on there is no readiness: the process is about to end.
    func drain() { state.withLockedValue { $0.isDraining = true } }

    /// Each check by its name; one that takes longer than two seconds has failed.
    func report() async -> [String: Bool] {
        let state = state.withLockedValue { $0 }
        var report = await withTaskGroup(of: (String, Bool).self) { group in
            for (name, check) in state.checks { group.addTask { (name, await Self.inTime(check)) } }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        if state.isDraining { report["running"] = false }
        return report
    }

    private static func inTime(_ check: @escaping Check) async -> Bool {
        // Not a task group: that would wait for the check all the same.
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

/// Takes the readiness away as the first thing of a graceful shutdown.
struct Draining: Service {
    let health: Health

    func run() async throws {
        try? await gracefulShutdown()
        health.drain()
    }
}
