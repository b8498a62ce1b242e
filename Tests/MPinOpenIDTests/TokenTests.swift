import MPinOpenID
import MPinSecrets
import MPinWire
import XCTest

/// Tests codes and the tokens that they are redeemed for. Row numbers are those of the checklist by which the provider
/// was built; each comment says what its row demands.
final class TokenTests: XCTestCase {
    /// Row 38: a code is refused with another verifier, redirect URI or client. Row 37: it is also refused if it is
    /// unknown. Row 36: a verifier is refused if the authorization request had no challenge.
    func testRows36To38ACodeIsBound() async throws {
        let test = try await ProviderUnderTest()
        let code = try await test.code()
        let wrong = ProviderUnderTest.challenge
        let faults = [
            try await test.fault { try await test.redeem(code, verifier: nil) },
            try await test.fault { try await test.redeem(code, verifier: wrong) },
            try await test.fault { try await test.redeem(code, uri: ProviderUnderTest.uri + "2") },
            try await test.fault { try await test.redeem(code, by: "phone", uri: ProviderUnderTest.uri) },
            try await test.fault { try await test.redeem((code.first == "x" ? "y" : "x") + code.dropFirst()) },
            try await test.fault { try await test.redeem("x") },
        ]
        XCTAssertEqual(faults, Array(repeating: .invalidGrant, count: 6))
        // The refused requests have not used the code up.
        _ = try await test.redeem(code)
        // A verifier without a challenge: somebody may have removed the challenge from the request.
        let bare = try await test.code(pkce: false)
        let downgraded = try await test.fault { try await test.redeem(bare) }
        XCTAssertEqual(downgraded, .invalidGrant)
        _ = try await test.redeem(bare, verifier: nil)
    }

    /// Row 37: a code is valid for 60 s.
    func testRow37ACodeLivesForAMinute() async throws {
        let test = try await ProviderUnderTest()
        let (early, late) = (try await test.code(), try await test.code())
        test.pass(seconds: 59)
        _ = try await test.redeem(early)
        test.pass(seconds: 1)
        let fault = try await test.fault { try await test.redeem(late) }
        XCTAssertEqual(fault, .invalidGrant)
    }

    /// Row 39: of 50 requests with the same code one gets tokens. They are already revoked, because 49 others tried.
    func testRow39OneUse() async throws {
        let test = try await ProviderUnderTest()
        let code = try await test.code()
        let answers = try await withThrowingTaskGroup(of: TokenAnswer?.self) { group in
            for _ in 0..<50 { group.addTask { try? await test.redeem(code) } }
            return try await group.reduce(into: [TokenAnswer]()) { if let answer = $1 { $0.append(answer) } }
        }
        XCTAssertEqual(answers.count, 1)
        let fault = try await test.bearerFault(try XCTUnwrap(answers.first).accessToken)
        XCTAssertEqual(fault, .invalidToken)
    }

    /// Row 39: a code is used again before the tokens of its first use are stored, ten seconds later. They are revoked
    /// all the same.
    func testRow39AReplayOvertakesTheFirstUse() async throws {
        let test = try await ProviderUnderTest()
        let code = try await test.code(scope: "openid offline_access")
        test.events.meanwhile.withLock {
            $0 = {
                let replay = try await test.fault { try await test.redeem(code) }
                XCTAssertEqual(replay, .invalidGrant)
                test.pass(seconds: 10)
            }
        }
        let answer = try await test.redeem(code)
        XCTAssertTrue(test.events.meanwhile.withLock { $0 == nil })
        let access = try await test.bearerFault(answer.accessToken)
        XCTAssertEqual(access, .invalidToken)
        let token = try XCTUnwrap(answer.refreshToken)
        let refresh = try await test.fault { try await test.refresh(token) }
        XCTAssertEqual(refresh, .invalidGrant)
    }

    /// The grants of a client without refresh tokens have ids in the order of time. Like others, they end when the code
    /// is used again (row 39), and each on its own.
    func testRow39GrantsWithoutRefreshTokens() async throws {
        let test = try await ProviderUnderTest { $0.grants = [.authorizationCode] }
        var (codes, tokens, grants): ([String], [String], [String]) = ([], [], [])
        for _ in 0..<4 {
            codes.append(try await test.code())
            let answer = try await test.redeem(try XCTUnwrap(codes.last))
            XCTAssertNil(answer.refreshToken)
            tokens.append(answer.accessToken)
            guard case .string(let id)? = try decoded(answer.accessToken).claims["gid"] else {
                return XCTFail("no gid")
            }
            grants.append(id)
            test.pass(seconds: 1)
        }
        XCTAssertEqual(grants, grants.sorted())
        XCTAssertEqual(Set(grants).count, 4)
        let replay = try await test.fault { try await test.redeem(codes[1]) }
        XCTAssertEqual(replay, .invalidGrant)
        let ended = try await test.bearerFault(tokens[1])
        XCTAssertEqual(ended, .invalidToken)
        for token in [tokens[0], tokens[2], tokens[3]] { _ = try await test.provider.userinfo(token) }
    }

    /// Row 39: a code that is used again 800 s later, long after its end, also revokes the tokens of its first use,
    /// refresh tokens among them.
    func testRow39AReplayRevokes() async throws {
        let test = try await ProviderUnderTest()
        let code = try await test.code(scope: "openid offline_access")
        let answer = try await test.redeem(code)
        let before = try await test.bearerFault(answer.accessToken)
        XCTAssertNil(before)
        test.pass(seconds: 800)
        let replay = try await test.fault { try await test.redeem(code) }
        let after = try await test.bearerFault(answer.accessToken)
        let token = try XCTUnwrap(answer.refreshToken)
        let refresh = try await test.fault { try await test.refresh(token) }
        XCTAssertEqual(replay, .invalidGrant)
        XCTAssertEqual(after, .invalidToken)
        XCTAssertEqual(refresh, .invalidGrant)
        XCTAssertTrue(
            test.events.all.withLock { events in
                events.contains { if case .reused("app", .authorizationCode, _?) = $0 { true } else { false } }
            })
    }

    /// Rows 48 to 53: each claim of an ID token.
    func testRows48To53TheIDToken() async throws {
        let test = try await ProviderUnderTest()
        let login = test.now.epochSeconds
        let session = try await test.begin().1
        let code = try await test.code(scope: "openid email profile", in: session, [("nonce", "n-1")])
        test.pass(seconds: 30)
        let answer = try await test.redeem(code)
        let (header, claims) = try decoded(answer.idToken)
        let user = UserLogin(userID: "alice@example.com", mpinID: "00", time: test.now.adding(seconds: -30))
        XCTAssertEqual(
            test.events.all.withLock { $0 }, [.granted(clientID: "app", grant: .authorizationCode, user)])
        XCTAssertEqual(header["alg"], .string("RS256"))
        XCTAssertEqual(header["kid"], .string(try test.provider.keys.signer(.rs256, at: test.now).kid))
        XCTAssertEqual(claims["iss"], .string(ProviderUnderTest.issuer))
        XCTAssertEqual(claims["aud"], .string("app"))
        XCTAssertEqual(claims["iat"], .int(login + 30))
        XCTAssertEqual(claims["exp"], .int(login + 930))
        XCTAssertEqual(claims["auth_time"], .int(login))
        XCTAssertEqual(claims["nonce"], .string("n-1"))
        XCTAssertEqual(claims["acr"], .string(UserLogin.acr))
        XCTAssertEqual(claims["amr"], .array([.string("mfa"), .string("pin"), .string("hwk")]))
        XCTAssertEqual(claims["sid"], .string(session.id))
        let half = Base64URL.encode(Array(SHA256.hash(Array(answer.accessToken.utf8)).prefix(16)))
        XCTAssertEqual(claims["at_hash"], .string(half))
        XCTAssertNil(claims["azp"])
        // Row 53: the claims of the scopes are at userinfo, and not in the ID token.
        XCTAssertEqual([claims["email"], claims["name"]], [nil, nil])
        let plain = try decoded(try await test.redeem(try await test.code()).idToken).claims
        XCTAssertNil(plain["nonce"])
        // The same user has the same `sub` in each token, and the user id cannot be read from it.
        XCTAssertEqual(plain["sub"], claims["sub"])
        guard case .string(let subject)? = claims["sub"] else { return XCTFail("no sub") }
        XCTAssertEqual(subject.utf8.count, 43)
    }

    /// Row 51: the client's setting changes `amr`. Row 53: with another setting, the claims of the scopes are in the ID
    /// token. Each kind of token has its own lifetime.
    func testRows51And53SwitchesOfAClient() async throws {
        let test = try await ProviderUnderTest {
            $0.claimsInIDToken = true
            $0.amr = .token
            $0.lifetimes.idToken = 300
            $0.lifetimes.accessToken = 60
        }
        let answer = try await test.redeem(try await test.code(scope: "openid email"))
        let claims = try decoded(answer.idToken).claims
        XCTAssertEqual(claims["exp"], .int(test.now.epochSeconds + 300))
        XCTAssertEqual(try decoded(answer.accessToken).claims["exp"], .int(test.now.epochSeconds + 60))
        XCTAssertEqual(answer.lifetime, 60)
        XCTAssertEqual(claims["amr"], .array([.string("token")]))
        XCTAssertEqual(claims["email"], .string("alice@example.com"))
        XCTAssertEqual(claims["email_verified"], .bool(false))
        XCTAssertNil(claims["name"])
    }

    /// Row 48: the `sub` of a user for public, pairwise and user-id clients.
    func testRow48Subjects() async throws {
        let test = try await ProviderUnderTest()
        let subjects = test.provider.subjects
        var client = try test.client()
        func subject(_ user: String) -> String { subjects.subject(of: user, for: client) }
        let open = subject("alice")
        XCTAssertNotEqual(open, subject("bob"))
        client.subject = .pairwise
        client.sector = "a.example"
        let pairwise = subject("alice")
        XCTAssertNotEqual(pairwise, open)
        client.sector = "b.example"
        XCTAssertNotEqual(subject("alice"), pairwise)
        client.sector = "a.example"
        XCTAssertEqual(subject("alice"), pairwise)
        client.subject = .userID
        XCTAssertEqual(subject("alice"), "alice")
        XCTAssertTrue(subject("al\u{ef}ce").utf8.allSatisfy { $0 < 0x80 })
        XCTAssertEqual(subject(String(repeating: "a", count: 255)).utf8.count, 255)
        XCTAssertEqual(subject(String(repeating: "a", count: 256)).utf8.count, 43)
        // A second provider on the same store computes the same names.
        let again = try await Subjects(in: test.store)
        client.subject = .public
        XCTAssertEqual(again.subject(of: "alice", for: client), open)
    }

    /// Row 45: the token answer has the lifetime and the granted scopes. Row 46: the access token has the client's
    /// audience and its own type.
    func testRows45And46TheAccessToken() async throws {
        let test = try await ProviderUnderTest { $0.audiences = ["https://api.example"] }
        let answer = try await test.redeem(try await test.code(scope: "email openid wild"))
        let (header, claims) = try decoded(answer.accessToken)
        XCTAssertEqual(header["typ"], .string("at+jwt"))
        XCTAssertEqual(header["alg"], .string("ES256"))
        XCTAssertEqual(claims["aud"], .string("https://api.example"))
        XCTAssertEqual(claims["client_id"], .string("app"))
        XCTAssertEqual(claims["scope"], .string("email openid"))
        XCTAssertEqual(answer.json["scope"], .string("email openid"))
        XCTAssertEqual(answer.json["token_type"], .string("Bearer"))
        XCTAssertEqual(answer.json["expires_in"], .int(900))
        XCTAssertNil(answer.json["refresh_token"])
        try test.change("app") { $0.audiences.append("basket") }
        let next = try decoded(try await test.redeem(try await test.code()).accessToken).claims
        XCTAssertEqual(next["aud"], .array([.string("https://api.example"), .string("basket")]))
        // Each access token has a name of its own.
        guard case .string? = next["jti"] else { return XCTFail("no jti") }
        XCTAssertNotEqual(next["jti"], claims["jti"])
        // An ID token is not accepted as an access token, nor an access token as an ID token hint.
        let asAccess = try await test.bearerFault(answer.idToken)
        XCTAssertEqual(asAccess, .invalidToken)
        let request = "client_id=app&redirect_uri=\(ProviderUnderTest.uri)&response_type=code&scope=openid"
        let hint = try XCTUnwrap(RequestParameters(request + "&id_token_hint=" + answer.accessToken))
        guard case .returned(let fault, _) = try await test.provider.read(hint).reading else { return XCTFail("taken") }
        XCTAssertEqual(fault.code, .invalidRequest)
    }

    /// Row 55: userinfo gives the claims of the scopes, as long as the access token is valid.
    func testRow55Userinfo() async throws {
        let test = try await ProviderUnderTest()
        let answer = try await test.redeem(try await test.code(scope: "openid email offline_access"))
        let claims = try await test.provider.userinfo(answer.accessToken)
        XCTAssertEqual(claims["sub"], try decoded(answer.idToken).claims["sub"])
        XCTAssertEqual(claims["email"], .string("alice@example.com"))
        XCTAssertEqual(claims["email_verified"], .bool(false))
        XCTAssertNil(claims["name"])
        test.events.revoked.withLock { _ = $0.insert("alice@example.com") }
        let revoked = try await test.bearerFault(answer.accessToken)
        XCTAssertEqual(revoked, .invalidToken)
        test.events.revoked.withLock { $0 = [] }
        try test.change("app") { $0.isDisabled = true }
        let disabled = try await test.bearerFault(answer.accessToken)
        XCTAssertEqual(disabled, .invalidToken)
        try test.change("app") { $0.isDisabled = false }
        test.pass(seconds: 899)
        let young = try await test.bearerFault(answer.accessToken)
        XCTAssertNil(young)
        test.pass(seconds: 1)
        let old = try await test.bearerFault(answer.accessToken)
        XCTAssertEqual(old, .invalidToken)
    }

    /// Row 55: userinfo refuses an access token without the scope `openid`.
    func testRow55ATokenWithoutOpenID() async throws {
        let test = try await ProviderUnderTest()
        let answer = try await test.redeem(try await test.code(scope: "openid email offline_access"))
        let token = try XCTUnwrap(answer.refreshToken)
        let narrow = try await test.refresh(token, scope: "email")
        let fault = try await test.bearerFault(narrow.accessToken)
        XCTAssertEqual(fault, .insufficientScope)
    }

    /// Row 55: after the operator has given the provider another issuer, userinfo refuses the old access tokens.
    func testRow55ATokenOfAnotherIssuer() async throws {
        let test = try await ProviderUnderTest()
        let token = try await test.redeem(try await test.code()).accessToken
        let renamed = try await OpenIDProvider(
            issuer: "https://other.example", durable: test.store, shortLived: test.store, keys: test.provider.keys,
            client: test.provider.client, permission: test.provider.permission, observer: { _ in },
            clock: { test.now })
        let before = try await test.bearerFault(token)
        XCTAssertNil(before)
        do {
            _ = try await renamed.userinfo(token)
            XCTFail("taken")
        } catch let fault as BearerFault { XCTAssertEqual(fault, .invalidToken) }
    }

    /// Row 32: userinfo gives the claims that the parameter `claims` names, if the client may ask for their scope.
    func testRow32ClaimsByName() async throws {
        let test = try await ProviderUnderTest { $0.scopes = ["openid", "profile"] }
        let wanted = #"{"userinfo":{"name":{"essential":true},"email":null}}"#
        let answer = try await test.redeem(try await test.code(pkce: true, [("claims", wanted)]))
        let claims = try await test.provider.userinfo(answer.accessToken)
        XCTAssertEqual(claims["name"], .string("alice@example.com"))
        XCTAssertNil(claims["email"])
    }

    /// Row 32: the parameter `claims` can name the one user that the client wants, by the `sub`.
    func testRow32TheUserByClaim() async throws {
        let test = try await ProviderUnderTest()
        let subject = test.provider.subjects.subject(of: "alice@example.com", for: try test.client())
        for place in ["id_token", "userinfo"] {
            let members = [
                ("client_id", "app"), ("redirect_uri", ProviderUnderTest.uri), ("response_type", "code"),
                ("scope", "openid"), ("prompt", "none"),
                ("claims", #"{"\#(place)":{"sub":{"value":"\#(subject)"}}}"#),
            ]
            let parameters = try XCTUnwrap(RequestParameters(RequestParameters.query(members)))
            guard case .accepted(let request) = try await test.provider.read(parameters).reading else {
                return XCTFail("refused")
            }
            for (user, isWanted) in [("alice@example.com", true), ("bob@example.com", false)] {
                var progress = LoginProgress()
                progress.login = UserLogin(userID: user, mpinID: "00", time: test.now)
                let step = try await test.provider.step(request, of: try test.client(), progress)
                if case .answer = step {
                    XCTAssertTrue(isWanted, "\(place) \(user)")
                } else {
                    XCTAssertFalse(isWanted, "\(place) \(user)")
                }
            }
        }
    }

    /// Row 31: an ID token hint is accepted after it has expired; one for another user gives an error.
    func testRow31Hints() async throws {
        let test = try await ProviderUnderTest()
        let answer = try await test.redeem(try await test.code())
        let hint = try XCTUnwrap(answer.idToken)
        test.pass(seconds: 86_400)
        let request = "client_id=app&redirect_uri=\(ProviderUnderTest.uri)&response_type=code&scope=openid"
        func step(_ hint: String, _ user: String) async throws -> AuthorizationStep? {
            let parameters = try XCTUnwrap(RequestParameters("\(request)&prompt=none&id_token_hint=\(hint)"))
            guard case .accepted(let request) = try await test.provider.read(parameters).reading else { return nil }
            var progress = LoginProgress()
            progress.login = UserLogin(userID: user, mpinID: "00", time: test.now)
            return try await test.provider.step(request, of: try test.client(), progress)
        }
        guard case .answer? = try await step(hint, "alice@example.com") else { return XCTFail("not taken") }
        guard case .refusal(let fault)? = try await step(hint, "bob@example.com") else { return XCTFail("taken") }
        XCTAssertEqual(fault.code, .loginRequired)
        let parts = hint.split(separator: ".")
        let none = Base64URL.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8))
        for forged in ["\(none).\(parts[1]).", "\(parts[0]).\(parts[1]).AAAA", "x", String(hint.dropLast())] {
            let step = try await step(forged, "alice@example.com")
            XCTAssertNil(step)
        }
        // An ID token that was issued to another client is refused as a hint.
        let foreign = try await test.redeem(try await test.code(of: "phone"), by: "phone")
        let other = try await step(try XCTUnwrap(foreign.idToken), "alice@example.com")
        XCTAssertNil(other)
    }
}
