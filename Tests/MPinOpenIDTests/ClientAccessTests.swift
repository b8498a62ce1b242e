import MPinOpenID
import MPinStore
import XCTest

/// Tests who may use a client: everybody, or the users and groups that the operator has named.
final class ClientAccessTests: XCTestCase {
    private let alice = "alice@example.com"

    /// Returns what happens after a user has logged in to the client `app`.
    private func step(_ test: ProviderUnderTest, _ user: String, prompt: String = "login") async throws
        -> AuthorizationStep
    {
        let query = RequestParameters.query([
            ("client_id", "app"), ("redirect_uri", ProviderUnderTest.uri), ("response_type", "code"),
            ("scope", "openid"), ("prompt", prompt),
        ])
        let reading = try await test.provider.read(try XCTUnwrap(RequestParameters(query))).reading
        guard case .accepted(let request) = reading else { throw ProviderUnderTest.Failure(text: "\(reading)") }
        let progress = LoginProgress(fresh: login(test, user), isByNumber: false)
        return try await test.provider.step(request, of: test.client(), progress)
    }

    private func login(_ test: ProviderUnderTest, _ user: String) -> UserLogin {
        UserLogin(userID: user, mpinID: "00", time: test.now)
    }

    private func put(_ user: String, into groups: [String], _ test: ProviderUnderTest) async throws {
        var change = ProfileChange()
        change.groups = groups
        _ = try await test.provider.profiles.change(user, change, at: test.now)
    }

    func testWithoutNamesEverybodyMay() async throws {
        let test = try await ProviderUnderTest()
        let anybody = try await step(test, alice)
        XCTAssertEqual(anybody, .answer(login(test, alice)))
    }

    func testOnlyTheNamedUsersMay() async throws {
        let test = try await ProviderUnderTest { $0.allowedUsers = ["bob@example.com", "Zo\u{e9}"] }
        for user in ["bob@example.com", "Zo\u{e9}", "Zoe\u{301}"] {
            let found = try await step(test, user)
            XCTAssertEqual(found, .answer(login(test, user)), user)
        }
        for user in [alice, "Bob@example.com", "bob@example.com ", "Zoe", ""] {
            let found = try await step(test, user)
            XCTAssertEqual(found, .noAccess(login(test, user)), user)
        }
        let silent = try await step(test, alice, prompt: "none")
        XCTAssertEqual(silent, .refusal(.noAccess))
    }

    func testOnlyTheNamedGroupsMay() async throws {
        let test = try await ProviderUnderTest {
            $0.allowedGroups = ["staff", "admins"]
            $0.allowedUsers = ["bob@example.com"]
        }
        for (groups, mayUse) in [
            ([], false), (["Staff"], false), (["staff members"], false), (["guests", "admins"], true),
            (["staff"], true), ([], false),
        ] {
            try await put(alice, into: groups, test)
            let found = try await step(test, alice)
            XCTAssertEqual(found, mayUse ? .answer(login(test, alice)) : .noAccess(login(test, alice)), "\(groups)")
        }
        let named = try await step(test, "bob@example.com")
        XCTAssertEqual(named, .answer(login(test, "bob@example.com")))
    }

    /// The rule holds for tokens, too, from the moment at which a user leaves the group, and until the user is back.
    func testTheRuleHoldsForTokens() async throws {
        let test = try await ProviderUnderTest {
            $0.allowedGroups = ["staff"]
            $0.audiences = [ProviderUnderTest.api]
        }
        try await put(alice, into: ["staff"], test)
        let tokens = try await test.redeem(try await test.code(scope: "openid offline_access"))
        let (access, refresh) = (tokens.accessToken, try XCTUnwrap(tokens.refreshToken))
        let late = try await test.code()
        let before = try await test.bearerFault(access)
        XCTAssertNil(before)
        try await put(alice, into: [], test)
        let bearer = try await test.bearerFault(access)
        XCTAssertEqual(bearer, .invalidToken)
        for id in ["app", "api"] {
            let isActive = try await test.isActive(access, by: id)
            XCTAssertFalse(isActive, id)
        }
        let isActive = try await test.isActive(refresh)
        XCTAssertFalse(isActive)
        let refreshed = try await test.fault { try await test.refresh(refresh) }
        XCTAssertEqual(refreshed, .invalidGrant)
        let redeemed = try await test.fault { try await test.redeem(late) }
        XCTAssertEqual(redeemed, .invalidGrant)
        try await put(alice, into: ["staff"], test)
        let after = try await test.bearerFault(access)
        XCTAssertNil(after)
        _ = try await test.refresh(refresh)
    }

    /// What an operator may name: user ids as they are registered, and groups as in a profile.
    func testWhatCanBeNamed() throws {
        func fault(_ member: String, _ text: String) -> String {
            var client = Client(id: "shop", name: "shop", created: Moment(microseconds: 0))
            do {
                try ClientChangeTests.change(["redirect-uri": ["https://shop.example/cb"], member: [text]])
                    .apply(to: &client)
            } catch { return "\(error)" }
            return ""
        }
        for text in ["alice@example.com", "Zo\u{e9} M\u{fc}ller", "a, b", String(repeating: "x", count: 1000)] {
            XCTAssertEqual(fault("allow-user", text), "")
        }
        for text in ["a\u{202e}b", "a\nb", String(repeating: "x", count: 1001)] {
            XCTAssertEqual(fault("allow-user", text), "allow-user \(text): is no user id")
        }
        for text in ["staff", "team 7"] { XCTAssertEqual(fault("allow-group", text), "") }
        for text in ["a,b", "\u{e9}quipe", " staff", String(repeating: "x", count: 101)] {
            XCTAssertEqual(
                fault("allow-group", text),
                "allow-group \(text): is no group: 1 to 100 ASCII characters, and no comma")
        }
    }
}
