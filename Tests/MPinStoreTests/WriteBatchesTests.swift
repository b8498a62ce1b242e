import MPinStore
import StoreEngines
import Synchronization
import XCTest

/// Tests that blind changes which are made at the same time share an exchange, and that none suffers from another.
final class WriteBatchesTests: XCTestCase {
    private typealias Batches = WriteBatches<String, String>

    private let now = Moment(microseconds: 1_700_000_000_000_000)

    /// Exchanges that wait until they are told what they come to.
    private final class Exchanges: Sendable {
        typealias End = CheckedContinuation<[String]?, any Error>

        private let running = Mutex<[(commands: [String], end: End)]>([])

        func exchange(_ commands: [String], _ deadline: ContinuousClock.Instant) async throws -> [String]? {
            try await withCheckedThrowingContinuation { end in running.withLock { $0.append((commands, end)) } }
        }

        var areThere: Bool { running.withLock { !$0.isEmpty } }

        /// Ends an exchange. Returns its commands.
        func end(_ outcome: ([String]) throws -> [String]?) -> [String] {
            let (commands, end) = running.withLock { $0.removeFirst() }
            end.resume(with: Result { try outcome(commands) })
            return commands
        }
    }

    /// Waits for an exchange and ends it. Returns its commands.
    private func end(_ exchanges: Exchanges, _ outcome: ([String]) throws -> [String]?) async throws -> [String] {
        try await until { exchanges.areThere }
        return exchanges.end(outcome)
    }

    /// Begins a change whose commands are named after it.
    private func begin(
        _ name: String, commands: Int = 1, in batches: Batches, _ exchanges: Exchanges, seconds: Int = 60
    ) -> Task<[String]?, any Error> {
        Task {
            try await batches.make(
                (0..<commands).map { (ItemKey("a", "\($0)"), "\(name)\($0)") }, by: .now + .seconds(seconds),
                exchanges.exchange)
        }
    }

    /// Waits for the answers to a change.
    private func answers(of change: Task<[String]?, any Error>) async throws -> [String]? {
        let isMade = Mutex(false)
        Task {
            _ = await change.result
            isMade.withLock { $0 = true }
        }
        try await until { isMade.withLock(\.self) }
        return isMade.withLock(\.self) ? try await change.value : []
    }

    /// Begins a change alone, and then those that share the next exchange.
    private func beginShared(_ names: [String], in batches: Batches, _ exchanges: Exchanges) async throws -> [Task<
        [String]?, any Error
    >] {
        var tasks = [begin("first", in: batches, exchanges)]
        for (index, name) in names.enumerated() {
            // The first one is on its way when the others come.
            try await until { batches.isBusy && batches.waiting == index }
            tasks.append(begin(name, commands: index + 1, in: batches, exchanges))
        }
        try await until { batches.waiting == names.count }
        return tasks
    }

    func testChangesThatComeMeanwhileShareTheNextExchangeInTheOrderOfTheirPlaces() async throws {
        let (batches, exchanges) = (Batches(), Exchanges())
        let tasks = try await beginShared(["b", "c", "a"], in: batches, exchanges)
        let (first, second) = (
            try await end(exchanges) { $0.map { "\($0)!" } }, try await end(exchanges) { $0.map { "\($0)!" } }
        )
        XCTAssertEqual(first, ["first0"])
        XCTAssertEqual(second, ["b0", "c0", "a0", "c1", "a1", "a2"])
        var answers: [[String]?] = []
        for task in tasks { answers.append(try await self.answers(of: task)) }
        XCTAssertEqual(answers, [["first0!"], ["b0!"], ["c0!", "c1!"], ["a0!", "a1!", "a2!"]])
        XCTAssertFalse(batches.isBusy)
    }

    func testAfterAnExchangeThatWasNotCarriedOutEachChangeIsMadeApart() async throws {
        let (batches, exchanges) = (Batches(), Exchanges())
        let tasks = try await beginShared(["a", "b"], in: batches, exchanges)
        for _ in 0..<2 { _ = try await end(exchanges) { _ in nil } }
        for task in tasks {
            let found = try await answers(of: task)
            XCTAssertNil(found)
        }
    }

    func testAnUnknownOutcomeIsThatOfEachChangeAndTheNextExchangeGoesOn() async throws {
        let (batches, exchanges) = (Batches(), Exchanges())
        let tasks = try await beginShared(["a", "b"], in: batches, exchanges)
        _ = try await end(exchanges) { $0 }
        _ = try await end(exchanges) { _ in throw StoreError.unknownOutcome("lost") }
        for task in tasks.dropFirst() {
            do {
                _ = try await answers(of: task)
                XCTFail("known")
            } catch StoreError.unknownOutcome {}
        }
        let next = begin("next", in: batches, exchanges)
        _ = try await end(exchanges) { $0 }
        let found = try await answers(of: next)
        XCTAssertEqual(found, ["next0"])
    }

    func testNoChangeWaitsForAnExchangeThatMayEndAfterItsDeadline() async throws {
        let (batches, exchanges) = (Batches(), Exchanges())
        // It has too little time to share any exchange.
        let hurried = try await answers(of: begin("hurried", in: batches, exchanges, seconds: 1))
        XCTAssertNil(hurried)
        let tasks = try await beginShared(["a"], in: batches, exchanges)
        let earlier = try await answers(of: begin("earlier", in: batches, exchanges, seconds: 30))
        XCTAssertNil(earlier)
        for _ in tasks { _ = try await end(exchanges) { $0 } }
    }

    /// With less time than a second left, one would shorten the time of the others.
    func testAChangeThatHasWaitedTooLongIsMadeApart() async throws {
        let start = ContinuousClock.now
        let passed = Mutex(Duration.zero)
        let (batches, exchanges) = (Batches(now: { start + passed.withLock(\.self) }), Exchanges())
        let first = begin("first", in: batches, exchanges, seconds: 60)
        try await until { batches.isBusy }
        let late = begin("late", in: batches, exchanges, seconds: 70)
        let patient = begin("patient", in: batches, exchanges, seconds: 600)
        try await until { batches.waiting == 2 }
        passed.withLock { $0 = .seconds(80) }
        let carriedOut = [try await end(exchanges) { $0 }, try await end(exchanges) { $0 }]
        XCTAssertEqual(carriedOut, [["first0"], ["patient0"]])
        var found: [[String]?] = []
        for change in [first, late, patient] { found.append(try await answers(of: change)) }
        XCTAssertEqual(found, [["first0"], nil, ["patient0"]])
    }

    func testAtMost64ChangesShareAnExchangeAndAtMost2000Wait() async throws {
        let (batches, exchanges) = (Batches(), Exchanges())
        let first = begin("first", in: batches, exchanges)
        try await until { batches.isBusy }
        let tasks = (0..<2000).map { begin("\($0)", in: batches, exchanges) }
        try await until { batches.waiting == 2000 }
        let late = try await answers(of: begin("late", in: batches, exchanges))
        XCTAssertNil(late)
        var counts: [Int] = []
        while counts.reduce(0, +) < 2001 { counts.append(try await end(exchanges) { $0 }.count) }
        XCTAssertEqual(counts, [1] + Array(repeating: 64, count: 31) + [16])
        for task in [first] + tasks {
            let found = try await answers(of: task)
            XCTAssertEqual(found?.count, 1)
        }
    }

    // MARK: With PostgreSQL

    private struct Append: NamedChange {
        static let name = "append"
        let key: ItemKey
        let byte: UInt8
        var keys: [ItemKey] { [key] }

        func run(_ items: inout Items) throws { throw StoreError.conflict }
        func blindForm() -> BlindForm<Void>? {
            BlindForm([.append(key, [byte], otherwise: StoredItem(value: [byte]))]) { _ in }
        }
    }

    /// Two servers append to the same items, each in another order.
    func testNothingIsLostOrMadeTwice() async throws {
        let url = try PostgresServer.shared.get().newDatabase()
        for kind in [PostgresStore.Kind.lasting, .shortLived] {
            let stores = [try await PostgresStore.opened(url, kind), try await PostgresStore.opened(url, kind)]
            let before = stores.map(\.trips).reduce(0, +)
            try await concurrently(600) { [now] index in
                let (round, place) = (index / 6, index % 6)
                let key = ItemKey("a", "\(round % 2 == 0 ? place : 5 - place)")
                try await stores[round % 2].perform(
                    Append(key: key, byte: UInt8(round)), at: now, round % 4 < 2 ? .durable : .ordered)
            }
            XCTAssertLessThan(stores.map(\.trips).reduce(0, +) - before, 600, "no change has shared an exchange")
            let items = try await stores[0].list("a", after: nil, limit: 9, at: now)
            XCTAssertEqual(items.map { $0.item.value.sorted() }, Array(repeating: Array(0..<100), count: 6))
        }
    }

    /// While somebody locks an item, a change of it waits alone. One that the server refuses (a zero byte in a text) fails
    /// alone.
    func testNoChangeSuffersFromAnother() async throws {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        let store = try await PostgresStore.opened(url, patience: .seconds(60))
        let locked = ItemKey("a", "locked")
        let change = { @Sendable [now] (key: ItemKey) in
            try await store.perform(Append(key: key, byte: 1), at: now, .durable)
        }
        try await change(locked)
        let holder = Task.detached {
            try? server.run("UPDATE lasting_item SET expires = NULL; SELECT pg_sleep(600)", in: url)
        }
        let sleepers = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
        try await until { try server.run("SELECT count(*) \(sleepers)", in: url) == "1" }
        let waiting = Task { try await concurrently(4) { _ in try await change(locked) } }
        let waiters = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        try await until { try server.run("SELECT count(*) \(waiters)", in: url) != "0" }
        try await concurrently(40) { index in
            guard index % 10 == 0 else { return try await change(ItemKey("a", "\(index)")) }
            do {
                try await change(ItemKey("a", "\0"))
                XCTFail("taken")
            } catch StoreError.unavailable(let reason) { XCTAssertTrue(reason.contains("22021"), reason) }
        }
        let seen = try await store.read(locked, at: now)
        XCTAssertEqual(seen?.value, [1], "nobody holds it any more, so the test shows nothing")
        try server.run("SELECT pg_terminate_backend(pid) \(sleepers)", in: url)
        _ = await holder.value
        _ = try await waiting.value
        let made = try await store.read(locked, at: now)
        XCTAssertEqual(made?.value, [1, 1, 1, 1, 1])
    }
}
