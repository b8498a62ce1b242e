import MPinOpenID
import MPinStore
import MPinWire
import XCTest

/// Tests what users can do on the account page, without the page.
final class AccountTests: XCTestCase {
    private let alice = "alice@example.com"
    private static let page = "/account/settings"

    private func step(
        _ test: ProviderUnderTest, _ session: BrowserSession?, isRecent: Bool
    ) async throws -> AuthorizationStep {
        let wish = try test.provider.accountRequest(returningTo: Self.page, isRecent: isRecent)
        let client = Client.account(name: "Service", at: test.now)
        return try await test.provider.step(wish, of: client, LoginProgress(session))
    }

    /// The account page takes any live session, and no consent. For a change that needs a recent login, a PIN is good
    /// for ten minutes.
    func testALoginForTheAccountPage() async throws {
        let test = try await ProviderUnderTest()
        let nobody = try await step(test, nil, isRecent: false)
        XCTAssertEqual(nobody, .login)
        let (_, session) = try await test.begin()
        test.pass(seconds: 600)
        XCTAssertTrue(test.provider.isRecent(session))
        let atOnce = try await step(test, session, isRecent: true)
        XCTAssertEqual(atOnce, .answer(session.login))
        test.pass(seconds: 1)
        XCTAssertFalse(test.provider.isRecent(session))
        let late = try await step(test, session, isRecent: true)
        XCTAssertEqual(late, .login)
        let view = try await step(test, session, isRecent: false)
        XCTAssertEqual(view, .answer(session.login))
    }

    /// After the login the browser goes to the page without any parameter. No client is noted in the session.
    func testTheWayBack() async throws {
        let test = try await ProviderUnderTest()
        let wish = try test.provider.accountRequest(returningTo: Self.page, isRecent: true)
        let login = UserLogin(userID: alice, mpinID: "00", time: test.now)
        let begun = try await test.provider.beginSession(
            LoginProgress(fresh: login, isByNumber: false), login, for: nil, replacing: nil)
        let session = try XCTUnwrap(begun?.1)
        let isOpen = try await test.provider.sessions.open(nil, with: session.id, at: test.now)
        XCTAssertTrue(isOpen)
        let found = try await test.provider.sessions.find(session.id, at: test.now)
        XCTAssertEqual(found?.clients, [])
        let answer = try await test.provider.answer(wish, login, sessionID: session.id)
        XCTAssertEqual(wish.address.location(answer), ProviderUnderTest.issuer + Self.page)
    }

    /// Nobody can ask for a login with the id that stands for the account page.
    func testTheIDOfTheAccountPageIsNoClients() async throws {
        let test = try await ProviderUnderTest()
        let id = try test.provider.accountRequest(returningTo: Self.page, isRecent: false).address.clientID
        let uri = ProviderUnderTest.issuer + Self.page
        let members = [("client_id", id), ("redirect_uri", uri), ("response_type", "code"), ("scope", "openid")]
        let parameters = try XCTUnwrap(RequestParameters(RequestParameters.query(members)))
        let reading = try await test.provider.read(parameters).reading
        XCTAssertEqual(reading, .refused(.unknownClient))
        func file(_ id: String) throws -> ClientsFile {
            try ClientsFile("- id: \(id)\n  auth-method: none\n  redirect-uri: [\(uri)]", path: "c", at: test.now)
        }
        XCTAssertThrowsError(try file(id))
        XCTAssertNoThrow(try file("account"))
    }

    /// A user sees and ends only the own sessions. Ending all others leaves the present one.
    func testEndsOfSessions() async throws {
        let test = try await ProviderUnderTest()
        let (_, own) = try await test.begin()
        test.pass(seconds: 1)
        let (_, second) = try await test.begin()
        let (_, third) = try await test.begin()
        let (_, foreign) = try await test.begin("bob@example.com")
        let refused = try await test.provider.endSession(foreign.id, of: alice)
        XCTAssertNil(refused)
        let ended = try await test.provider.endSession(third.id, of: alice)
        XCTAssertEqual(ended?.sessionID, third.id)
        let listed = try await test.provider.liveSessions(of: alice)
        XCTAssertEqual(listed.map(\.id), [second.id, own.id])
        let others = try await test.provider.endSessions(otherThan: own)
        XCTAssertEqual(others.map(\.sessionID), [second.id])
        let left = try await test.provider.liveSessions(of: alice)
        XCTAssertEqual(left.map(\.id), [own.id])
        let kept = try await test.provider.liveSessions(of: "bob@example.com")
        XCTAssertEqual(kept.map(\.id), [foreign.id])
        test.pass(seconds: 3600)
        let late = try await test.provider.liveSessions(of: alice)
        XCTAssertEqual(late, [])
    }

    /// A consent that is withdrawn must be given again, and this does not bring the client's refresh tokens of this user
    /// back. Those of other users and clients are valid all the time.
    func testAConsentThatIsWithdrawn() async throws {
        let test = try await ProviderUnderTest { $0.isFirstParty = false }
        let scope = "openid offline_access"
        let tokens = try await test.redeem(try await test.code(scope: scope))
        let bobs = try await test.redeem(try await test.code("bob@example.com", scope: scope))
        let elsewhere = try await test.redeem(try await test.code(of: "phone", scope: scope), by: "phone")
        let client = try test.client()
        let isWithdrawn = try await test.provider.withdrawConsent(to: "app", by: alice)
        XCTAssertTrue(isWithdrawn)
        let isCovered = try await test.provider.consents.cover(["openid"], of: client, by: alice, at: test.now)
        XCTAssertFalse(isCovered)
        let again = try await test.provider.withdrawConsent(to: "app", by: alice)
        XCTAssertFalse(again)
        let newer = try await test.redeem(try await test.code(scope: scope))
        let fault = try await test.fault { try await test.refresh(try XCTUnwrap(tokens.refreshToken)) }
        XCTAssertEqual(fault, .invalidGrant)
        _ = try await test.refresh(try XCTUnwrap(newer.refreshToken))
        _ = try await test.refresh(try XCTUnwrap(bobs.refreshToken))
        _ = try await test.refresh(try XCTUnwrap(elsewhere.refreshToken), by: "phone")
    }

    /// The removal of a device ends what it has logged in, and nothing else of the user.
    func testTheLoginsOfARemovedDevice() async throws {
        let test = try await ProviderUnderTest()
        let (_, removed) = try await test.begin()
        let other = UserLogin(userID: alice, mpinID: "01", time: test.now)
        let begun = try await test.provider.beginSession(
            LoginProgress(fresh: other, isByNumber: false), other, for: "app", replacing: nil)
        let kept = try XCTUnwrap(begun?.1)
        let tokens = try await test.redeem(try await test.code(scope: "openid offline_access", in: removed))
        let notices = try await test.provider.endLogins(of: "00", of: alice)
        XCTAssertEqual(notices.map(\.sessionID), [removed.id, nil])
        let left = try await test.provider.liveSessions(of: alice)
        XCTAssertEqual(left.map(\.id), [kept.id])
        let fault = try await test.fault { try await test.refresh(try XCTUnwrap(tokens.refreshToken)) }
        XCTAssertEqual(fault, .invalidGrant)
    }
}
