import MPinOpenID
import MPinStore
import StoreEngines
import XCTest

/// Tests the rules of forward authentication. `host` protects `https://host.example`, and `other` another host. Row
/// numbers are those of the checklist by which the provider was built; each comment says what its row demands.
final class ForwardAuthTests: XCTestCase {
    private static let origin = "https://host.example"
    private var test: ProviderUnderTest!
    private var rules: ForwardAuth!
    private var host: Client!
    private var other: Client!

    override func setUp() async throws {
        let host = try Self.client("host", Self.origin)
        // The provider under test knows two clients, of which this is one.
        test = try await ProviderUnderTest { app in app = host }
        let registry = ClientRegistry(in: test.store)
        other = try Self.client("other", "https://other.example")
        self.host = host
        for client in [host, other!] { try await registry.add(client, at: test.now) }
        rules = ForwardAuth(test.provider, registry, durable: test.store, shortLived: test.store)
    }

    private static func client(_ id: String, _ origin: String) throws -> Client {
        var client = Client(id: id, name: id, created: Moment(microseconds: 1_800_000_000_000_000))
        try ClientChangeTests.change(["forward-auth": [origin]]).apply(to: &client)
        return client
    }

    /// A browser that has a session at the provider, and has begun a login at a host.
    private struct Browser {
        let session: BrowserSession
        let begun: ForwardAuth.Begun
        /// The provider's answer, which the browser brings to the callback.
        var answer: [(String, String)]
    }

    private func browser(_ user: String = "alice@example.com", to path: String = "/") async throws -> Browser {
        let login = UserLogin(userID: user, mpinID: "00", time: test.now)
        let begunSession = try await test.provider.sessions.begin(login, at: test.now)
        let session = try XCTUnwrap(begunSession).1
        let begun = try await rules.begin(at: host, returningTo: ReturnPath(path))
        let query = try XCTUnwrap(begun.location.split(separator: "?", maxSplits: 1).last)
        XCTAssertTrue(begun.location.hasPrefix("https://id.example/authorize?"))
        let reading = try await test.provider.read(try XCTUnwrap(RequestParameters(String(query)))).reading
        guard case .accepted(let request) = reading else { throw ProviderUnderTest.Failure(text: "\(reading)") }
        let answer = try await test.provider.answer(request, login, sessionID: session.id)
        return Browser(session: session, begun: begun, answer: answer)
    }

    private func finish(
        _ browser: Browser, _ answer: [(String, String)]? = nil, with cookie: OpaqueToken? = nil,
        at client: Client? = nil
    ) async throws -> ForwardAuth.Outcome {
        let parameters = try XCTUnwrap(RequestParameters(RequestParameters.query(answer ?? browser.answer)))
        return try await rules.finish(
            parameters, state: browser.begun.state, browser: cookie ?? browser.begun.browser, at: client ?? host)
    }

    /// Returns the cookie of a new session at the host.
    private func entered(_ browser: Browser) async throws -> OpaqueToken {
        let outcome = try await finish(browser)
        guard case .loggedIn(let cookie, _) = outcome else { throw ProviderUnderTest.Failure(text: "\(outcome)") }
        return cookie
    }

    private func user(_ cookie: OpaqueToken, at client: Client? = nil) async throws -> String? {
        try await rules.user(cookie, at: client ?? host)?.id
    }

    func testALogin() async throws {
        let browser = try await browser(to: "/a?b")
        let outcome = try await finish(browser)
        guard case .loggedIn(let cookie, let path) = outcome else { return XCTFail("\(outcome)") }
        XCTAssertEqual(path.text, "/a?b")
        let user = try await rules.user(cookie, at: host)
        XCTAssertEqual([user?.id, user?.name, user?.email], Array(repeating: "alice@example.com", count: 3))
        let elsewhere = try await self.user(cookie, at: other)
        XCTAssertNil(elsewhere)
        let stranger = try await self.user(.random())
        XCTAssertNil(stranger)
    }

    /// Row 23: a callback is good once, in the browser that began the login, at the host where it began.
    func testRow23ACallbackIsGoodOnceAndInOneBrowser() async throws {
        let (mine, foreign) = (try await browser(), try await browser("eve@example.com"))
        for outcome in [
            try await finish(mine, with: foreign.begun.browser), try await finish(mine, at: other),
            try await finish(mine, mine.answer.filter { $0.0 != "iss" }),
            try await finish(mine, mine.answer.map { $0.0 == "iss" ? ("iss", "https://evil.example") : $0 }),
            try await finish(mine, mine.answer + [("code", "x")]),
        ] {
            guard case .unknown = outcome else { return XCTFail("\(outcome)") }
        }
        _ = try await entered(mine)
        guard case .unknown = try await finish(mine) else { return XCTFail("it was good twice") }
    }

    /// The code of another browser's login is refused (login CSRF), and so is an error of the provider.
    func testACodeIsBoundToTheBrowser() async throws {
        let (mine, foreign) = (try await browser(), try await browser("eve@example.com"))
        guard case .refused = try await finish(mine, foreign.answer) else { return XCTFail("a foreign code") }
        let declined = try await browser(to: "/x")
        let answer = [("error", "access_denied"), ("iss", ProviderUnderTest.issuer)]
        guard case .refused(let path) = try await finish(declined, answer) else { return XCTFail("an error") }
        XCTAssertEqual(path.text, "/x")
        let late = try await browser()
        test.pass(seconds: Codes.seconds)
        guard case .refused = try await finish(late) else { return XCTFail("an old code") }
    }

    /// The end of the session at the provider ends that of the host, whatever ends it.
    func testTheSessionEndsWithThatOfTheProvider() async throws {
        let ended = try await browser()
        let first = try await entered(ended)
        _ = try await test.provider.endSession(ended.session.id, by: .user)
        let afterLogout = try await user(first)
        XCTAssertNil(afterLogout)
        let second = try await entered(try await browser("bob@example.com"))
        _ = test.events.revoked.withLock { $0.insert("bob@example.com") }
        let afterRevocation = try await user(second)
        XCTAssertNil(afterRevocation)
        let over = try await browser()
        _ = try await test.provider.endSession(over.session.id, by: .user)
        guard case .refused = try await finish(over) else { return XCTFail("the session was over before") }
    }

    /// Only users and groups that the operator has named may see a host, by the groups that they are in at each request.
    func testOnlyThoseWhoMaySeeTheHost() async throws {
        func put(_ groups: [String]) async throws {
            var change = ProfileChange()
            change.groups = groups
            _ = try await test.provider.profiles.change("alice@example.com", change, at: test.now)
        }
        let cookie = try await entered(try await browser())
        let late = try await browser()
        host.allowedGroups = ["staff"]
        let excluded = try await user(cookie)
        XCTAssertNil(excluded)
        guard case .refused = try await finish(late) else { return XCTFail("she is not in the group") }
        try await put(["staff"])
        let member = try await user(cookie)
        XCTAssertEqual(member, "alice@example.com")
        try await put([])
        let left = try await user(cookie)
        XCTAssertNil(left)
        host.allowedUsers = ["alice@example.com"]
        let named = try await user(cookie)
        XCTAssertEqual(named, "alice@example.com")
    }

    /// Requests at the host are uses of the session at the provider: it ends an hour after the last, and after ten
    /// hours in any case.
    func testRequestsExtendTheSession() async throws {
        let browser = try await browser()
        let cookie = try await entered(browser)
        for _ in 0..<11 {
            test.pass(seconds: 3240)
            let inside = try await user(cookie)
            XCTAssertEqual(inside, "alice@example.com")
        }
        test.pass(seconds: 360)
        let afterTenHours = try await user(cookie)
        XCTAssertNil(afterTenHours)
        let idle = try await entered(try await self.browser())
        test.pass(seconds: 3600)
        let afterAnHour = try await user(idle)
        XCTAssertNil(afterAnHour)
    }

    /// The session at the provider is extended at most once a minute, because a page consists of many requests.
    func testRequestsExtendTheSessionOnceAMinute() async throws {
        let cookie = try await entered(try await browser())
        func used() async throws -> Moment? {
            try await test.provider.liveSessions(of: "alice@example.com").first?.used
        }
        for (seconds, isExtended) in [(0, false), (59, false), (1, true), (59, false), (1, true)] {
            let before = try await used()
            test.pass(seconds: seconds)
            _ = try await user(cookie)
            let after = try await used()
            XCTAssertEqual(after, isExtended ? test.now : before, "\(seconds)")
        }
    }

    /// Row 72: a browser is led to a path of the host and nowhere else.
    func testRow72ReturnPaths() {
        for text in ["/", "/a", "/a/b?c=d&e=%2F", "//evil.example", "/@evil.example"] {
            XCTAssertEqual(ReturnPath(text).text, text)
        }
        for text in [
            nil, "", "a", "https://evil.example/", "@evil.example", ".evil.example", ":80/", "/\\evil.example", "/a b",
            "/\r\nX: y", "/\u{e4}", "/" + String(repeating: "x", count: 2048),
        ] {
            XCTAssertEqual(ReturnPath(text), .start, text ?? "nil")
        }
    }

    /// A host is found as soon as it is registered, and not any more when it is disabled or has another origin.
    func testHostsAreFound() async throws {
        let registry = ClientRegistry(in: test.store)
        func found(_ origin: String) async throws -> String? {
            try await rules.client(try XCTUnwrap(WebOrigin(origin)))?.id
        }
        let known = try await found(Self.origin)
        XCTAssertEqual(known, "host")
        for stranger in ["http://127.0.0.1", "https://host.example:444", "https://evil.example"] {
            let unknown = try await found(stranger)
            XCTAssertNil(unknown)
        }
        try await registry.add(try Self.client("new", "https://new.example"), at: test.now)
        let new = try await found("https://new.example")
        XCTAssertEqual(new, "new")
        let moved = try ClientChangeTests.change(["forward-auth": ["https://moved.example"]])
        _ = try await registry.change("new", moved, at: test.now)
        let old = try await found("https://new.example")
        XCTAssertNil(old)
        let away = try await found("https://moved.example")
        XCTAssertEqual(away, "new")
        _ = try await registry.change("new", try ClientChangeTests.change(["disabled": ["true"]]), at: test.now)
        let disabled = try await found("https://moved.example")
        XCTAssertNil(disabled)
    }

    /// One client protects a host, and the client of a protected host follows from the host's name.
    func testRegistration() async throws {
        XCTAssertEqual(host.redirectURIs.map(\.text), ["https://host.example/auth/callback"])
        XCTAssertTrue(host.isFirstParty && host.isPublic && host.mustUsePKCE)
        XCTAssertEqual(try Client(stored: try host.stored()), host)
        XCTAssertEqual(try Self.client("bare", "host.example").protectedOrigin, host.protectedOrigin)
        for wrong in [
            "", "http://host.example", "https://host.example/", "host.example/x", "https://Host.example",
            "a@host.example",
            "https://host.example:443", "com.example.app:/x",
        ] {
            XCTAssertThrowsError(try Self.client("x", wrong), wrong)
        }
        var change = try ClientChangeTests.change(["forward-auth": ["h.example"]])
        change.set(try XCTUnwrap(ClientMember.named("redirect-uri")), ["https://h.example/cb"])
        var client = Client(id: "x", name: "x", created: test.now)
        XCTAssertThrowsError(try change.apply(to: &client))
        let registry = ClientRegistry(in: test.store)
        let twin = try Self.client("twin", Self.origin)
        await refuses(.sameOrigin(Self.origin, "host")) { try await registry.add(twin, at: self.test.now) }
        let same = try ClientChangeTests.change(["forward-auth": [Self.origin]])
        await refuses(.sameOrigin(Self.origin, "host")) {
            _ = try await registry.change("other", same, at: self.test.now)
        }
        let file = try ClientsFile(
            "- {id: twin, forward-auth: host.example}", path: "clients.yaml", at: test.now)
        do {
            try await ClientRegistry(in: test.store, file: file).requireSingleIDs(at: test.now)
            XCTFail("two clients protect one host")
        } catch let error as ClientsFileError {
            XCTAssertEqual("\(error)", "clients.yaml:1: twin: \(Self.origin) is that of the client host already")
        }
    }

    private func refuses(_ fault: ClientRegistryFault, _ work: () async throws -> Void) async {
        do {
            try await work()
            XCTFail("\(fault) was not thrown")
        } catch { XCTAssertEqual(error as? ClientRegistryFault, fault) }
    }

    /// The token endpoint does not redeem the codes of a protected host: only this server does.
    func testTheTokenEndpointRefuses() async throws {
        let browser = try await browser()
        let code = try XCTUnwrap(browser.answer.first { $0.0 == "code" }?.1)
        let members = [
            ("grant_type", "authorization_code"), ("code", code), ("client_id", "host"),
            ("redirect_uri", "https://host.example/auth/callback"), ("code_verifier", browser.begun.browser.text),
        ]
        let parameters = try XCTUnwrap(RequestParameters(RequestParameters.query(members)))
        let fault = try await test.fault { try await self.test.provider.token(parameters, header: nil) }
        XCTAssertEqual(fault, .unauthorizedClient)
        _ = try await entered(browser)
    }
}
