import Dispatch
package import MPinStore
import Synchronization

/// Counts the trips that a test makes to stores on other machines. Calls that are made at the same time are one trip.
/// The gate holds the calls of an expected trip until all of them have arrived, and then lets them through. If no trips
/// are expected, it lets every call through at once.
package final class TripGate: Sendable {
    private struct State {
        var waves: [Int] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
        var calls: [String] = []
        var failures: [String] = []
    }

    private let state = Mutex(State())
    private let seconds: Int

    /// `seconds`: how long a call may wait for the others of its trip before the gate reports a failure.
    package init(seconds: Int = 20) { self.seconds = seconds }

    /// Sets the expected trips: the number of calls in each.
    package func expect(_ waves: [Int]) { state.withLock { $0 = State(waves: waves) } }

    /// Returns the calls since ``expect(_:)`` in order, and how they differ from the expected trips.
    package func result() -> (calls: [String], failures: [String]) {
        state.withLock { state in
            let missing = state.waves.isEmpty ? [] : ["trips that nobody made: \(state.waves)"]
            return (state.calls, state.failures + missing)
        }
    }

    fileprivate func pass(_ call: String) async {
        let isExpected = state.withLock { state in
            state.calls.append(call)
            return !state.waves.isEmpty
        }
        guard isExpected else { return }
        await withCheckedContinuation { continuation in
            let released = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.waiting.append(continuation)
                guard state.waiting.count == state.waves.first else { return [] }
                return Self.nextWave(&state)
            }
            for other in released { other.resume() }
            if released.isEmpty { giveUpLater(call) }
        }
    }

    private static func nextWave(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        defer { state.waiting = [] }
        if !state.waves.isEmpty { state.waves.removeFirst() }
        return state.waiting
    }

    private func giveUpLater(_ call: String) {
        let left = state.withLock { $0.waves.count }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { [self] in
            let released = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                guard state.waves.count == left, !state.waiting.isEmpty else { return [] }
                state.failures.append("\(call): alone in its trip")
                return Self.nextWave(&state)
            }
            for other in released { other.resume() }
        }
    }
}

/// A store that behaves as if it were on another machine: each call passes the gate.
package struct FarStore: Store {
    private let store: any Store
    private let gate: TripGate

    package init(_ store: any Store, _ gate: TripGate) {
        self.store = store
        self.gate = gate
    }

    package var isNear: Bool { false }

    package func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        await gate.pass("read \(key.table)")
        return try await store.read(key, at: now)
    }

    package func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        await gate.pass("change " + keys.map(\.table).joined(separator: " "))
        return try await store.transaction(keys, at: now, durability, change)
    }

    package func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        await gate.pass("list \(table)")
        return try await store.list(table, after: key, limit: limit, at: now)
    }

    package func collect(at now: Moment, limit: Int) async throws -> Int {
        try await store.collect(at: now, limit: limit)
    }

    /// A health check is no part of a login, so it does not pass the gate.
    package func check(at now: Moment) async throws { try await store.check(at: now) }
}
