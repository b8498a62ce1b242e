import Foundation
import LoopbackServer
import MPinSDK
import XCTest

/// Tests logins that a phone makes for a browser, and logout.
final class BrowserSessionTests: FlowTestCase {
    private let number = "2741539"
    private let qr = "f75dfd7607ec4213b177a3bd04651736"

    private func finishAN(_ user: User, _ accessNumber: String, _ pin: String = "1234") throws(SDKError) {
        let digits = Array(pin.utf8)
        try sdk.finishAuthenticationAN(user, pin: digits.span, accessNumber: accessNumber)
    }

    private func finishMFA(_ user: User, _ accessCode: String?, _ pin: String = "1234") throws(SDKError) -> String {
        let digits = Array(pin.utf8)
        return try sdk.finishAuthenticationMFA(user, pin: digits.span, accessCode: accessCode)
    }

    // MARK: Access numbers

    func testALoginOnAnAccessNumber() throws {
        let user = try registered()
        try sdk.startAuthentication(user)
        server.forgetCalls()
        try finishAN(user, number)
        XCTAssertEqual(server.calls, [.pass1, .pass2, .mobileAuthenticate])
        XCTAssertEqual(server.received[1].json["WID"] as? String, number)
        XCTAssertEqual(server.received[1].json["OTP"] as? Bool, false)
        XCTAssertTrue(user.authData.contains("logoutURL"))
    }

    func testALoginOnAQRCodeTellsThePageFirst() throws {
        let user = try registered()
        server.forgetCalls()
        try sdk.startAuthenticationMFA(user, accessCode: qr)
        XCTAssertEqual(server.calls.first, .codeStatus)
        XCTAssertEqual(
            server.received[0].json as NSDictionary, ["status": "user", "wid": qr, "userId": "alice@example.com"])
        try finishAN(user, qr)
    }

    /// A program learns whether the server knows the screen, so that it can let its user confirm once more.
    func testASessionTellsWhetherItsScreenIsKnown() throws {
        server.reply(
            .codeStatus,
            .json(200, ["appName": "Shop", "browserAddress": "192.0.2.1", "browserProgram": "Firefox, Linux"]))
        let known = try sdk.sessionDetails(qr).place
        XCTAssertEqual([known.screenAddress, known.screenProgram], ["192.0.2.1", "Firefox, Linux"])
        XCTAssertTrue(known.isScreenKnown)
        server.reply(.codeStatus, .json(200, ["appName": "Shop", "siteAddress": "192.0.2.9"]))
        let opened = try sdk.sessionDetails(qr).place
        XCTAssertEqual([opened.screenAddress, opened.siteAddress], ["", "192.0.2.9"])
        XCTAssertFalse(opened.isScreenKnown)
        for address in [1, String(repeating: "1", count: 64), ["192.0.2.1"], "", true] as [any Sendable] {
            server.reply(.codeStatus, .json(200, ["appName": "Shop", "browserAddress": address]))
            XCTAssertFalse(try sdk.sessionDetails(qr).place.isScreenKnown, "\(address)")
        }
    }

    func testTheLoginGoesOnWhateverThePageIsTold() throws {
        let user = try registered()
        for reply in [Reply.json(412, [:]), .json(500, [:]), .reset(), .text(302, "")] {
            server.reply(.codeStatus, reply)
            XCTAssertNoThrow(try sdk.startAuthenticationMFA(user, accessCode: qr))
        }
        let sdk = try newSDK(timeout: 2500)
        server.reply(.codeStatus, .stall())
        XCTAssertNoThrow(try sdk.startAuthenticationMFA(try self.user(in: sdk), accessCode: qr))
        XCTAssertEqual(
            failure { () throws(SDKError) in try sdk.startAuthenticationMFA(user, accessCode: qr) }, .flowError)
    }

    func testACancelIsNoCourtesy() throws {
        let user = try registered()
        server.reply(.codeStatus, .stall())
        let sdk = sdk!
        Thread.detachNewThread { [server] in
            while server?.calls.last != .codeStatus { usleep(1000) }
            sdk.cancel()
        }
        XCTAssertEqual(
            failure { () throws(SDKError) in try sdk.startAuthenticationMFA(user, accessCode: qr) }, .canceled)
        XCTAssertEqual(
            failure { () throws(SDKError) in try sdk.startAuthenticationMFA(user, accessCode: "") }, .invalidArgument)
    }

    func testWithoutACodeStatusURLNobodyIsTold() throws {
        server.state.withLock { $0.settings["codeStatusURL"] = "" }
        try sdk.setBackend(server.url)
        let user = try registered()
        server.forgetCalls()
        try sdk.startAuthenticationMFA(user, accessCode: qr)
        XCTAssertEqual(members(try sdk.sessionDetails(qr)).dropLast().joined(), "false")
        try sdk.abortSession(qr)
        XCTAssertFalse(server.calls.contains(.codeStatus))
    }

    func testWrongPINAndWrongNumber() throws {
        let user = try registered()
        try sdk.startAuthentication(user)
        XCTAssertEqual(failure { () throws(SDKError) in try finishAN(user, number, "0000") }, .incorrectPIN)
        XCTAssertEqual(failure { () throws(SDKError) in try finishAN(user, "0000000") }, .incorrectAccessNumber)
        XCTAssertEqual(sdk.lastError?.httpStatus, 412)
        XCTAssertNoThrow(try finishAN(user, number))
        // A second login works without another `startAuthentication`, because the permit of the first is kept.
        XCTAssertNoThrow(try finishAN(user, number))
    }

    func testAMobileLoginNeedsItsURL() throws {
        server.state.withLock { $0.settings["mobileAuthenticateURL"] = "" }
        try sdk.setBackend(server.url)
        let user = try registered()
        try sdk.startAuthentication(user)
        server.forgetCalls()
        XCTAssertEqual(failure { () throws(SDKError) in try finishAN(user, number) }, .flowError)
        XCTAssertEqual(server.calls, [])
    }

    func testCheckDigits() throws {
        // Computes the check digit of an access number from its first six digits d1 to d6: ((11 - S mod 11) mod 11) mod
        // 10, with S = 7 d1 + 6 d2 + 5 d3 + 4 d4 + 3 d5 + 2 d6.
        for good in ["2741539", "0000000", "1000004", "0000019", "9999996", "2700492", "9575081", "0000100"] {
            let digits = good.compactMap(\.wholeNumberValue)
            let weighted = 7 * digits[0] + 6 * digits[1] + 5 * digits[2] + 4 * digits[3] + 3 * digits[4] + 2 * digits[5]
            let check = (11 - weighted % 11) % 11 % 10
            let isGood = check == digits[6]
            XCTAssertEqual(
                failure { () throws(SDKError) in try sdk.checkAccessNumber(good) },
                isGood ? nil : .incorrectAccessNumber,
                good)
        }
        let user = try registered()
        try sdk.startAuthentication(user)
        server.forgetCalls()
        for digit in 0...9 where digit != 9 {
            let text = "274153\(digit)"
            XCTAssertEqual(
                failure { () throws(SDKError) in try sdk.checkAccessNumber(text) }, .incorrectAccessNumber, text)
            XCTAssertEqual(failure { () throws(SDKError) in try finishAN(user, text) }, .incorrectAccessNumber)
        }
        for text in ["", "0", "27415a9", "-741539", "２７４"] {
            let isChecked = text != "２７４"
            XCTAssertEqual(
                failure { () throws(SDKError) in try sdk.checkAccessNumber(text) },
                isChecked ? .incorrectAccessNumber : nil, text)
        }
        for text in ["274153", "27415391", qr] {
            XCTAssertNil(failure { () throws(SDKError) in try sdk.checkAccessNumber(text) }, text)
        }
        XCTAssertEqual(server.calls, [])
    }

    func testTheSettingsSayWhetherThereAreCheckDigits() throws {
        let cases: [(settings: [String: any Sendable], isChecked: Bool)] = [
            (["cSum": 1], true), (["cSum": 1, "accessNumberUseCheckSum": true], true), (["cSum": 0], false),
            (["cSum": false], false), (["cSum": 1, "accessNumberUseCheckSum": false], false),
        ]
        for test in cases {
            server.state.withLock { $0.settings = test.settings }
            try sdk.setBackend(server.url)
            XCTAssertEqual(
                failure { () throws(SDKError) in try sdk.checkAccessNumber("2741530") },
                test.isChecked ? .incorrectAccessNumber : nil, "\(test.settings)")
        }
    }

    // MARK: Authorization codes

    func testAnAuthorizationCodeForThisDeviceAndForABrowser() throws {
        let user = try registered()
        for accessCode in [nil, qr] {
            try sdk.startAuthentication(user)
            server.forgetCalls()
            XCTAssertEqual(try finishMFA(user, accessCode), "the code")
            XCTAssertEqual(server.calls.last, accessCode == nil ? .authenticate : .mobileAuthenticate)
            XCTAssertEqual(server.received[1].json["WID"] as? String, accessCode ?? "0")
            XCTAssertEqual(server.received[2].json["authzRequest"] as? Bool, true)
        }
        try sdk.startAuthentication(user)
        for code in ["", "0", "2741530"] {
            XCTAssertEqual(
                failure { () throws(SDKError) in _ = try finishMFA(user, code) }, .incorrectAccessNumber)
        }
    }

    /// A MIRACL server that issues no authorization code sends no member for it, or an empty text. The login succeeds
    /// anyway.
    func testALoginWithoutAnAuthorizationCodeSucceeds() throws {
        let user = try registered()
        for code in [nil, "", NSNull(), 7] as [Any?] {
            server.reply(.authenticate, .json(200, ["status": 200, "message": "OK", "code": code as Any]))
            try sdk.startAuthentication(user)
            XCTAssertEqual(try finishMFA(user, nil), "")
        }
    }

    // MARK: Logout

    func testLogoutOnceAndOnlyWhereTheAnswerSaysHow() throws {
        let user = try registered()
        try logIn(user)
        XCTAssertFalse(user.canLogout)
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.logout(user) }, .flowError)
        try sdk.startAuthentication(user)
        try finishAN(user, number)
        XCTAssertTrue(user.canLogout)
        server.forgetCalls()
        try sdk.logout(user)
        XCTAssertEqual(server.calls, [.logout])
        XCTAssertEqual(server.received[0].path, "/logout")
        XCTAssertEqual(server.received[0].json as NSDictionary, ["sessionToken": "s", "number": 7])
        XCTAssertFalse(user.canLogout)
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.logout(user) }, .flowError)
        XCTAssertEqual(user.state, .registered)
    }

    func testALogoutWithoutAnAnswerMayBeTriedAgain() throws {
        let user = try registered()
        try sdk.startAuthentication(user)
        try finishAN(user, number)
        server.reply(.logout, .reset())
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.logout(user) }, .networkError)
        XCTAssertTrue(user.canLogout)
        server.fail(.logout, status: 400)
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.logout(user) }, .httpRequestError)
        XCTAssertFalse(user.canLogout)
    }

    func testOnlyAPathAtTheBackendIsAPlaceToLogOut() throws {
        let user = try registered()
        let answers: [[String: Any]] = [
            ["logoutURL": "http://127.0.0.1:1/x", "logoutData": [:]], ["logoutURL": "", "logoutData": [:]],
            ["logoutURL": ".evil.example/x", "logoutData": [:]], ["logoutURL": "/logout"],
            ["logoutURL": "/logout", "logoutData": NSNull()], ["logoutURL": 7, "logoutData": [:]], ["logoutData": [:]],
        ]
        for answer in answers {
            server.reply(.authenticate, .json(200, answer))
            try logIn(user)
            XCTAssertFalse(user.canLogout, "\(answer)")
        }
        server.reply(.authenticate, .json(200, ["logoutURL": "/logout", "logoutData": "text"]))
        try logIn(user)
        XCTAssertTrue(user.canLogout)
        server.fail(.authenticate, status: nil)
        try logIn(user)
        XCTAssertFalse(user.canLogout)
    }

    // MARK: Details

    func testSessionDetailsInEverySpelling() throws {
        let old = try sdk.sessionDetails(qr)
        XCTAssertEqual(
            members(old).dropLast(), ["false", "", "Interop service", "http://127.0.0.1/icon.png", "", "", "", "", ""])
        XCTAssertEqual(server.received.last?.json as NSDictionary?, ["status": "wid", "wid": qr])
        server.reply(
            .codeStatus,
            .json(
                200,
                [
                    "PrerollId": "", "prerollId": "alice", "appName": "app", "appLogoURL": "l", "customerId": "c",
                    "customerName": "n", "customerLogoURL": "cl", "clientId": "id", "redirectURI": "r",
                    "registerOnly": true, "more": [1],
                ]))
        let expected = ["true", "alice", "app", "l", "c", "n", "cl", "id", "r"]
        XCTAssertEqual(Array(members(try sdk.sessionDetails(qr)).dropLast()), expected)
        server.reply(.codeStatus, .text(200, "[]"))
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sdk.sessionDetails(qr) }, .responseParseError)
    }

    func testASessionThatIsNotThere() throws {
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sdk.sessionDetails("00") }, .httpRequestError)
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.abortSession("00") }, .httpRequestError)
        server.forgetCalls()
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.abortSession("2741530") }, .incorrectAccessNumber)
        XCTAssertEqual(server.calls, [])
        try sdk.abortSession(qr)
        XCTAssertEqual(server.received.last?.json as NSDictionary?, ["status": "abort", "wid": qr])
    }

    func testTheAccessCodeIsTheFragment() throws {
        XCTAssertEqual(try sdk.accessCode(authorizeURL: server.url + "/authorize?client_id=c"), qr)
        XCTAssertEqual(server.received.last?.target, "/authorize?client_id=c")
        XCTAssertEqual(server.received.last?.body, Array("{}".utf8))
        for answer in [["qrURL": "http://host/x"], ["qrURL": "http://host/#"], ["url": "#a"], [:]] {
            server.reply(.authorize, .json(200, answer))
            XCTAssertEqual(
                failure { () throws(SDKError) in _ = try sdk.accessCode(authorizeURL: server.url + "/authorize") },
                .responseParseError)
        }
        XCTAssertEqual(
            failure { () throws(SDKError) in _ = try sdk.accessCode(authorizeURL: "http://example.com") },
            .untrustedDomainError)
    }

    func testServiceDetails() throws {
        let expected = ["Service ü", server.url, "rps", "/logo.png"]
        XCTAssertEqual(members(try sdk.serviceDetails(server.url + "/")), expected)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sdk.serviceDetails("") }, .invalidArgument)
        let good = ["name": "n", "url": "u", "rps_prefix": "r", "logo_url": "l", "type": "online"]
        for name in good.keys {
            server.reply(.service, .json(200, good.filter { $0.key != name }))
            XCTAssertEqual(
                failure { () throws(SDKError) in _ = try sdk.serviceDetails(server.url) }, .responseParseError, name)
        }
        server.reply(.service, .json(200, good.merging(["type": "other"]) { $1 }))
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sdk.serviceDetails(server.url) }, .responseParseError)
    }
}
