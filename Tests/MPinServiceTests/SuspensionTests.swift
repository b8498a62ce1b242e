import MPinSecrets
import MPinService
import MPinStore
import StoreEngines
import XCTest

/// Tests the marks of suspended users in the records of their identities.
final class SuspensionTests: XCTestCase {
    private func suspension(_ user: String, until: Moment? = nil) -> Suspension {
        Suspension(user: user, reason: "left", by: "desk", since: .now(), until: until)
    }

    /// Of all that an identity can be blocked for, a suspension and its end keep everything.
    func testAMarkKeepsWhatIsBeneath() throws {
        let now = Moment.now()
        var records = [IdentityRecord(mpinID: "00", userID: "alice", keyID: "1", registered: now)]
        var blocked = records[0]
        blocked.blockByOperator()
        var temporary = records[0]
        (temporary.attempts, temporary.blockedUntil) = (3, now.adding(seconds: 60))
        var permanent = records[0]
        (permanent.attempts, permanent.blocked) = (3, true)
        records += [blocked, temporary, permanent]
        for before in records {
            var record = before
            for _ in 0..<2 { record.suspend() }
            XCTAssertTrue(record.isSuspended && record.isBarred && record.isRefusedByOperator && record.blocked)
            XCTAssertEqual(record.isBlockedByOperator, before.isBlockedByOperator)
            XCTAssertEqual(try IdentityRecord(stored: record.stored()), record)
            XCTAssertEqual(try record.stored().count, try before.stored().count)
            for _ in 0..<2 { record.resume() }
            XCTAssertEqual(record, before)
        }
    }

    /// A device that is registered while its user is suspended has the mark from the beginning on. A version that knows no
    /// suspensions makes it without, and the next start marks it.
    func testADeviceThatIsRegisteredMeanwhileIsMarked() async throws {
        let under = try await ServiceUnderTest()
        let store = MemoryStore()
        let (now, suspensions) = (Moment.now(), Suspensions(in: store))
        try await suspensions.begin(suspension("alice"), at: now)
        let identities = Identities(
            in: store, slots: Slots(bits: 4, key: try .random(count: 32)), policy: AttemptPolicy())
        for user in ["alice", "bob"] {
            let id = try MPinID.issue(userID: user, mobile: 0, at: now)
            let made = try await identities.create(
                Registration(id: id, userID: user, regOTT: "00"), keyID: "1", at: now)
            XCTAssertEqual(made.isSuspended, user == "alice")
        }
        let old = try MPinID.issue(userID: "alice", mobile: 0, at: now)
        let record = IdentityRecord(mpinID: old.hex, userID: "alice", keyID: "1", registered: now)
        _ = try await Table<IdentityRecord>("identity", in: store).create(old.key, record, at: now)
        let unmarked = try await identities.find(old, at: now)
        XCTAssertEqual(unmarked?.isSuspended, false)
        _ = try await AuthenticationService(
            rules: under.service.rules, activationKey: try .random(count: 32), durable: store,
            shortLived: MemoryStore(), signals: under.signals, keyRing: under.service.keyRing, permitWatch: nil,
            authorities: under.authorities, permission: nil, observer: { _ in })
        let marked = try await identities.find(old, at: now)
        XCTAssertEqual(marked?.isSuspended, true)
    }

    /// Suspensions and their ends at the same time leave mark and suspension in agreement.
    func testMarksAgreeWithTheSuspension() async throws {
        let (store, now) = (MemoryStore(), Moment.now())
        let suspensions = Suspensions(in: store)
        let table = Table<IdentityRecord>("identity", in: store)
        let record = IdentityRecord(mpinID: "00", userID: "alice", keyID: "1", registered: now)
        _ = try await table.create("key", record, at: now)
        let (alice, suspension) = (UserKey("alice"), suspension("alice"))
        for _ in 0..<200 {
            async let begun: Void = suspensions.begin(suspension, at: now)
            async let ended = suspensions.end(alice, at: now)
            try await begun
            async let first = suspensions.mark("key", of: alice, at: now)
            _ = try await ended
            async let second = suspensions.mark("key", of: alice, at: now)
            _ = try await (first, second)
            let isSuspended = try await suspensions.find(alice, at: now) != nil
            let isMarked = try await table.read("key", at: now)?.isSuspended
            XCTAssertEqual(isMarked, isSuspended)
        }
        // In one step, so that nothing comes between the look at the suspension and the mark.
        let gate = TripGate()
        gate.expect([])
        _ = try await Suspensions(in: FarStore(store, gate)).mark("key", of: alice, at: now)
        XCTAssertEqual(gate.result().calls, ["change identity suspension"])
    }

    func testASuspensionIsFoundByItsMailbox() async throws {
        let (store, now) = (MemoryStore(), Moment.now())
        let suspensions = Suspensions(in: store)
        try await suspensions.begin(suspension("a.lice@gmail.com"), at: now)
        func isFound(_ user: String) async throws -> Bool {
            try await suspensions.find(atMailboxOf: UserKey(text: user), at: now) != nil
        }
        for user in ["a.lice@gmail.com", "alice@gmail.com", "ALICE+x@googlemail.com", "alice@gmail.com."] {
            let found = try await isFound(user)
            XCTAssertTrue(found, user)
        }
        for user in ["bob@gmail.com", "alice@example.com", UserKey("alice@gmail.com", of: "shop").text] {
            let found = try await isFound(user)
            XCTAssertFalse(found, user)
        }
        let exact = try await suspensions.find(UserKey("alice@gmail.com"), at: now)
        XCTAssertNil(exact, "another user of the mailbox is not suspended")
    }

    /// A right PIN costs no look for a suspension, and a suspended user's login one.
    func testALoginReadsNothingMore() async throws {
        let gate = TripGate()
        let store = FarStore(MemoryStore(), gate)
        let identities = Identities(
            in: store, slots: Slots(bits: 4, key: try .random(count: 32)), policy: AttemptPolicy())
        let now = Moment.now()
        let id = try MPinID.issue(userID: "alice", mobile: 0, at: now)
        _ = try await identities.create(Registration(id: id, userID: "alice", regOTT: "00"), keyID: "1", at: now)
        gate.expect([])
        _ = try await identities.reserve(id, at: now)
        XCTAssertFalse(gate.result().calls.contains { $0.contains("suspension") })
    }
}
