import MPinOpenID
import MPinStore
import StoreEngines
import XCTest

/// Tests browser sessions, consents, login transactions and the discovery document. Row numbers are those of the
/// checklist by which the provider was built; each comment says what its row demands.
final class SessionTests: XCTestCase {
    private let start = Moment(microseconds: 1_800_000_000_000_000)
    private let login = UserLogin(userID: "u", mpinID: "00", time: Moment(microseconds: 1))

    /// A session ends after an hour without use, and after ten hours in any case.
    func testASessionEnds() async throws {
        let sessions = BrowserSessions(in: RepeatingStore(MemoryStore()))
        let (cookie, session) = try await begin(sessions)
        var now = start
        for _ in 0..<11 {
            now = now.adding(seconds: 3240)
            let found = try await sessions.session(cookie, at: now)
            XCTAssertEqual(found?.id, session.id)
            let isOpen = try await sessions.open("app", with: session.id, at: now)
            XCTAssertTrue(isOpen)
        }
        let last = try await sessions.session(cookie, at: start.adding(seconds: 36_000))
        XCTAssertNil(last)
        let (idle, other) = try await begin(sessions)
        let over = try await sessions.session(idle, at: start.adding(seconds: 3600))
        XCTAssertNil(over)
        let isOpen = try await sessions.open("app", with: other.id, at: start.adding(seconds: 3600))
        XCTAssertFalse(isOpen)
        // It opens nothing more, but a logout still finds it, to tell its clients.
        let remembered = try await sessions.remembered(idle, at: start.adding(seconds: 3600))
        XCTAssertEqual(remembered?.id, other.id)
        let forgotten = try await sessions.remembered(idle, at: start.adding(seconds: 11 * 3600))
        XCTAssertNil(forgotten)
    }

    private func begin(_ sessions: BrowserSessions) async throws -> (SessionCookie, BrowserSession) {
        let begun = try await sessions.begin(login, at: start)
        return try XCTUnwrap(begun)
    }

    private func request(_ state: String) throws -> AuthorizationRequest {
        var client = Client(id: "app", name: "App", created: start)
        client.redirectURIs = [try RedirectURI("https://app.example/cb")]
        let form = "client_id=app&redirect_uri=https://app.example/cb&response_type=code&scope=openid&state="
        let parameters = try XCTUnwrap(RequestParameters(form + state))
        guard case .accepted(let request) = AuthorizationRequest.read(parameters, of: client) else {
            return try XCTUnwrap(nil, "refused")
        }
        return request
    }

    /// Row 6: the request of a client that shows the QR code itself is given once, so only one caller makes a code for
    /// it. After half an hour it is gone.
    func testRow6AKeptRequestIsGivenOnce() async throws {
        let logins = LoginTransactions(in: RepeatingStore(MemoryStore()))
        for name in ["one", "two"] {
            try await logins.keep(try request(name), webOTT: name, wid: "w" + name, at: start)
        }
        let foreign = try await logins.take(webOTT: "three", at: start)
        XCTAssertNil(foreign)
        let first = try await logins.take(webOTT: "one", at: start.adding(seconds: 1799))
        XCTAssertEqual(first?.address.state, "one")
        let second = try await logins.take(webOTT: "one", at: start.adding(seconds: 1799))
        XCTAssertNil(second)
        let late = try await logins.take(webOTT: "two", at: start.adding(seconds: 1800))
        XCTAssertNil(late)
    }

    /// Row 23: a login transaction can be used only in the browser in which it began.
    func testRow23ALoginBelongsToItsBrowser() async throws {
        let logins = LoginTransactions(in: RepeatingStore(MemoryStore()))
        let (mine, other) = (try OpaqueToken.random(), try OpaqueToken.random())
        var ids: [OpaqueToken] = []
        for state in ["one", "two"] {
            ids.append(try await logins.begin(try request(state), LoginProgress(), in: mine, at: start))
        }
        for (id, state) in zip(ids, ["one", "two"]) {
            let found = try await logins.transaction(id, in: mine, at: start)
            XCTAssertEqual(found?.request.address.state, state)
            let foreign = try await logins.transaction(id, in: other, at: start)
            XCTAssertNil(foreign)
            let change = try await logins.change(id, in: other, at: start) { $0.webOTT = "x" }
            XCTAssertNil(change)
            let late = try await logins.transaction(id, in: mine, at: start.adding(seconds: 1800))
            XCTAssertNil(late)
        }
        let first = try await logins.end(ids[0], at: start)
        let second = try await logins.end(ids[0], at: start)
        XCTAssertEqual([first, second], [true, false])
    }

    /// A user is asked once for scopes, and again when the client wants more.
    func testConsentsAreRemembered() async throws {
        let consents = Consents(in: RepeatingStore(MemoryStore()))
        let (app, other) = (
            Client(id: "app", name: "App", created: start), Client(id: "other", name: "Other", created: start)
        )
        try await consents.allow(["openid", "email"], of: app, by: "u", at: start)
        try await consents.allow(["openid", "profile"], of: app, by: "u", at: start)
        let cases: [([String], Client, String, Bool)] = [
            (["openid", "email", "profile"], app, "u", true), (["openid", "offline_access"], app, "u", false),
            (["openid"], other, "u", false), (["openid"], app, "v", false),
        ]
        for (scopes, client, user, isCovered) in cases {
            let covers = try await consents.cover(scopes, of: client, by: user, at: start)
            XCTAssertEqual(covers, isCovered, "\(scopes) \(client.id) \(user)")
        }
    }

    /// Rows 2 to 5: the discovery document lists what the provider has, and says that it does not support request URIs.
    func testRows2To5Discovery() async throws {
        let test = try await ProviderUnderTest()
        let metadata = test.provider.metadata(languages: ["en"])
        XCTAssertEqual(metadata["issuer"], .string("https://id.example"))
        XCTAssertEqual(metadata["request_uri_parameter_supported"], .bool(false))
        XCTAssertEqual(metadata["response_types_supported"], .array([.string("code")]))
        XCTAssertEqual(metadata["id_token_signing_alg_values_supported"], .array([.string("RS256")]))
        XCTAssertEqual(
            metadata["grant_types_supported"], .array(Client.Grant.allCases.map { .string($0.rawValue) }))
        XCTAssertEqual(metadata["token_endpoint"], .string("https://id.example/oidc/token"))
        XCTAssertEqual(metadata["end_session_endpoint"], .string("https://id.example/oidc/logout"))
        XCTAssertEqual(metadata["backchannel_logout_supported"], .bool(true))
        XCTAssertEqual(metadata["backchannel_logout_session_supported"], .bool(true))
        XCTAssertEqual(metadata["revocation_endpoint"], .string("https://id.example/oidc/revoke"))
        XCTAssertEqual(metadata["introspection_endpoint"], .string("https://id.example/oidc/introspect"))
        XCTAssertEqual(metadata["device_authorization_endpoint"], .string("https://id.example/oidc/device"))
        // A public client cannot ask about tokens, so that method is not listed there.
        XCTAssertEqual(
            metadata["introspection_endpoint_auth_methods_supported"],
            .array([.string("client_secret_basic"), .string("client_secret_post")]))
        XCTAssertNil(metadata["registration_endpoint"])
    }
}
