import Foundation
import MPinSecrets
import MPinService
import MPinStore
import XCTest

/// Tests the rules of blocking on the record of one identity.
final class AttemptTests: XCTestCase {
    private let start = Moment(microseconds: 1_700_000_000_000_000)
    private var policy = AttemptPolicy()
    private lazy var identity = IdentityRecord(mpinID: "7b7d", userID: "a", keyID: "1", registered: start)

    /// The verdict that a login with a wrong PIN gets: `judged` if its PIN was judged, `refused` if the login was
    /// refused before that.
    private enum Told: Equatable {
        case judged(Verdict)
        case refused(Verdict)

        static let blocked = judged(.blocked(until: nil))
        static let stillBlocked = refused(.blocked(until: nil))

        static func wrong(_ left: Int) -> Told { judged(.wrong(left: left)) }
    }

    private func wrong(_ seconds: Int) -> Told {
        let now = start.adding(seconds: seconds)
        return switch identity.reserve(policy, at: now) {
        case .granted: .judged(identity.fail(policy, at: now))
        case .refused(let verdict): .refused(verdict)
        }
    }

    func testTheAttemptThatReachesTheLimitBlocksForGood() {
        XCTAssertEqual((0..<5).map { wrong($0) }, [.wrong(2), .wrong(1), .blocked, .stillBlocked, .stillBlocked])
        XCTAssertTrue(identity.blocked)
        XCTAssertEqual(
            identity.reserve(policy, at: start.adding(seconds: 1_000_000_000)), .refused(.blocked(until: nil)))
        identity.unblock(at: start)
        XCTAssertEqual((0..<4).map { wrong($0) }, [.wrong(2), .wrong(1), .blocked, .stillBlocked])
    }

    func testAWrongPINKnowsHowManyAreLeft() {
        func left(_ seconds: Int) -> Int? {
            if case .judged(.wrong(let left)) = wrong(seconds) { left } else { nil }
        }
        XCTAssertEqual((0..<4).map { left($0) }, [2, 1, nil, nil])
        identity.unblock(at: start)
        policy.block = .temporary(seconds: 10)
        policy.maxFailures = 5
        XCTAssertEqual((0..<3).map { left($0) }, [2, 1, nil])
        XCTAssertEqual((20..<23).map { left($0) }, [1, nil, nil])
    }

    func testARightPINClearsTheCount() {
        XCTAssertEqual((0..<2).map { wrong($0) }, [.wrong(2), .wrong(1)])
        XCTAssertEqual(identity.reserve(policy, at: start), .granted)
        XCTAssertEqual(identity.succeed(), .right)
        XCTAssertEqual(identity.attempts + identity.failuresSinceSuccess + identity.open.count, 0)
        XCTAssertEqual((0..<3).map { wrong($0) }, [.wrong(2), .wrong(1), .blocked])
    }

    func testATemporaryBlockEndsAndSaysWhen() {
        policy.block = .temporary(seconds: 600)
        let end = start.adding(seconds: 602)
        let told = [0, 1, 2, 3, 601].map { wrong($0) }
        let block = Verdict.blocked(until: end)
        XCTAssertEqual(told, [.wrong(2), .wrong(1), .judged(block), .refused(block), .refused(block)])
        let refused = identity.reserve(policy, at: Moment(microseconds: end.microseconds - 1))
        XCTAssertEqual(refused, .refused(block))
        let next = Verdict.blocked(until: start.adding(seconds: 1204))
        XCTAssertEqual(
            [602, 603, 604, 605].map { wrong($0) }, [.wrong(2), .wrong(1), .judged(next), .refused(next)])
        XCTAssertEqual(identity.reserve(policy, at: start.adding(seconds: 1204)), .granted)
        XCTAssertEqual(identity.succeed(), .right)
        XCTAssertEqual(identity.failuresSinceSuccess, 0)
    }

    func testTwentyFailuresWithoutASuccessBlockForGoodAllTheSame() {
        policy.block = .temporary(seconds: 10)
        var blocks = 0
        var judged = 0
        for second in 0..<1000 where !identity.blocked {
            guard case .judged(let verdict) = wrong(second) else { continue }
            judged += 1
            if case .blocked(until: _?) = verdict { blocks += 1 }
        }
        XCTAssertEqual([judged, blocks], [20, 6])
        XCTAssertEqual(wrong(100_000), .stillBlocked)
    }

    func testAttemptsInProgressTakeUpTheLimit() {
        for _ in 0..<3 { XCTAssertEqual(identity.reserve(policy, at: start), .granted) }
        XCTAssertEqual(identity.reserve(policy, at: start), .refused(.busy))
        identity.refund()
        XCTAssertEqual(identity.reserve(policy, at: start), .granted)
        XCTAssertEqual(identity.succeed(), .right)
        XCTAssertEqual(
            identity.fail(policy, at: start), .wrong(left: 2), "the success before it clears nothing of this one")
        XCTAssertEqual(identity.attempts, 1)
    }

    func testASuccessThatComesAfterTheBlockDoesNotUnblock() {
        policy.maxAttempts = 1
        XCTAssertEqual(identity.reserve(policy, at: start), .granted)
        var other = identity
        other.open = [1, 2]
        XCTAssertEqual(other.fail(policy, at: start), .blocked(until: nil))
        XCTAssertEqual(other.succeed(), .right)
        XCTAssertTrue(other.blocked)
    }

    func testWhatTheEndOfTheProcessCutOffCountsAsWrong() {
        for _ in 0..<2 { XCTAssertEqual(identity.reserve(policy, at: start), .granted) }
        XCTAssertEqual(wrong(11), .blocked, "the third")
        identity.unblock(at: start.adding(seconds: 11))
        for _ in 0..<3 { XCTAssertEqual(identity.reserve(policy, at: start), .granted) }
        XCTAssertEqual(wrong(11), .stillBlocked)
    }

    func testAnUnblockingKeepsTheAttemptsThatAreBeingJudged() {
        for id in 1...3 { XCTAssertEqual(identity.reserve(Int64(id), policy, at: start), .granted) }
        identity.unblock(at: start)
        for id in 1...2 { XCTAssertEqual(identity.settle(Int64(id), .wrong, policy, at: start), .wrong(left: 3 - id)) }
        XCTAssertEqual(identity.settle(3, .wrong, policy, at: start), .blocked(until: nil))
    }

    /// A change is repeated with the same id if it is unknown whether it was committed. The repetition must have no
    /// effect.
    func testAnAttemptIsTakenAndSettledOnce() {
        for _ in 0..<3 { XCTAssertEqual(identity.reserve(7, policy, at: start), .granted) }
        XCTAssertEqual(identity.open, [7])
        for _ in 0..<3 { XCTAssertEqual(identity.settle(7, .wrong, policy, at: start), .wrong(left: 2)) }
        XCTAssertEqual(identity.reserve(8, policy, at: start), .granted)
        for _ in 0..<2 { XCTAssertEqual(identity.settle(8, .right, policy, at: start), .right) }
        XCTAssertEqual(identity.attempts, 0)
    }

    func testWhatWasCountedAsLostIsNotCountedAgain() {
        XCTAssertEqual(identity.reserve(7, policy, at: start), .granted)
        let late = start.adding(seconds: policy.lostSeconds + 1)
        XCTAssertEqual(identity.reserve(8, policy, at: late), .granted)
        XCTAssertEqual(identity.attempts, 1)
        XCTAssertEqual(identity.settle(7, .wrong, policy, at: late), .wrong(left: 2))
        XCTAssertEqual(identity.settle(7, .right, policy, at: late), .right, "it was judged, and right")
        XCTAssertEqual(identity.attempts, 1, "but it clears nothing")
        XCTAssertEqual(identity.open, [8])
    }

    /// A block begins with a wrong PIN, or with attempts that were lost with their process, and is reported once. No
    /// other change begins one.
    func testABlockBeginsOnce() {
        func begins(_ change: (inout IdentityRecord) -> Void) -> NewBlock? {
            let earlier = identity
            change(&identity)
            return identity.block(since: earlier)
        }
        func reserve(_ seconds: Int) -> NewBlock? {
            begins { [start, policy] in _ = $0.reserve(policy, at: start.adding(seconds: seconds)) }
        }
        for _ in 0..<3 { XCTAssertNil(reserve(0)) }
        XCTAssertEqual(reserve(11), NewBlock(until: nil), "three were lost")
        XCTAssertNil(reserve(12))
        XCTAssertNil(begins { [start] in $0.unblock(at: start.adding(seconds: 12)) })

        policy.block = .temporary(seconds: 600)
        for second in 20..<23 { XCTAssertNil(reserve(second)) }
        for _ in 0..<2 { XCTAssertNil(begins { [start, policy] in _ = $0.fail(policy, at: start) }) }
        let end = start.adding(seconds: 623)
        XCTAssertEqual(
            begins { [start, policy] in _ = $0.fail(policy, at: start.adding(seconds: 23)) }, NewBlock(until: end))
        XCTAssertNil(reserve(24))
        XCTAssertNil(reserve(623), "it has ended")
        XCTAssertNil(begins { $0.revoked = true }, "that is the operator's")
        XCTAssertNil(begins { [start, policy] in _ = $0.fail(policy, at: start.adding(seconds: 624)) })
    }

    func testARevokedIdentityIsRefusedWhateverItBrings() {
        XCTAssertEqual(identity.reserve(policy, at: start), .granted)
        identity.revoked = true
        XCTAssertEqual(identity.succeed(), .revoked)
        XCTAssertEqual(identity.reserve(policy, at: start), .refused(.revoked))
        identity.unblock(at: start)
        XCTAssertEqual(wrong(0), .refused(.revoked))
        identity.blocked = true
        XCTAssertEqual(wrong(0), .refused(.revoked), "for good, and nobody can unblock it")
    }

    func testARecordWithoutLaterMembersIsRead() throws {
        let json = #"{"mpinID":"7b7d","userID":"a","keyID":"1","registered":1700000000000000}"#
        XCTAssertEqual(try IdentityRecord(stored: Array(json.utf8)), identity)
        identity.blockedUntil = start
        identity.refused = 3
        XCTAssertEqual(try IdentityRecord(stored: identity.stored()), identity)
    }

    func testTheOperatorFindsUnblocksAndRevokes() async throws {
        let store = MemoryStore()
        let slots = Slots(bits: 4, key: try .random(count: 32))
        let identities = Identities(in: store, slots: slots, policy: policy)
        let ids = try (0..<5).map { try MPinID.issue(userID: "user\($0)", mobile: 1, at: start) }
        for id in ids {
            _ = try await identities.create(Registration(id: id, userID: "u", regOTT: ""), keyID: "1", at: start)
        }
        let revoked = try await identities.revoke(ids[0], at: start)
        XCTAssertEqual(revoked?.revoked, true)
        let found = try await identities.find(ids[0], at: start)
        XCTAssertEqual(found, revoked)
        let unblocked = try await identities.unblock(ids[1], at: start)
        XCTAssertEqual(unblocked?.mpinID, ids[1].hex)
        let stranger = try await identities.revoke(MPinID.issue(userID: "x", mobile: 1, at: start), at: start)
        XCTAssertNil(stranger)
        let first = try await identities.list(after: nil, limit: 3, at: start)
        let rest = try await identities.list(after: first.last?.key, limit: 3, at: start)
        XCTAssertEqual(Set((first + rest).map(\.value.mpinID)), Set(ids.map(\.hex)))
        XCTAssertEqual([first.count, rest.count], [3, 2])
    }

    /// Records of invented IDs must take up only a fixed number of slots, and their challenges must expire.
    func testStrangersShareAFixedNumberOfPlaces() async throws {
        let store = MemoryStore()
        let slots = Slots(bits: 4, key: try .random(count: 32))
        let identities = Identities(in: store, slots: slots, policy: policy)
        let tokens = Tokens(in: store, slots: slots)
        var places: Set<String> = []
        for number in 0..<500 {
            let id = try MPinID.issue(userID: "user\(number)", mobile: 1, at: start)
            places.insert(slots.key(id.hash))
            let attempt = try await identities.reserve(id, at: start)
            XCTAssertEqual(attempt.reservation, .granted)
            XCTAssertFalse(attempt.isKnown)
            _ = try await identities.settle(attempt, .wrong, at: start)
            let token = AuthToken(
                key: AuthToken.key("\(number)"), id: id.key, mpinID: "", userID: "", verdict: .wrong(left: 2),
                wid: "0", otp: "", expires: start.adding(seconds: 60))
            try await tokens.save(token, at: start)
            let read = try await tokens.read("\(number)", at: start)
            XCTAssertEqual(read, token)
        }
        XCTAssertEqual(places.count, 16)
        for table in ["unknown_identity", "unknown_token", "identity", "token"] {
            let items = try await store.list(table, after: nil, limit: 1000, at: start)
            XCTAssertLessThanOrEqual(items.count, table.hasPrefix("unknown") ? 16 : 0, table)
        }
    }
}

/// Functions that settle the oldest open attempt, so that a test need not name it.
extension IdentityRecord {
    fileprivate mutating func reserve(_ policy: AttemptPolicy, at now: Moment) -> Reservation {
        reserve(.random(in: 1...(.max)), policy, at: now)
    }

    fileprivate mutating func fail(_ policy: AttemptPolicy, at now: Moment) -> Verdict {
        settle(open.first ?? -1, .wrong, policy, at: now)
    }

    fileprivate mutating func succeed() -> Verdict {
        settle(open.first ?? -1, .right, AttemptPolicy(), at: registered)
    }

    fileprivate mutating func refund() {
        _ = settle(open.first ?? -1, .notJudged, AttemptPolicy(), at: registered)
    }
}
