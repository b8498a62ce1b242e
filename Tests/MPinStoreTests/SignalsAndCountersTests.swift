import MPinStore
import StoreEngines
import XCTest

/// Tests signals and counters within one process, and which of them a URL opens.
final class SignalsAndCountersTests: XCTestCase {
    /// The signal comes while the listener still processes the previous one and does not wait yet. It must not be lost.
    func testARingBetweenTheLookAndTheWaitIsHeard() async throws {
        let signals = LocalSignals()
        let looks = Looks()
        let (rings, stop) = signals.rings("a", seconds: 60)
        for await _ in rings {
            let count = await looks.add()
            if count < 5 { signals.ring("a") } else { stop() }
        }
        let count = await looks.count
        XCTAssertEqual(count, 5)
        XCTAssertEqual(signals.count, 0, "nobody waits any more")
    }

    func testAWaitLooksAtOnceAndALastTimeAndEnds() async throws {
        let looks = Looks()
        for await _ in LocalSignals().rings("a", seconds: 1).rings { _ = await looks.add() }
        let count = await looks.count
        // The stream has one element at the start of the wait and one at its end. On a busy machine, both may arrive as
        // one.
        XCTAssertTrue((1...2).contains(count))
    }

    func testARingWakesAllWhoWaitForItAndNobodyElse() async throws {
        let signals = LocalSignals()
        let (first, stopFirst) = signals.rings("a", seconds: 60)
        let (second, stopSecond) = signals.rings("b", seconds: 60)
        let (ofFirst, ofSecond) = (first.makeAsyncIterator(), second.makeAsyncIterator())
        // Takes the element with which every stream begins.
        _ = await ofFirst.next()
        _ = await ofSecond.next()
        signals.ring("a")
        let rung: Void? = await ofFirst.next()
        XCTAssertNotNil(rung)
        stopFirst()
        stopSecond()
        let silent: Void? = await ofSecond.next()
        XCTAssertNil(silent, "the end, and no ring before it")
    }

    /// One alarm ends all waits. It must be set to an earlier time when a shorter wait begins, and again after it rang.
    func testEachWaitEndsAtItsOwnTime() async {
        let signals = LocalSignals()
        let start = ContinuousClock.now
        let (long, stopLong) = signals.rings("a", seconds: 600)
        let (short, stopShort) = signals.rings("a", seconds: 1)
        let (none, stopNone) = signals.rings("a", seconds: 0)
        let (other, stopOther) = signals.rings("b", seconds: 1)
        // A test that waits for ever would tell nothing.
        let end = Task {
            try await Task.sleep(for: .seconds(120))
            for stop in [stopLong, stopShort, stopNone, stopOther] { stop() }
        }
        for await _ in none {}
        for await _ in short {}
        for await _ in other {}
        XCTAssertLessThan(start.duration(to: .now), .seconds(120))
        XCTAssertGreaterThanOrEqual(start.duration(to: .now), .seconds(1))
        for stop in [stopShort, stopNone, stopOther] { stop() }
        XCTAssertEqual(signals.count, 1, "the long wait goes on")
        let first: Void? = await long.next()
        XCTAssertNotNil(first)
        signals.ring("a")
        let second: Void? = await long.next()
        XCTAssertNotNil(second)
        stopLong()
        let third: Void? = await long.next()
        XCTAssertNil(third)
        signals.ring("a")
        let fourth: Void? = await long.next()
        XCTAssertNil(fourth, "nothing is heard after the end")
        XCTAssertEqual(signals.count, 0)
        end.cancel()
    }

    func testACounterAdmitsWhatItsLimitAllowsToEachKey() async throws {
        let database = try PostgresServer.shared.get().newDatabase()
        try await admitsTwo(LocalCounters())
        try await admitsTwo(StoreURL(database).counters())
        try await admitsTwo(StoreURL(RedisServer.shared.get().newURL()).counters())
        // Without the others each server counts for itself.
        try await admitsTwo(StoreURL("postgres:///mpin?host=/nowhere").counters())
        try await admitsTwo(StoreURL("redis:///?socket=/nowhere").counters())
    }

    private func admitsTwo(_ counters: any Counters) async throws {
        let limit = try XCTUnwrap(RateLimit("2/600"))
        for key in [[UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32)] {
            for counter in ["login", "register"] {
                let waits = [
                    try await counters.admit(counter, key, limit), try await counters.admit(counter, key, limit),
                    try await counters.admit(counter, key, limit),
                ]
                XCTAssertEqual([waits[0], waits[1]], [nil, nil])
                XCTAssertTrue((290...300).contains(waits[2] ?? 0), "\(waits)")
            }
        }
    }

    /// Three servers are asked by many at the same moment, and then again and again.
    func testThreeServersTogetherAdmitTheLimit() async throws {
        try await admitTheLimit(StoreURL(PostgresServer.shared.get().newDatabase()))
        try await admitTheLimit(StoreURL(RedisServer.shared.get().newURL()))
    }

    private func admitTheLimit(_ url: StoreURL) async throws {
        let nodes = try (0..<3).map { _ in try url.counters() }
        for (text, most) in [("300/36000", 306), ("10/36000", 10)] {
            let limit = try XCTUnwrap(RateLimit(text))
            for key in 0..<3 as Range<UInt8> {
                let key = [UInt8](repeating: key, count: 32)
                let waits = try await concurrently(60) { number in
                    var waits: [Int?] = []
                    for _ in 0..<10 { waits.append(try await nodes[number % 3].admit(text, key, limit)) }
                    return waits
                }
                var admitted = waits.flatMap(\.self).filter { $0 == nil }.count
                // A server may hear of the others only now.
                for node in nodes {
                    for _ in 0..<5 where try await node.admit(text, key, limit) == nil { admitted += 1 }
                    let last = try await node.admit(text, key, limit)
                    XCTAssertNotNil(last, text)
                }
                XCTAssertTrue((limit.requests...most).contains(admitted), "\(text): \(admitted)")
            }
        }
    }

    /// Some requests begin the exchange, and some only wait for it.
    func testTheWaitForCountersThatHangIsPartOfTheTimeOfARequest() async throws {
        let server = try RedisServer()
        let (counters, limit) = (try StoreURL(server.url).counters(), try XCTUnwrap(RateLimit("60/600")))
        _ = try await counters.admit("a", [1], limit)
        try server.signal(SIGSTOP)
        let left = try await concurrently(20) { _ in
            try await StorePatience.limit(to: .seconds(3)) {
                let start = ContinuousClock.now
                _ = try await counters.admit("a", [1], limit)
                let waited = ContinuousClock.now - start
                return await StorePatience.call(atMost: .seconds(3)) { $0 - .now + waited }
            }
        }
        for left in left { XCTAssertLessThan(left, .milliseconds(3900)) }
        let time = try await StorePatience.limit(to: .seconds(3)) {
            _ = try await counters.admit("another", [1], limit)
            return await StorePatience.call(atMost: .seconds(3)) { $0 - .now }
        }
        XCTAssertGreaterThan(time, .seconds(2), "the first request waits for nothing")
    }

    /// A bucket regains its requests, however many were refused.
    func testASharedBucketIsFullAgainInTime() async throws {
        try await becomesFullAgain(StoreURL(PostgresServer.shared.get().newDatabase()))
        try await becomesFullAgain(StoreURL(RedisServer.shared.get().newURL()))
    }

    private func becomesFullAgain(_ url: StoreURL) async throws {
        let nodes = try (0..<2).map { _ in try url.counters() }
        let (limit, key) = (try XCTUnwrap(RateLimit("2/2")), [UInt8](repeating: 1, count: 32))
        for _ in 0..<20 { for node in nodes { _ = try await node.admit("a", key, limit) } }
        let end = ContinuousClock.now + .seconds(20)
        while let wait = try await nodes[1].admit("a", key, limit) {
            XCTAssertTrue((1...4).contains(wait), "\(wait)")
            guard ContinuousClock.now < end else { return XCTFail("never full again") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    func testBucketsStayWithinTheirMemory() throws {
        let buckets = try TokenBuckets(XCTUnwrap(RateLimit("2/60")), capacity: 100)
        let start = ContinuousClock.now
        for key in 0..<10_000 as Range<UInt64> { XCTAssertNil(buckets.take(.init(high: key, low: 0), at: start)) }
        XCTAssertLessThanOrEqual(buckets.count, 200)
        let key = TokenBuckets.Key(high: 0, low: 1)
        XCTAssertNil(buckets.take(key, at: start))
        XCTAssertNil(buckets.take(key, at: start))
        XCTAssertEqual(buckets.take(key, at: start), 30)
        XCTAssertEqual(buckets.take(key, at: start + .seconds(29)), 1)
        XCTAssertNil(buckets.take(key, at: start + .seconds(30)))
        XCTAssertEqual(buckets.take(key, at: start + .seconds(30)), 30, "a refusal takes nothing")
    }

    func testAURLNamesAnEngine() throws {
        XCTAssertEqual(try StoreURL("memory:"), .memory)
        for (text, path) in [
            ("sqlite:/a/b", "/a/b"), ("a:b/c", nil), ("/a:b", "/a:b"), ("./a", "./a"), ("sqlite:", nil),
        ] {
            XCTAssertEqual(try? StoreURL(text), path.map { .sqlite(path: $0) }, text)
        }
        let file = StoreURL.sqlite(path: "/nowhere/x")
        for kind in [StoreURL.Kind.shortLived, .signals, .counters] {
            XCTAssertNoThrow(try StoreURL("postgres://db/mpin").require(kind))
            XCTAssertNoThrow(try StoreURL("redis://localhost").require(kind))
            XCTAssertThrowsError(try file.require(kind))
            XCTAssertNoThrow(try StoreURL.memory.require(kind))
        }
    }

    func testAStoreIsOpenedByItsURL() async throws {
        _ = try await StoreURL.memory.lasting()
        do {
            _ = try await StoreURL.sqlite(path: "/nowhere/x").lasting()
            XCTFail("no such folder")
        } catch {}
    }

    /// A ring in another process is not heard, so who waits looks again.
    func testWhereOthersShareTheStoreAWaitingRequestLooksAgain() async {
        let signals = LocalSignals(looksAgainAfter: .milliseconds(10))
        let (stream, stop) = signals.rings("a", seconds: 100)
        var looks = 0
        for await _ in stream {
            looks += 1
            if looks == 3 { stop() }
        }
        XCTAssertGreaterThanOrEqual(looks, 3)
    }

    private actor Looks {
        private(set) var count = 0

        func add() -> Int {
            count += 1
            return count
        }
    }
}
