import MPinOpenID
import MPinSecrets
import MPinStore
import XCTest

/// Tests clients' requests to log a user out. Row numbers are those of the checklist by which the provider was built;
/// each comment says what its row demands.
final class LogoutRequestTests: XCTestCase {
    private static let back = "https://app.example/out?x=1"

    private func provider() async throws -> ProviderUnderTest {
        try await ProviderUnderTest { $0.postLogoutURIs = (try? [RedirectURI(Self.back)]) ?? [] }
    }

    /// Returns an ID token of a session, and the browser's cookie.
    private func login(
        _ test: ProviderUnderTest, _ user: String = "alice@example.com"
    ) async throws -> (hint: String, cookie: SessionCookie, session: BrowserSession) {
        let (cookie, session) = try await test.begin(user)
        let idToken = try await test.redeem(try await test.code(user, in: session)).idToken
        return (try XCTUnwrap(idToken), cookie, session)
    }

    private func read(_ test: ProviderUnderTest, _ members: [(String, String)]) async throws -> LogoutRequest {
        let parameters = try XCTUnwrap(RequestParameters(RequestParameters.query(members)))
        return try await test.provider.readLogout(parameters)
    }

    /// Returns why a request is refused. Nil if it is not.
    private func fault(_ test: ProviderUnderTest, _ members: [(String, String)]) async throws -> LogoutFault? {
        do {
            _ = try await read(test, members)
            return nil
        } catch let fault as LogoutFault { return fault }
    }

    /// Row 63: an ID token of the browser's session, also an expired one, ends the session without a question, and the
    /// browser goes to the registered URI with `state`.
    func testRow63AGoodHint() async throws {
        let test = try await provider()
        let (hint, cookie, session) = try await login(test)
        // The ID token has expired, and the session opens no clients any more.
        test.pass(seconds: 2 * 3600)
        let members = [("id_token_hint", hint), ("post_logout_redirect_uri", Self.back), ("state", "a &b")]
        let request = try await read(test, members)
        XCTAssertTrue(request.hasHint)
        XCTAssertEqual(request.location, Self.back + "&state=a%20%26b")
        let step = try await test.provider.step(request, cookie)
        XCTAssertEqual(step, .end(session))
        _ = try await test.provider.endSession(session.id, by: .client)
        // The session is gone, and the same request leads back all the same.
        let again = try await test.provider.step(try await read(test, members), cookie)
        XCTAssertEqual(again, .nothing)
        let bare = try await read(test, [("id_token_hint", hint), ("post_logout_redirect_uri", Self.back)])
        XCTAssertEqual(bare.location, Self.back)
    }

    /// Row 64: without a hint, or with that of another session or user, the person at the browser is asked.
    func testRow64WhoIsAsked() async throws {
        let test = try await provider()
        let (hint, cookie, session) = try await login(test)
        let (foreignHint, foreignCookie, _) = try await login(test, "bob@example.com")
        let (otherHint, _, _) = try await login(test)
        let uri = ("post_logout_redirect_uri", Self.back)
        for members in [
            [], [uri], [("client_id", "app"), uri], [("id_token_hint", foreignHint), uri],
            [("id_token_hint", otherHint), uri], [("state", "s")],
        ] {
            let step = try await test.provider.step(try await read(test, members), cookie)
            XCTAssertEqual(step, .question(session), "\(members)")
        }
        // Without a hint, an unknown client has no place to go back to; a known one has.
        let (nobody, known) = (try await read(test, [uri]), try await read(test, [("client_id", "app"), uri]))
        XCTAssertEqual([nobody.location, known.location], [nil, Self.back])
        XCTAssertFalse(known.hasHint)
        // Nobody is asked who is not logged in.
        let stranger = try XCTUnwrap(SessionCookie(cookie.id + foreignCookie.text.dropFirst(43)))
        for other in [nil, stranger] {
            let step = try await test.provider.step(try await read(test, [("id_token_hint", hint), uri]), other)
            XCTAssertEqual(step, .nothing)
        }
    }

    /// Row 64: a hint that is not an ID token of ours is refused.
    func testRow64HintsThatAreNone() async throws {
        let (test, other) = (try await provider(), try await provider())
        let (hint, _, session) = try await login(test)
        let (foreign, _, _) = try await login(other)
        let tokens = try await test.redeem(try await test.code(in: session))
        let notice = try await test.provider.endSession(session.id, by: .client)
        try test.change("app") { $0.backchannelLogoutURI = try? RedirectURI("https://app.example/bye") }
        let logout = try await test.provider.logoutToken(try XCTUnwrap(notice), for: "app")
        let parts = hint.split(separator: ".")
        let none = Base64URL.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8))
        for wrong in [
            "x", foreign, tokens.accessToken, try XCTUnwrap(logout).token, "\(none).\(parts[1]).",
            "\(parts[0]).\(parts[1]).AAAA", String(hint.dropLast()),
        ] {
            let fault = try await fault(
                test, [("id_token_hint", wrong), ("client_id", "app"), ("post_logout_redirect_uri", Self.back)])
            XCTAssertEqual(fault, .foreignHint, wrong)
        }
    }

    /// Row 65: `client_id` must be the audience of the hint.
    func testRow65TheClientOfTheHint() async throws {
        let test = try await provider()
        let (hint, _, _) = try await login(test)
        let other = try await fault(test, [("id_token_hint", hint), ("client_id", "phone")])
        XCTAssertEqual(other, .foreignHint)
        let same = try await fault(test, [("id_token_hint", hint), ("client_id", "app")])
        XCTAssertNil(same)
        let unknown = try await fault(test, [("client_id", "nobody")])
        XCTAssertEqual(unknown, .unknownClient)
        try test.change("app") { $0.isDisabled = true }
        let disabled = try await fault(test, [("id_token_hint", hint)])
        XCTAssertEqual(disabled, .unknownClient)
    }

    /// Rows 64 and 72: the browser goes nowhere but to a URI that the client has registered for this.
    func testRow72URIsThatAreNotRegistered() async throws {
        let test = try await provider()
        let (hint, _, _) = try await login(test)
        for wrong in [
            Self.back + "&y=2", "https://app.example/out", Self.back + "/", "https://app.example/OUT?x=1",
            "https://APP.example/out?x=1", "http://app.example/out?x=1", "https://app.example:443/out?x=1",
            "//evil.example", "\\\\evil.example", "https://app.example@evil.example/out?x=1", "https://evil.example",
            "https://app.example/out?x=1#", "javascript:alert(1)", ProviderUnderTest.uri, "/out?x=1", "x",
        ] {
            for members in [[("id_token_hint", hint)], [("client_id", "app")]] {
                let fault = try await fault(test, members + [("post_logout_redirect_uri", wrong)])
                XCTAssertEqual(fault, .foreignURI(wrong), wrong)
            }
        }
    }

    /// A parameter that is sent twice, and a `state` that is too long, are refused.
    func testRequestsThatAreNone() async throws {
        let test = try await provider()
        let (hint, _, _) = try await login(test)
        let whole = [
            ("id_token_hint", hint), ("client_id", "app"), ("post_logout_redirect_uri", Self.back), ("state", "s"),
        ]
        for member in whole {
            let twice = try await fault(test, whole + [member])
            XCTAssertEqual(twice, .unreadable, member.0)
        }
        let long = try await fault(test, [("state", String(repeating: "x", count: 2049))])
        let right = try await fault(test, [("state", String(repeating: "x", count: 2048))])
        XCTAssertEqual([long, right], [.unreadable, nil])
    }
}
