import MPinOpenID
import MPinStore
import MPinWire
import StoreEngines
import XCTest

/// Tests the ends of browser sessions, and how clients are told of them. Row numbers are those of the checklist by which
/// the provider was built; each comment says what its row demands.
final class LogoutTests: XCTestCase {
    private static let uri = "https://app.example/logged-out"

    private func provider() async throws -> ProviderUnderTest {
        try await ProviderUnderTest { $0.backchannelLogoutURI = try? RedirectURI(Self.uri) }
    }

    private func refreshFault(_ test: ProviderUnderTest, _ answer: TokenAnswer) async throws -> TokenFault.Code? {
        let token = try XCTUnwrap(answer.refreshToken)
        return try await test.fault { try await test.refresh(token) }
    }

    /// Row 67: the end of a session revokes its tokens, but for those with the scope `offline_access`. A code that was
    /// issued before is refused.
    func testRow67TheTokensOfASession() async throws {
        let test = try await provider()
        try test.change("app") { $0.refreshesWithoutOfflineAccess = true }
        let (cookie, session) = try await test.begin()
        let (_, other) = try await test.begin()
        let bound = try await test.redeem(try await test.code(in: session))
        let offline = try await test.redeem(try await test.code(scope: "openid offline_access", in: session))
        let elsewhere = try await test.redeem(try await test.code(in: other))
        // Without refresh tokens a client cannot act while the user is away, even with that scope.
        try test.change("app") { $0.grants = [.authorizationCode] }
        let brief = try await test.redeem(try await test.code(scope: "openid offline_access", in: session))
        try test.change("app") { $0.grants = [.authorizationCode, .refreshToken] }
        let late = [try await test.code(in: session), try await test.code(scope: "openid offline_access", in: session)]
        let notice = try await test.provider.endSession(session.id, by: .user)
        XCTAssertEqual(notice?.sessionID, session.id)
        let (access, refresh) = (try await test.bearerFault(bound.accessToken), try await refreshFault(test, bound))
        let end = try await test.bearerFault(brief.accessToken)
        XCTAssertEqual([access, end], [.invalidToken, .invalidToken])
        XCTAssertEqual(refresh, .invalidGrant)
        for code in late {
            let fault = try await test.fault { try await test.redeem(code) }
            XCTAssertEqual(fault, .invalidGrant)
        }
        let kept = [try await test.bearerFault(offline.accessToken), try await test.bearerFault(elsewhere.accessToken)]
        XCTAssertEqual(kept, [nil, nil])
        let stillRefreshed = try await refreshFault(test, offline)
        XCTAssertNil(stillRefreshed)
        let found = try await test.provider.session(cookie)
        XCTAssertNil(found)
        let isOpen = try await test.provider.sessions.open("app", with: session.id, at: test.now)
        XCTAssertFalse(isOpen)
        let again = try await test.provider.endSession(session.id, by: .user)
        XCTAssertNil(again)
    }

    /// Row 67: refresh tokens without `offline_access` that were used again and again end with the session, too.
    func testRow67TokensThatWereRefreshed() async throws {
        let test = try await provider()
        try test.change("app") { client in
            client.refreshesWithoutOfflineAccess = true
            client.lifetimes.refreshIdle = 60
        }
        let (_, session) = try await test.begin()
        var answer = try await test.redeem(try await test.code(in: session))
        for _ in 0..<5 {
            test.pass(seconds: 50)
            answer = try await test.refresh(try XCTUnwrap(answer.refreshToken))
        }
        _ = try await test.provider.endSession(session.id, by: .user)
        let fault = try await refreshFault(test, answer)
        XCTAssertEqual(fault, .invalidGrant)
    }

    /// Row 67: "everywhere" ends all sessions of the user, and the tokens that outlive sessions. Those of other users
    /// are not affected.
    func testRow67Everywhere() async throws {
        let test = try await provider()
        let (_, one) = try await test.begin()
        let (_, two) = try await test.begin()
        let offline = try await test.redeem(try await test.code(scope: "openid offline_access", in: one))
        let bob = try await test.redeem(try await test.code("bob@example.com", scope: "openid offline_access"))
        let old = try await test.redeem(try await test.code(scope: "openid offline_access"))
        // By now the sessions are forgotten, but not the refresh tokens.
        test.pass(seconds: 12 * 3600)
        let before = try await test.provider.sessions.sessions(of: "alice@example.com", at: test.now)
        XCTAssertEqual(before.count, 0)
        let (_, new) = try await test.begin()
        let notices = try await test.provider.endEverything(of: "alice@example.com", by: .user)
        XCTAssertEqual(notices.map(\.sessionID), [new.id, nil])
        XCTAssertEqual(notices.map(\.clients), [["app"], ["app"]])
        let faults = [try await refreshFault(test, offline), try await refreshFault(test, old)]
        XCTAssertEqual(faults, [.invalidGrant, .invalidGrant])
        let other = try await refreshFault(test, bob)
        XCTAssertNil(other)
        XCTAssertNotEqual(one.id, two.id)
        let nothing = try await test.provider.endEverything(of: "alice@example.com", by: .user)
        XCTAssertEqual(nothing, [])
    }

    /// Ends a session with more tokens than are read or revoked in one step.
    func testRow67ManyTokens() async throws {
        let test = try await ProviderUnderTest()
        let (_, session) = try await test.begin()
        var answers: [TokenAnswer] = []
        for _ in 0..<210 { answers.append(try await test.redeem(try await test.code(in: session))) }
        _ = try await test.provider.endSession(session.id, by: .user)
        for answer in answers {
            let fault = try await test.bearerFault(answer.accessToken)
            XCTAssertEqual(fault, .invalidToken)
        }
    }

    /// Row 67: a server ends a session, and crashes before it has revoked the tokens. Whoever tells the clients of the
    /// logout revokes them.
    func testRow67ACrashBeforeTheTokensAreRevoked() async throws {
        let test = try await provider()
        let (_, session) = try await test.begin()
        let answer = try await test.redeem(try await test.code(in: session))
        let faults = FailingStore.Faults()
        faults.set(["oidc_session_grant"])
        do {
            _ = try await Logouts(in: FailingStore(test.store, faults)).end(session.id, at: test.now)
            XCTFail("nothing has failed")
        } catch is StoreError {}
        let due = try await test.provider.logouts.due(at: test.now)
        XCTAssertEqual(due.count, 1)
        let notice = try await test.provider.logouts.begin(try XCTUnwrap(due.first), at: test.now)
        XCTAssertEqual(notice?.sessionID, session.id)
        let fault = try await test.bearerFault(answer.accessToken)
        XCTAssertEqual(fault, .invalidToken)
    }

    /// When the user enters the PIN again in the same browser, the session goes on with another cookie: the clients that
    /// were opened before know its id. When somebody else logs in, the session ends.
    func testAnotherPINInTheSameBrowser() async throws {
        let test = try await provider()
        let (first, session) = try await test.begin(for: "app")
        let answer = try await test.redeem(try await test.code(in: session))
        test.pass(seconds: 600)
        let (second, renewed) = try await test.begin(for: "phone", replacing: first)
        XCTAssertEqual([renewed.id, renewed.clients.joined(separator: " ")], [session.id, "app phone"])
        XCTAssertGreaterThan(renewed.login.time, session.login.time)
        let (old, new) = (try await test.provider.session(first), try await test.provider.session(second))
        XCTAssertNil(old)
        XCTAssertEqual(new, renewed)
        // Whoever has only the old cookie cannot go on with the session, nor end it.
        let (_, stranger) = try await test.begin(replacing: first)
        XCTAssertNotEqual(stranger.id, session.id)
        let kept = try await test.provider.session(second)
        XCTAssertEqual(kept, renewed)
        let before = try await test.bearerFault(answer.accessToken)
        XCTAssertNil(before)
        let fresh = try await test.redeem(try await test.code(in: renewed))
        let (_, bobs) = try await test.begin("bob@example.com", replacing: second)
        XCTAssertNotEqual(bobs.id, session.id)
        let gone = try await test.provider.sessions.find(session.id, at: test.now)
        XCTAssertNil(gone)
        let after = try await test.bearerFault(fresh.accessToken)
        XCTAssertEqual(after, .invalidToken)
        let due = try await test.provider.logouts.due(at: test.now)
        XCTAssertEqual(due.count, 1)
    }

    /// A phone can end the session that it has begun, once; and if it is faster than the browser, the session never
    /// begins.
    func testAPhoneEndsItsSession() async throws {
        let test = try await provider()
        let (cookie, session) = try await test.begin(phoneKey: "one")
        let (_, renewed) = try await test.begin(replacing: cookie, phoneKey: "two")
        XCTAssertEqual(renewed.id, session.id)
        let unknown = try await test.provider.endSession(phoneKey: "three")
        XCTAssertNil(unknown)
        let notice = try await test.provider.endSession(phoneKey: "one")
        XCTAssertEqual(notice?.sessionID, session.id)
        for key in ["one", "two"] {
            let again = try await test.provider.endSession(phoneKey: key)
            XCTAssertNil(again)
        }
        let login = UserLogin(userID: "alice@example.com", mpinID: "00", time: test.now)
        let late = try await test.provider.beginSession(
            LoginProgress(fresh: login, isByNumber: false, phoneKey: "three"), login, for: "app", replacing: nil)
        XCTAssertNil(late)
    }

    /// Row 66: a logout token has the type `logout+jwt`, `sid` and `sub` of the client, a short life, and no nonce.
    func testRow66TheLogoutToken() async throws {
        let test = try await provider()
        let (_, session) = try await test.begin()
        let idToken = try await test.redeem(try await test.code(in: session, [("nonce", "n")])).idToken
        let ended = try await test.provider.endSession(session.id, by: .user)
        let notice = try XCTUnwrap(ended)
        let made = try await test.provider.logoutToken(notice, for: "app")
        XCTAssertEqual(made?.uri.text, Self.uri)
        let (header, claims) = try decoded(try XCTUnwrap(made).token)
        XCTAssertEqual(header["typ"], .string("logout+jwt"))
        XCTAssertEqual(header["alg"], .string("RS256"))
        let identity = try decoded(idToken).claims
        for name in ["iss", "aud", "sub", "sid"] { XCTAssertEqual(claims[name], identity[name], name) }
        XCTAssertEqual(claims["iat"], .int(test.now.epochSeconds))
        XCTAssertEqual(claims["exp"], .int(test.now.epochSeconds + 120))
        XCTAssertEqual(
            claims["events"], .object(["http://schemas.openid.net/event/backchannel-logout": .object([:])]))
        XCTAssertEqual(
            Set(claims.keys), ["iss", "aud", "sub", "sid", "iat", "exp", "jti", "events"])
        let other = try await test.provider.logoutToken(notice, for: "app")
        XCTAssertNotEqual(try decoded(try XCTUnwrap(other).token).claims["jti"], claims["jti"])
        // A client without such a URL need not be told.
        let none = try await test.provider.logoutToken(notice, for: "phone")
        XCTAssertNil(none)
        // "Everywhere" means the user, not a session.
        _ = try await test.redeem(try await test.code(scope: "openid offline_access"))
        let everywhere = try await test.provider.endEverything(of: "alice@example.com", by: .user)
        let last = try await test.provider.logoutToken(try XCTUnwrap(everywhere.last), for: "app")
        let all = try decoded(try XCTUnwrap(last).token).claims
        XCTAssertNil(all["sid"])
        XCTAssertEqual(all["sub"], claims["sub"])
    }

    /// Row 66: clients that could not be told are tried again after growing pauses, five times in all. Of several
    /// servers only one makes a try.
    func testRow66Tries() async throws {
        let test = try await provider()
        let logouts = test.provider.logouts
        let (_, session) = try await test.begin(for: "app")
        _ = try await test.code(of: "phone", in: session)
        let ended = try await test.provider.endSession(session.id, by: .user)
        let key = try XCTUnwrap(ended).key
        let begun = try await logouts.begin(key, at: test.now)
        let first = try XCTUnwrap(begun)
        XCTAssertEqual(first.clients, ["app", "phone"])
        let twice = try await logouts.begin(key, at: test.now)
        XCTAssertNil(twice)
        try await logouts.settle(first, told: ["app"], at: test.now)
        for pause in [5, 30, 120, 600] {
            test.pass(seconds: pause - 1)
            let early = try await logouts.due(at: test.now)
            XCTAssertEqual(early, [], "\(pause)")
            test.pass(seconds: 1)
            let due = try await logouts.due(at: test.now)
            XCTAssertEqual(due, [key], "\(pause)")
            let next = try await logouts.begin(key, at: test.now)
            let notice = try XCTUnwrap(next)
            XCTAssertEqual(notice.clients, ["phone"])
            XCTAssertEqual(notice.isLastTry, pause == 600)
            try await logouts.settle(notice, told: [], at: test.now)
        }
        test.pass(seconds: 3600)
        let left = try await logouts.due(at: test.now)
        XCTAssertEqual(left, [])
    }

    /// If the server that makes a try crashes, another one makes it again. What the session's end had not yet revoked is
    /// revoked then.
    func testRow66ATryThatWasNotFinished() async throws {
        let test = try await provider()
        let (_, session) = try await test.begin()
        let ended = try await test.provider.endSession(session.id, by: .user)
        let key = try XCTUnwrap(ended).key
        let lost = try await test.provider.logouts.begin(key, at: test.now)
        XCTAssertEqual(lost?.tries, 1)
        test.pass(seconds: LogoutNotice.tryingSeconds)
        let again = try await test.provider.logouts.begin(key, at: test.now)
        XCTAssertEqual(again?.tries, 2)
        try await test.provider.logouts.settle(try XCTUnwrap(again), told: ["app"], at: test.now)
        test.pass(seconds: 3600)
        let due = try await test.provider.logouts.due(at: test.now)
        XCTAssertEqual(due, [])
    }

    /// Row 68: a relying party that fetches the keys as rarely as it may, verifies every token, while the operator
    /// rotates the keys again and again.
    func testRow68NoUnknownKeyWhileRotating() async throws {
        let test = try await ProviderUnderTest()
        let keys = test.provider.keys
        func names() -> Set<String> { Set(keys.signers.map(\.kid)) }
        var (known, fetched, used) = (names(), test.now, Set<String>())
        var tokens: [String] = []
        for round in 0..<60 {
            if round % 2 == 0 { try await keys.rotate(at: test.now) } else { try await keys.refresh(at: test.now) }
            if fetched.adding(seconds: SigningKeys.cacheSeconds) <= test.now { (known, fetched) = (names(), test.now) }
            let answer = try await test.redeem(try await test.code())
            let idToken = try XCTUnwrap(answer.idToken)
            for token in [idToken, answer.accessToken] {
                guard case .string(let kid)? = try decoded(token).header["kid"] else { return XCTFail("no kid") }
                XCTAssertTrue(known.contains(kid), "round \(round)")
                used.insert(kid)
            }
            tokens.append(idToken)
            test.pass(seconds: 1500)
        }
        XCTAssertGreaterThan(used.count, 15)
        // All of them can still be verified, because the old keys are kept until the last token has ended.
        for token in tokens {
            XCTAssertNoThrow(try JWT.verified(token, .rs256, type: "JWT", by: keys.signers))
        }
    }
}
