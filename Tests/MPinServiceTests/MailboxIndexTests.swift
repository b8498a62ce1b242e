import MPinSecrets
import MPinService
import MPinStore
import StoreEngines
import XCTest

/// Tests the index of users by mailboxes, and that a user has one spelling.
final class MailboxIndexTests: XCTestCase {
    /// Both were verified before either was a user.
    func testOfTwoNewSpellingsAtOnceOneBecomesTheUser() async throws {
        let under = try await ServiceUnderTest()
        var started: [AuthenticationService.StartedRegistration] = []
        for name in ["Alice@example.com", "alice@example.com"] {
            started.append(
                try await under.service.register(under.application(name)) { _ in .init(isConfirmed: true) })
        }
        let service = under.service
        try await withThrowingTaskGroup(of: Void.self) { group in
            for one in started {
                group.addTask { _ = try await service.issueShares(one.id, token: one.registrationToken) }
            }
            try await group.waitForAll()
        }
        var counts: [Int] = []
        for name in ["Alice@example.com", "alice@example.com"] {
            counts.append(try await service.devices(of: UserKey(name)).count)
        }
        XCTAssertEqual(counts.sorted(), [0, 2])
    }

    /// Users of the versions before are in no mailbox. Those with spellings in common go on, each by its own.
    func testUsersOfTheVersionBeforeAreAddedAndPairsGoOn() async throws {
        let store = MemoryStore()
        let users = Table<Bool>("user", in: store)
        let now = Moment.now()
        let old = ["Alice@example.com", "alice@example.com", "bob@example.com", "b\u{A0}b"]
        for name in old { _ = try await users.create(name, true, at: now) }
        let devices = Devices(in: store)
        try await devices.addMailboxes(at: now)
        let pairs = try await Self.pairs(in: store)
        XCTAssertEqual(pairs, [["Alice@example.com", "alice@example.com"]])
        for name in old {
            let user = try await devices.user(meant: name, at: now)
            XCTAssertEqual(user, name)
        }
        let meant = try await devices.user(meant: "ALICE@example.com.", at: now)
        XCTAssertEqual(meant, "Alice@example.com")
        let nobody = try await devices.user(meant: "carol@example.com", at: now)
        XCTAssertNil(nobody)
        let removed = try await Mailboxes(in: store).remove("Alice@example.com", at: now)
        XCTAssertTrue(removed)
        let left = try await devices.user(meant: "ALICE@example.com", at: now)
        XCTAssertEqual(left, "alice@example.com")
    }

    /// A node of the version before may run for some days beside the new ones, and registers users without the index.
    func testUsersOfAnOldNodeAreAddedAtTheNextStart() async throws {
        let store = MemoryStore()
        let users = Table<Bool>("user", in: store)
        let begin = Moment.now()
        let devices = Devices(in: store)
        for (days, name, isAdded) in [
            (0, "a@x.example", true), (6, "b@x.example", true), (8, "c@x.example", true),
            (9, "d@x.example", false),
        ] {
            let now = begin.adding(seconds: days * 86_400)
            _ = try await users.create(name, true, at: now)
            try await devices.addMailboxes(at: now)
            let found = try await devices.user(meant: name.uppercased(), at: now)
            XCTAssertEqual(found == name, isAdded, name)
        }
    }

    /// Who has such a user id already registers further devices.
    func testAnOldUserIdWithBlanksGoesOn() async throws {
        let under = try await ServiceUnderTest()
        let name = "b\u{A0}b@example.com"
        do {
            _ = try await under.register(name, pin: "1234")
            XCTFail("a new one")
        } catch let error as ServiceError { XCTAssertEqual(error, .badUserID("must not hold blank characters")) }
        let users = Table<Bool>("user", in: under.durable)
        _ = try await users.create(name, true, at: .now())
        _ = try await under.register(name, pin: "1234")
        let devices = try await under.service.devices(of: UserKey(name))
        XCTAssertEqual(devices.count, 1)
    }

    private static func pairs(in store: any Store) async throws -> [[String]] {
        var found: [[String]] = []
        try await Mailboxes(in: store).pairs(at: .now()) { found.append($0) }
        return found
    }
}
