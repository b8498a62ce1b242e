import MPinOpenID
import MPinSecrets
import MPinStore
import XCTest

/// Tests users of projects at the provider: who they are to clients, and what they can open.
final class NameSpaceTests: XCTestCase {
    private let (alice, projects) = (UserKey("alice@example.com"), UserKey("alice@example.com", of: "p"))
    private let salt = try? SecretBytes.random(count: 32)

    private func client(_ subject: Client.Subject) -> Client {
        var client = Client(id: "app", name: "App", created: Moment(microseconds: 0))
        client.subject = subject
        return client
    }

    private func subjects(_ kept: Set<UserKey> = []) throws -> Subjects {
        Subjects(salt: try XCTUnwrap(salt), kept: kept)
    }

    func testTheSubjectIsOfTheNameSpace() throws {
        let subjects = try subjects()
        for subject in [Client.Subject.public, .pairwise, .userID] {
            let users = [alice, projects, UserKey(alice.userID, of: "q"), UserKey("p" + alice.userID)]
            let names = Set(users.map { subjects.subject(of: $0.text, for: client(subject)) })
            XCTAssertEqual(names.count, users.count, "\(subject)")
        }
        XCTAssertEqual(subjects.subject(of: alice.text, for: client(.userID)), "alice@example.com")
        XCTAssertEqual(subjects.subject(of: projects.text, for: client(.userID)), "p/alice@example.com")
    }

    /// A user of a project from before the name spaces keeps its `sub`, and a user of the server who comes later gets
    /// another one.
    func testAKeptNameIsNobodyElses() throws {
        let (before, after) = (try subjects(), try subjects([projects]))
        for subject in [Client.Subject.public, .pairwise, .userID] {
            let client = client(subject)
            let (old, late) = (before.subject(of: alice.text, for: client), after.subject(of: alice.text, for: client))
            XCTAssertEqual(after.subject(of: projects.text, for: client), old, "\(subject)")
            XCTAssertNotEqual(late, old, "\(subject)")
            XCTAssertNotEqual(late, before.subject(of: projects.text, for: client), "\(subject)")
            let bob = UserKey("bob@example.com").text
            XCTAssertEqual(after.subject(of: bob, for: client), before.subject(of: bob, for: client))
        }
    }

    private func login(_ test: ProviderUnderTest, _ user: UserKey) -> UserLogin {
        UserLogin(userID: user.text, mpinID: "00", time: test.now)
    }

    func testAClientOfTheProjectTakesItsUsers() async throws {
        let test = try await ProviderUnderTest()
        let query = RequestParameters.query([
            ("client_id", "app"), ("redirect_uri", ProviderUnderTest.uri), ("response_type", "code"),
            ("scope", "openid"),
        ])
        let reading = try await test.provider.read(try XCTUnwrap(RequestParameters(query))).reading
        guard case .accepted(let request) = reading else { return XCTFail("\(reading)") }
        for owners in [[], ["q"], ["q", "p"]] {
            test.events.owners.withLock { $0 = owners }
            let login = login(test, projects)
            let progress = LoginProgress(fresh: login, isByNumber: false)
            let step = try await test.provider.step(request, of: test.client(), progress)
            XCTAssertEqual(step, owners.contains("p") ? .answer(login) : .noAccess(login), "\(owners)")
        }
    }

    /// Tokens have no effect any more when the project does not name the client any more.
    func testTokensEndWithTheNaming() async throws {
        let test = try await ProviderUnderTest()
        test.events.owners.withLock { $0 = ["p"] }
        let tokens = try await test.redeem(try await test.code(projects.text, scope: "openid email offline_access"))
        let info = try await test.provider.userinfo(tokens.accessToken)
        XCTAssertEqual(info["email_verified"], nil)
        test.events.owners.withLock { $0 = [] }
        let fault = try await test.bearerFault(tokens.accessToken)
        XCTAssertEqual(fault, .invalidToken)
        let refresh = try await test.fault { try await test.refresh(try XCTUnwrap(tokens.refreshToken)) }
        XCTAssertEqual(refresh, .invalidGrant)
    }

    /// Versions before had one profile for both: what is in it is the mail user's.
    func testMarksAndGroupsStayWithTheUserOfTheServer() async throws {
        let test = try await ProviderUnderTest { $0.scopes.append("groups") }
        test.events.owners.withLock { $0 = ["p"] }
        try await test.provider.profiles.proveUserID(alice.userID, at: test.now)
        var change = ProfileChange()
        change.groups = ["staff"]
        _ = try await test.provider.profiles.change(alice.userID, change, at: test.now)
        for user in [alice, projects] {
            let tokens = try await test.redeem(try await test.code(user.text, scope: "openid email groups"))
            let info = try await test.provider.userinfo(tokens.accessToken)
            let isOwn = user == alice
            XCTAssertEqual(info["email"], isOwn ? .string(alice.userID) : nil)
            XCTAssertEqual(info["email_verified"], isOwn ? .bool(true) : nil)
            XCTAssertEqual(info["groups"], .array(isOwn ? [.string("staff")] : []))
        }
    }

    func testTheAccountPageIsForUsersOfTheServer() async throws {
        let test = try await ProviderUnderTest()
        test.events.owners.withLock { $0 = ["p"] }
        let wish = try test.provider.accountRequest(returningTo: "/account/settings", isRecent: false)
        for user in [alice, projects] {
            let login = login(test, user)
            let progress = LoginProgress(fresh: login, isByNumber: false)
            let step = try await test.provider.step(wish, of: .account(name: "x", at: test.now), progress)
            XCTAssertEqual(step, user == alice ? .answer(login) : .noAccess(login))
        }
    }
}
