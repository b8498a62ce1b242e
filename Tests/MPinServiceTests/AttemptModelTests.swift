import Foundation
import MPinSecrets
import MPinService
import MPinStore
import StoreEngines
import XCTest

/// Reserves and settles attempts at random and moves the clock, and compares the results with those of a second
/// implementation of the rules of blocking.
final class AttemptModelTests: XCTestCase {
    private let start = Moment(microseconds: 1_700_000_000_000_000)

    func testRandomStepsOfManyAttemptsAreThoseOfTheModel() async throws {
        var temporary = AttemptPolicy()
        temporary.block = .temporary(seconds: 30)
        temporary.maxFailures = 11
        for policy in [AttemptPolicy(), temporary] {
            try await walk(25_000, policy, RepeatingStore(MemoryStore()), isKnown: true)
            try await walk(25_000, policy, ForgetfulStore(MemoryStore()), isKnown: true)
            try await walk(2_500, policy, ForgetfulStore(MemoryStore()), isKnown: false)
            try await walk(25_000, policy, BlindStore(ForgetfulStore(MemoryStore())), isKnown: true)
            try await walk(2_500, policy, BlindStore(ForgetfulStore(MemoryStore())), isKnown: false)
        }
    }

    func testTheModelIsRightForDatabases() async throws {
        let isFull = ProcessInfo.processInfo.environment["FULL"] == "1"
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + end) } }
        for url in [try PostgresServer.shared.get().newDatabase(), file] {
            for isKnown in [true, false] {
                let store = try await StoreURL(url).lasting()
                try await walk(isFull ? 100_000 : 2_000, AttemptPolicy(), store, isKnown: isKnown)
            }
        }
    }

    /// Each third answer to a transaction gets lost when the database has committed it.
    func testTheModelIsRightForPostgreSQLWhoseAnswersGetLost() async throws {
        let server = try PostgresServer.shared.get()
        let proxy = try PostgresProxy(to: server)
        let store = try await StoreURL(proxy.url(of: server.newDatabase())).lasting()
        for isKnown in [true, false] {
            proxy.lose { $0 % 3 == 0 }
            try await walk(150, AttemptPolicy(), store, isKnown: isKnown)
            XCTAssertGreaterThan(proxy.lost, 20)
        }
    }

    private func walk(_ steps: Int, _ policy: AttemptPolicy, _ store: any Store, isKnown: Bool) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("seed \(seed)")
        var random = Seeded(state: seed)
        let identities = Identities(in: store, slots: Slots(bits: 4, key: try .random(count: 32)), policy: policy)
        let id = try MPinID.issue(userID: "alice", mobile: 1, at: start)
        if isKnown {
            let registration = Registration(id: id, userID: "alice", regOTT: "")
            while (try? await identities.create(registration, keyID: "1", at: start)) == nil {}
        }
        var model = Model(policy: policy)
        var (now, attempts): (Moment, [Attempt]) = (start, [])
        for step in 0..<steps {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<45:
                let attempt = try await identities.reserve(id, at: now)
                XCTAssertEqual(attempt.isKnown, isKnown)
                XCTAssertEqual(attempt.reservation, model.reserve(attempt.id, at: now), "step \(step), seed \(seed)")
                if attempt.reservation == .granted { attempts.append(attempt) }
            case 45..<90:
                guard let attempt = attempts.randomElement(using: &random) else { continue }
                let settlement = [Settlement.right, .wrong, .wrong, .notJudged].randomElement(using: &random) ?? .right
                let verdict = try await identities.settle(attempt, settlement, at: now).0
                let expected = model.settle(attempt.id, settlement, at: now)
                if settlement != .notJudged { XCTAssertEqual(verdict, expected, "step \(step), seed \(seed)") }
                // Keeps one in ten attempts in the list, so that it is settled a second time later.
                if Int.random(in: 0..<10, using: &random) > 0 { attempts.removeAll { $0.id == attempt.id } }
            case 90..<98: now = now.adding(seconds: Int.random(in: 0...13, using: &random))
            case _ where isKnown:
                while (try? await identities.unblock(id, at: now)) == nil {}
                model.unblock(at: now)
            default: continue
            }
            XCTAssertLessThanOrEqual(model.wrong + model.open.count, policy.maxAttempts)
        }
        guard isKnown else { return }
        let found = try await identities.find(id, at: now)
        XCTAssertEqual(found?.attempts, model.wrong)
        XCTAssertEqual(found?.failuresSinceSuccess, model.failures)
        XCTAssertEqual(Set(found?.open ?? []), model.open)
    }
}

/// The second implementation of the rules of blocking, for one identity.
private struct Model {
    let policy: AttemptPolicy
    var wrong = 0
    var failures = 0
    var open: Set<Int64> = []
    private var begun: Moment?
    private var end: Moment?
    private var isOver = false

    init(policy: AttemptPolicy) { self.policy = policy }

    mutating func reserve(_ id: Int64, at now: Moment) -> Reservation {
        countLost(at: now)
        if let ended = end, now >= ended { (end, wrong) = (nil, 0) }
        if let block = block(at: now) {
            begun = now
            return .refused(block)
        }
        guard wrong + open.count < policy.maxAttempts else { return .refused(.busy) }
        begun = now
        open.insert(id)
        return .granted
    }

    mutating func settle(_ id: Int64, _ settlement: Settlement, at now: Moment) -> Verdict {
        let counts = open.remove(id) != nil
        if settlement == .right {
            if counts, !isOver, end == nil { (wrong, failures) = (0, 0) }
            return .right
        }
        if settlement == .wrong, counts { (wrong, failures) = (wrong + 1, failures + 1) }
        let left = policy.maxAttempts - wrong
        return block(at: now)
            ?? .wrong(left: max(0, policy.block == .permanent ? left : min(left, policy.maxFailures - failures)))
    }

    mutating func unblock(at now: Moment) {
        countLost(at: now)
        let judged = open
        self = Model(policy: policy, begun)
        open = judged
    }

    private mutating func countLost(at now: Moment) {
        guard let begun, now > begun.adding(seconds: policy.lostSeconds) else { return }
        wrong += open.count
        failures += open.count
        open = []
    }

    private init(policy: AttemptPolicy, _ begun: Moment?) {
        self.policy = policy
        self.begun = begun
    }

    private mutating func block(at now: Moment) -> Verdict? {
        if wrong >= policy.maxAttempts, end == nil, !isOver {
            if case .temporary(let seconds) = policy.block { end = now.adding(seconds: seconds) } else { isOver = true }
        }
        if policy.block != .permanent, failures >= policy.maxFailures { isOver = true }
        return isOver ? .blocked(until: nil) : end.map { .blocked(until: $0) }
    }
}

/// SplitMix64 (Steele, Lea and Flood: Fast Splittable Pseudorandom Number Generators).
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }
}
