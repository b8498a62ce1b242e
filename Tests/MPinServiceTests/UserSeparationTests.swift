import MPinSecrets
import MPinService
import MPinStore
import StoreEngines
import XCTest

/// Tests that the users whom versions before took for users of the server become users of their projects.
final class UserSeparationTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)

    /// An M-Pin ID as a version before made it: without the member that tells where the user comes from.
    private func old(_ user: String, _ project: String, _ type: String?, salt: String) throws -> MPinID {
        let end = type.map { #""v":5,"scope":["auth"],"dta":[],"vt":"\#($0)"}"# } ?? #""v":1}"#
        let text = #"{"iat":1,"userID":"\#(user)","cID":"\#(project)","salt":"\#(salt)",\#(end)"#
        return try XCTUnwrap(MPinID(hex: Hex.encode(Array(text.utf8))))
    }

    private func add(_ id: MPinID, _ user: String, in store: any Store, successor: MPinID? = nil) async throws {
        var record = IdentityRecord(mpinID: id.hex, userID: user, keyID: "1", registered: now)
        if let successor { record.successor = successor.hash }
        _ = try await Table<IdentityRecord>("identity", in: store).create(id.key, record, at: now)
    }

    /// Stores an identity as a server of the version before registers it, with its entry in the index of devices.
    private func register(_ id: MPinID, _ user: String, in store: any Store) async throws {
        let key = Hex.encode(SHA256.hash(Array(user.utf8))) + " " + id.key
        _ = try await store.create(ItemKey("device", key), StoredItem(value: Array(#"{"name":"phone"}"#.utf8)), at: now)
        _ = try await Table<Bool>("user", in: store).create(user, true, at: now)
        try await add(id, user, in: store)
    }

    private func devices(_ user: UserKey, _ under: ServiceUnderTest) async throws -> Set<String> {
        Set(try await under.service.devices(of: user).map(\.identity))
    }

    func testIdentitiesFollowTheirOrigin() async throws {
        let store = MemoryStore()
        let (verified, renewed) = (try old("a", "p", "pv", salt: "1"), try old("a", "p", "dvs", salt: "2"))
        let (quick, first) = (try old("a", "p", "rc", salt: "3"), try old("a", "p", nil, salt: "4"))
        let (mail, further) = (try old("b", "p", "em", salt: "5"), try old("b", "p", "rc", salt: "6"))
        let (both, renewedMail) = (try old("a", "p", "em", salt: "7"), try old("a", "p", "dvs", salt: "8"))
        try await add(verified, "a", in: store, successor: renewed)
        for id in [renewed, quick, first] { try await add(id, "a", in: store) }
        for id in [mail, further] { try await add(id, "b", in: store) }
        try await add(both, "a", in: store, successor: renewedMail)
        try await add(renewedMail, "a", in: store)
        let under = try await ServiceUnderTest(durable: store)
        let project = try await devices(UserKey("a", of: "p"), under)
        XCTAssertEqual(project, [verified.key, renewed.key, quick.key, first.key])
        let own = try await devices(UserKey("a"), under)
        XCTAssertEqual(own, [both.key, renewedMail.key])
        let others = try await devices(UserKey("b"), under)
        XCTAssertEqual(others, [mail.key, further.key])
        XCTAssertEqual(
            under.surroundings.moved.filter(\.isGuess).map(\.identity).sorted(), [quick.key, first.key].sorted())
        XCTAssertEqual(under.surroundings.moved.filter { !$0.isGuess }.map(\.identity), [renewed.key])
        XCTAssertEqual(under.service.keptNames, [], "a user of the server has the user id, too")
        // The users were taken for each other, so what they have opened ends.
        for (id, isMoved) in [(verified, true), (renewed, true), (quick, true), (first, true), (both, false)] {
            let asBefore = try await under.service.isRevoked(id, as: UserKey("a"))
            XCTAssertEqual(asBefore, isMoved)
            let toWebsites = try await under.service.isRevokedToWebsites(id)
            XCTAssertEqual(toWebsites, isMoved)
        }
        let asProject = try await under.service.isRevoked(quick, as: UserKey("a", of: "p"))
        XCTAssertFalse(asProject)
    }

    func testWhoIsAloneKeepsItsName() async throws {
        let store = MemoryStore()
        try await add(try old("a", "p", "pv", salt: "1"), "a", in: store)
        try await add(try old("a", "q", "em", salt: "2"), "b", in: store)
        let under = try await ServiceUnderTest(durable: store)
        XCTAssertEqual(under.service.keptNames, [UserKey("a", of: "p")])
    }

    /// Two projects with a user of one user id, and with a client of both, cannot keep the name for both.
    func testProjectsThatShareAClientKeepNothing() async throws {
        let store = MemoryStore()
        for id in ["p", "q", "r"] {
            var project = Project(id: id, name: id, created: now)
            project.clients = id == "r" ? ["own"] : ["shared"]
            _ = try await Projects(in: store).add(project, at: now)
            try await add(try old("a", id, "pv", salt: id), "a", in: store)
        }
        let under = try await ServiceUnderTest(durable: store)
        XCTAssertEqual(under.service.keptNames, [UserKey("a", of: "r")])
    }

    /// A server of the version before may still register identities when the first of this one runs.
    func testTheNextStartFindsWhatAnOldServerHasRegistered() async throws {
        let store = MemoryStore()
        let first = try await ServiceUnderTest(durable: store)
        let (verified, quick) = (try old("a", "p", "pv", salt: "1"), try old("a", "p", "rc", salt: "2"))
        for id in [verified, quick] { try await register(id, "a", in: store) }
        let further = try MPinID.issue(userID: "a", project: "p", verification: .quickCode, at: now)
        try await register(further, "a", in: store)
        let under = try await ServiceUnderTest(durable: store, at: first.authorities)
        XCTAssertEqual(under.surroundings.moved.map(\.identity), [quick.key], "the last one tells where it comes from")
        let project = try await devices(UserKey("a", of: "p"), under)
        XCTAssertEqual(project, [verified.key, quick.key])
        let own = try await devices(UserKey("a"), under)
        XCTAssertEqual(own, [further.key])
        let names = try await under.service.devices(of: UserKey("a", of: "p")).map(\.name)
        XCTAssertEqual(names, ["phone", "phone"], "the names of the devices move with them")
        let again = try await ServiceUnderTest(durable: store, at: first.authorities)
        XCTAssertEqual(again.surroundings.moved.map(\.identity), [], "once")
    }

    func testAKeyIsReadAsItWasWritten() {
        for user in [UserKey("a"), UserKey("a", of: "p"), UserKey("p/a"), UserKey("a\nb", of: "p")] {
            XCTAssertEqual(UserKey(text: user.text), user)
        }
        XCTAssertEqual(UserKey("a@example.com").text, "a@example.com", "as ever")
        for user in [
            UserKey("a", of: "p"), UserKey("a/b", of: "p"), UserKey("\u{301}a", of: "p"), UserKey("", of: "p"),
        ] {
            XCTAssertEqual(UserKey(shown: user.shown), user, "no project has a slash in its id")
        }
        XCTAssertEqual(UserKey("a/b", of: "p").shown, "p/a/b")
        XCTAssertNil(UserKey(shown: "a@example.com"))
    }
}
