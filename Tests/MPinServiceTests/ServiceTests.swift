import MPinCrypto
import MPinService
import MPinStore
import XCTest

/// Tests registrations and logins with the service alone, without a server.
final class ServiceTests: XCTestCase {
    func testWhoRegistersLogsInAndThreeWrongPINsBlock() async throws {
        let under = try await ServiceUnderTest()
        let alice = try await under.register("alice@example.com", pin: "1234")
        var verdicts: [Verdict] = []
        for pin in ["1234", "9999", "9998", "9997", "1234"] {
            let token = try await alice.prove(pin, to: under.service)
            let report = try await under.redeem(token)
            XCTAssertEqual(report.user, UserKey("alice@example.com"))
            verdicts.append(report.verdict)
        }
        XCTAssertEqual(
            verdicts, [.right, .wrong(left: 2), .wrong(left: 1), .blocked(until: nil), .blocked(until: nil)])
        XCTAssertEqual(under.surroundings.seen, verdicts)
    }

    func testAOneTimeTokenIsGoodOnceAndForAMinute() async throws {
        let under = try await ServiceUnderTest()
        let alice = try await under.register("alice@example.com", pin: "1234")
        let token = try await alice.prove("1234", to: under.service)
        let first = try await under.redeem(token)
        XCTAssertEqual(first.verdict, .right)
        await refuses(.expiredLogin) { _ = try await under.redeem(token) }
        let late = try await alice.prove("1234", to: under.service)
        under.surroundings.advance(seconds: 60)
        await refuses(.expiredLogin) { _ = try await under.redeem(late) }
    }

    func testNothingIsJudgedWhileADTAHasAnotherShare() async throws {
        let under = try await ServiceUnderTest()
        let alice = try await under.register("alice@example.com", pin: "1234")
        try under.authorities[1].loseShare()
        try await under.service.keyRing.refresh()
        for _ in 0..<5 {
            await refuses(.unjudged(.unavailable(.masterSecret))) {
                _ = try await alice.prove("1234", to: under.service)
            }
        }
        XCTAssertEqual(under.surroundings.seen, [], "no attempt is counted")
    }

    /// A D-TA has half of each client secret, which is the secret of nobody.
    func testTheShareOfOneAuthorityLogsNobodyIn() async throws {
        let under = try await ServiceUnderTest()
        let started = try await under.service.register(under.application("alice")) { _ in .init(isConfirmed: true) }
        let issued = try await under.service.issueShares(started.id, token: started.registrationToken)
        let ticket = try XCTUnwrap(issued.tickets.first)
        let second = Share(index: 2, try under.authorities[1].clientSecretShare(ticket: ticket.text))
        for shares in [[issued.share, issued.share], [second, second]] {
            let half = shares.enumerated().map { Share(index: $0 + 1, $1.octets) }
            let token = try await FakeClient(started.id, half, pin: "1234").prove("1234", to: under.service)
            let report = try await under.redeem(token)
            XCTAssertNotEqual(report.verdict, .right)
        }
        let whole = try FakeClient(started.id, [issued.share, second], pin: "1234")
        let right = try await under.redeem(try await whole.prove("1234", to: under.service))
        XCTAssertEqual(right.verdict, .right)
    }

    func testTheRelyingPartyDecidesAboutARegistration() async throws {
        struct No: Error {}
        let under = try await ServiceUnderTest()
        let application = try under.application("alice@example.com")
        var id: MPinID?
        do {
            _ = try await under.service.register(application) { question in
                id = question.registration.id
                throw No()
            }
            XCTFail("registered")
        } catch is No {}
        let refused = try await under.service.stage(of: XCTUnwrap(id))
        XCTAssertEqual(refused, .unknown)

        var key = ""
        let started = try await under.service.register(application) { question in
            key = question.activationKey
            return .init(isConfirmed: false)
        }
        await refuses(.notConfirmed) {
            _ = try await under.service.issueShares(started.id, token: started.registrationToken)
        }
        await refuses(.wrongActivationKey) {
            try await under.service.confirm(started.id, activationKey: String(key.reversed()))
        }
        try await under.service.confirm(started.id, activationKey: key)
        await refuses(.noShares) { _ = try await under.service.issueShares(started.id, token: "00") }
        _ = try await under.service.issueShares(started.id, token: started.registrationToken)
        let stage = try await under.service.stage(of: started.id)
        XCTAssertEqual(stage, .finished)
    }

    func testAPhoneLogsTheBrowserInThatHasOpenedTheNumber() async throws {
        let under = try await ServiceUnderTest { $0.limits.waitSeconds = 30 }
        let alice = try await under.register("alice@example.com", pin: "1234")
        let browser = try await under.service.openBrowser(.number)
        let token = try await alice.prove("1234", to: under.service, wid: browser.wid)
        async let phone = under.service.present(token)
        let view = try await under.service.follow(
            webOTT: browser.webOTT, known: .init(status: "new", refusals: nil), seconds: 30)
        XCTAssertEqual([view.status, view.authOTT], ["authenticate", token])
        let report = try await under.redeem(view.authOTT)
        XCTAssertEqual(report.verdict, .right)
        guard case .decided(let outcome) = try await phone else { return XCTFail("refused") }
        XCTAssertEqual(outcome.status, 200)
        XCTAssertEqual(under.signals.count, 0, "nobody waits any more")
        await refuses(.noWaitingBrowser) { _ = try await under.service.present(token) }
    }

    /// A token that comes too late is told apart from one whose browser does not wait any more.
    func testALatePhoneIsToldWhetherItsBrowserStillWaits() async throws {
        let under = try await ServiceUnderTest { $0.limits.waitSeconds = 30 }
        let alice = try await under.register("alice@example.com", pin: "1234")
        let (waiting, ended) = (
            try await under.service.openBrowser(.code), try await under.service.openBrowser(.code)
        )
        let late = try await alice.prove("1234", to: under.service, wid: waiting.wid)
        let first = try await alice.prove("1234", to: under.service, wid: ended.wid)
        let second = try await alice.prove("1234", to: under.service, wid: ended.wid)
        async let phone = under.service.present(first)
        _ = try await under.service.follow(
            webOTT: ended.webOTT, known: .init(status: "new", refusals: nil), seconds: 30)
        _ = try await under.redeem(first)
        _ = try await phone
        under.surroundings.advance(seconds: 60)
        await refuses(.lateProof) { _ = try await under.service.present(late) }
        await refuses(.noWaitingBrowser) { _ = try await under.service.present(second) }
    }

    private func refuses(
        _ expected: ServiceError, line: UInt = #line, _ work: () async throws -> Void
    ) async {
        do {
            try await work()
            XCTFail("done", line: line)
        } catch { XCTAssertEqual(error as? ServiceError, expected, line: line) }
    }
}
