import MPinOpenID
import MPinStore
import XCTest

/// Tests what happens next in the browser, for each wish of the client and each progress of the user. Row numbers are
/// those of the checklist by which the provider was built; each comment says what its row demands.
final class AuthorizationStepTests: XCTestCase {
    private let now = Moment(microseconds: 1_000_000_000_000_000)
    private var login: UserLogin { UserLogin(userID: "u", mpinID: "00", time: now.adding(seconds: -100)) }

    private func step(
        _ query: String, _ change: (inout LoginProgress) -> Void = { _ in }, isExpected: Bool = true,
        isAdmitted: Bool = true, isAllowed: Bool = true
    ) throws -> AuthorizationStep {
        var client = Client(id: "app", name: "App", created: now)
        client.redirectURIs = [try RedirectURI("https://app.example/cb")]
        let form = "client_id=app&redirect_uri=https://app.example/cb&response_type=code&scope=openid&" + query
        let parameters = try XCTUnwrap(RequestParameters(form))
        guard case .accepted(let request) = AuthorizationRequest.read(parameters, of: client) else {
            return try XCTUnwrap(nil, "refused: \(query)")
        }
        var progress = LoginProgress()
        change(&progress)
        return request.step(
            progress, isExpected: { _ in isExpected }, isAdmitted: isAdmitted, isAllowed: isAllowed, at: now)
    }

    private func code(_ step: AuthorizationStep) -> AuthorizationFault.Code? {
        if case .refusal(let fault) = step { fault.code } else { nil }
    }

    /// Changes the progress to that of a user who logged in 100 s ago.
    private func known(_ progress: inout LoginProgress) { progress.login = login }

    /// Changes the progress to that of a user who has just entered the PIN.
    private func fresh(_ progress: inout LoginProgress) {
        progress.login = UserLogin(userID: "u", mpinID: "00", time: now)
        progress.isFresh = true
    }

    private func isAnswer(_ step: AuthorizationStep) -> Bool { if case .answer = step { true } else { false } }

    /// Row 24: with `prompt=none` and no login, the client gets an error. Row 25: with a login there is no page, and a
    /// missing consent is an error.
    func testRows24And25PromptNone() throws {
        XCTAssertEqual(code(try step("prompt=none")), .loginRequired)
        XCTAssertEqual(try step("prompt=none", known), .answer(login))
        XCTAssertEqual(code(try step("prompt=none", known, isAllowed: false)), .consentRequired)
        XCTAssertEqual(code(try step("prompt=none&max_age=50", known)), .loginRequired)
        XCTAssertEqual(code(try step("prompt=none", known, isExpected: false)), .loginRequired)
    }

    /// Every program of a machine can ask in the name of an app, so a silent answer to one needs a PIN of just now.
    func testAnAppGetsNoSilentCodeLongAfterThePIN() async throws {
        for (uri, isSilent) in [
            ("http://127.0.0.1:8080/cb", false), ("http://[::1]/cb", false), ("com.example.app:/cb", false),
            ("https://app.example/cb", true),
        ] {
            let clock = now
            let under = try await ProviderUnderTest()
            var client = Client(id: "app", name: "App", created: clock)
            client.redirectURIs = [try RedirectURI(uri)]
            client.authMethod = .none
            client.isFirstParty = true
            let form =
                "client_id=app&redirect_uri=\(uri)&response_type=code&scope=openid&prompt=none"
                + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
            let parameters = try XCTUnwrap(RequestParameters(form))
            guard case .accepted(let request) = AuthorizationRequest.read(parameters, of: client) else {
                return XCTFail(uri)
            }
            for (seconds, isAnswered) in [(299, true), (301, isSilent)] {
                var progress = LoginProgress()
                progress.login = UserLogin(
                    userID: "u", mpinID: "00", time: under.provider.now.adding(seconds: -seconds))
                let step = try await under.provider.step(request, of: client, progress)
                XCTAssertEqual(isAnswer(step), isAnswered, "\(uri) \(seconds)")
                if !isAnswered { XCTAssertEqual(code(step), .loginRequired) }
            }
        }
    }

    /// A user who may not use the client gets a page that says so, or an error with `prompt=none`. Before that, a phone
    /// that has typed the access number must be that of the person at the browser.
    func testAUserWhoMayNotUseTheClient() throws {
        for query in ["", "prompt=consent", "prompt=select_account"] {
            XCTAssertEqual(try step(query, known, isAdmitted: false, isAllowed: false), .noAccess(login), query)
        }
        XCTAssertEqual(try step("prompt=none", known, isAdmitted: false), .refusal(.noAccess))
        XCTAssertEqual(code(.refusal(.noAccess)), .accessDenied)
        let byNumber = try step(
            "",
            {
                fresh(&$0)
                $0.isByNumber = true
            }, isAdmitted: false)
        guard case .confirmation = byNumber else { return XCTFail("\(byNumber)") }
    }

    /// Row 27: `prompt=login` requires a new PIN even if the user is logged in.
    func testRow27PromptLogin() throws {
        XCTAssertEqual(try step(""), .login)
        XCTAssertEqual(try step("prompt=login", known), .login)
        XCTAssertTrue(isAnswer(try step("prompt=login", fresh)))
    }

    /// Row 28: `prompt=consent` and `prompt=select_account` show their pages.
    func testRow28ConsentAndAccount() throws {
        XCTAssertEqual(try step("prompt=consent", known), .consent(login))
        XCTAssertEqual(try step("", known, isAllowed: false), .consent(login))
        let consented = try step(
            "prompt=consent",
            {
                known(&$0)
                $0.isConsented = true
            })
        XCTAssertEqual(consented, .answer(login))
        XCTAssertEqual(try step("prompt=select_account", known), .account(login))
        XCTAssertTrue(isAnswer(try step("prompt=select_account", fresh)))
        let chosen = try step(
            "prompt=select_account",
            {
                known(&$0)
                $0.isConfirmed = true
            })
        XCTAssertEqual(chosen, .answer(login))
    }

    /// Row 29: a login that is older than `max_age` requires a new PIN, and `max_age=0` always does.
    func testRow29MaximumAge() throws {
        XCTAssertEqual(try step("max_age=10000", known), .answer(login))
        XCTAssertEqual(try step("max_age=100", known), .answer(login))
        XCTAssertEqual(try step("max_age=99", known), .login)
        XCTAssertEqual(try step("max_age=0", known), .login)
        let justNow = try step("max_age=0") { $0.login = UserLogin(userID: "u", mpinID: "00", time: now) }
        XCTAssertEqual(justNow, .login)
        XCTAssertTrue(isAnswer(try step("max_age=0", fresh)))
    }

    /// Row 31: if another user is logged in than the one in the ID token hint, a PIN is required. If that PIN is
    /// another user's, too, the client gets an error.
    func testRow31AnotherUserThanTheHint() throws {
        XCTAssertEqual(try step("", known, isExpected: false), .login)
        XCTAssertEqual(code(try step("", fresh, isExpected: false)), .loginRequired)
    }

    /// An access number is short, so somebody else's phone may have typed it. The person at the browser must confirm
    /// the account first; before that, neither another page nor an error tells anything about it.
    func testALoginByNumberIsConfirmedFirst() throws {
        func byNumber(_ progress: inout LoginProgress) {
            fresh(&progress)
            progress.isByNumber = true
        }
        guard case .confirmation = try step("", byNumber, isExpected: false, isAllowed: false) else {
            return XCTFail("not confirmed")
        }
        let confirmed = try step(
            "",
            {
                byNumber(&$0)
                $0.isConfirmed = true
            })
        XCTAssertTrue(isAnswer(confirmed))
    }
}
