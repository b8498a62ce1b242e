import MPinStore
import NIOCore
import NIOPosix
import StoreEngines
import XCTest

/// Tests a store in Redis with callers that run on event loops, as requests do.
final class RedisLoopTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private let one = StoredItem(value: [1])

    func testEachLoopHasOneConnection() async throws {
        let server = try RedisServer()
        let store = try await RedisStore.opened(server.url)
        let loops = Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
        for round in 0..<3 {
            for (number, loop) in loops.enumerated() {
                _ = try await onLoop(loop) { [now, one] in
                    try await concurrently(20) { index in
                        let key = ItemKey("a", "\(round)/\(number)/\(index)")
                        let isNew = try await store.create(key, one, at: now)
                        let taken = try await store.take(key, at: now)
                        XCTAssertTrue(isNew)
                        XCTAssertEqual(taken, one)
                    }
                }
            }
        }
        let connections = try server.run("CLIENT", "LIST", "TYPE", "normal").split(separator: "\n")
        // The last one is that of this question.
        XCTAssertEqual(connections.count, loops.count + 1)
    }

    func testTheTenureIsAskedOnceForWhatIsSentTogether() async throws {
        let server = try RedisServer()
        let store = try await RedisStore.opened(server.url)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        func calls(_ command: String) throws -> Int {
            let line = try server.run("INFO", "commandstats").split(whereSeparator: \.isNewline)
                .first { $0.hasPrefix("cmdstat_\(command):") }
            return line.flatMap { Int($0.drop { $0 != "=" }.dropFirst().prefix(while: \.isNumber)) } ?? 0
        }
        func read() async throws {
            try await onLoop(loop) { [now] in
                _ = try await concurrently(100) { try await store.read(ItemKey("a", "\($0)"), at: now) }
            }
        }
        try await read()
        let before = (try calls("info"), try calls("get"))
        try await read()
        let after = (try calls("info"), try calls("get"))
        XCTAssertEqual(after.1 - before.1, 100)
        // Two are those of this test.
        XCTAssertLessThan(after.0 - before.0, 10)
    }

    /// The loop learns of the end only after it has begun another exchange.
    func testAConnectionThatEndedIsReplacedAtOnce() async throws {
        let server = try RedisServer()
        let store = try await RedisStore.opened(server.url)
        for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
            for round in 0..<20 {
                let key = ItemKey("a", "\(round)")
                let taken = try await onLoop(loop) { [now, one] in
                    _ = try await store.create(key, one, at: now)
                    try server.run("CLIENT", "KILL", "TYPE", "normal")
                    return try await store.take(key, at: now)
                }
                XCTAssertEqual(taken, one)
            }
        }
    }

    /// A server that was a replica meanwhile closes no connection. Only a request can find it, and it fails.
    func testWhatOneLoopFindsAllKnow() async throws {
        let server = try RedisServer()
        let store = try await RedisStore.opened(server.url)
        let loops = Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
        for round in 0..<5 {
            let key = ItemKey("a", "\(round)")
            for loop in loops { try await onLoop(loop) { [now] in _ = try await store.take(key, at: now) } }
            try server.run("REPLICAOF", "127.0.0.1", "1")
            try server.run("REPLICAOF", "NO", "ONE")
            var failed = 0
            for loop in loops + loops {
                do {
                    try await onLoop(loop) { [now] in _ = try await store.take(key, at: now) }
                } catch StoreError.unknownOutcome { failed += 1 }
            }
            XCTAssertEqual(failed, 1)
        }
    }
}

/// Runs all steps of a task on an event loop.
private func onLoop<Result: Sendable>(
    _ loop: any EventLoop, _ work: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withTaskExecutorPreference(LoopExecutor(loop: loop)) { try await work() }
}

private final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
