import Foundation
import MPinStore
import StoreEngines
import XCTest

/// Tests signals that go through a Redis server. No request looks again by itself here, so that only a ring wakes it.
final class RedisSignalsTests: XCTestCase {
    func testARingWakesThoseWhoWaitAtOtherServers() async throws {
        let url = try RedisServer.shared.get().newURL()
        let nodes = try await concurrently(3) { _ in try await opened(url) }
        let listeners = nodes.map { Listener($0, "a") }
        let other = Listener(nodes[1], "b")
        for listener in listeners + [other] { await listener.wakes(1) }
        for ring in 1...20 {
            nodes[ring % 3].ring("a")
            for listener in listeners { await listener.wakes(1 + ring) }
        }
        nodes[0].ring("b")
        await other.wakes(2)
        // The rings of a node come in order, so no ring of "a" has woken who waits for "b".
        let count = await other.count
        XCTAssertEqual(count, 2)
        for listener in listeners + [other] { listener.stop() }
        // A node that nobody uses any more would end before its listeners have heard of the last ring.
        withExtendedLifetime(nodes) {}
    }

    func testNamesOfSignalsArriveAsTheyAre() async throws {
        let url = try RedisServer.shared.get().newURL()
        let nodes = try await concurrently(2) { _ in try await opened(url) }
        for name in ["", "a/b", "é 😀", "\r\n", String(repeating: "x", count: 100_000)] {
            let listener = Listener(nodes[1], name)
            await listener.wakes(1)
            nodes[0].ring(name)
            await listener.wakes(2)
            listener.stop()
        }
    }

    /// After the server has come back, everybody looks once, because rings may have been lost, and rings arrive again.
    func testAServerThatCameBackIsHeardAgain() async throws {
        let server = try RedisServer()
        let nodes = try await concurrently(2) { _ in try await opened(server.url) }
        for _ in 0..<3 {
            let listener = Listener(nodes[1], "a")
            await listener.wakes(1)
            try server.signal(SIGKILL)
            try server.startAgain()
            await listener.wakes(2)
            // The other node may not have noticed yet.
            let count = await listener.count
            try await until {
                nodes[0].ring("a")
                return await listener.count > count
            }
            listener.stop()
        }
    }

    /// A server that stands still is left after a few seconds. When it goes on, rings arrive again.
    func testAServerThatStoodStillIsHeardAgain() async throws {
        let server = try RedisServer()
        let nodes = try await concurrently(2) { _ in try await opened(server.url) }
        let listener = Listener(nodes[1], "a")
        await listener.wakes(1)
        try server.signal(SIGSTOP)
        try await Task.sleep(for: .seconds(4))
        try server.signal(SIGCONT)
        let count = await listener.count
        try await until {
            nodes[0].ring("a")
            return await listener.count > count
        }
        listener.stop()
    }

    /// Without the channel a server would look healthy, and nobody would ever be woken.
    func testAUserWhoMayNotListenIsRefused() async throws {
        let server = try RedisServer()
        try server.run("ACL", "SETUSER", "default", "resetchannels")
        do {
            _ = try await opened(server.url)
            XCTFail("not refused")
        } catch StoreError.unavailable(let reason) { XCTAssertTrue(reason.contains("mpin:signals"), reason) }
    }

    /// Waits for a signal and counts how often it was woken.
    private actor Listener {
        private(set) var count = 0
        private var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        nonisolated let stop: @Sendable () -> Void

        init(_ signals: any Signals, _ signal: String) {
            let (stream, stop) = signals.rings(signal, seconds: 600)
            self.stop = stop
            Task { for await _ in stream { await self.wake() } }
        }

        private func wake() {
            count += 1
            for each in waiting where each.count <= count { each.continuation.resume() }
            waiting.removeAll { $0.count <= count }
        }

        /// Returns when the listener was woken that often.
        func wakes(_ number: Int) async {
            guard count < number else { return }
            await withCheckedContinuation { waiting.append((number, $0)) }
        }
    }
}

/// Opens signals at a Redis URL.
private func opened(_ url: String) async throws -> RedisSignals {
    guard case .redis(let url) = try StoreURL(url) else { throw StoreError.unusable("no Redis URL") }
    return try await RedisSignals(url, looksAgainAfter: nil)
}
