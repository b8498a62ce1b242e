import Foundation
import LoopbackServer
import MPinSDK
import XCTest

final class RegistrationTests: FlowTestCase {
    func testRegistrationWithConfirmation() throws {
        server.state.withLock { $0.isForced = false }
        let user = try sdk.makeNewUser("alice@example.com", deviceName: "phone")
        XCTAssertEqual(user.state, .invalid)
        XCTAssertEqual(user.mpinID, "")
        try sdk.startRegistration(user, activateCode: "code", userData: "data ü")
        XCTAssertEqual(user.state, .startedRegistration)
        let body = try XCTUnwrap(server.received.last).json
        XCTAssertEqual(
            body as NSDictionary,
            [
                "userId": "alice@example.com", "mobile": 1, "deviceName": "phone", "userData": "data ü",
                "activateCode": "code",
            ])
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.confirmRegistration(user) }, .identityNotVerified)
        let hint = ": the mail link has not been opened yet: confirm, or restart the registration"
        XCTAssertEqual(sdk.lastError?.text.hasSuffix(hint), true)
        XCTAssertEqual(failure { () throws(SDKError) in try finishRegistration(user, "1234") }, .flowError)
        server.activate(user.mpinID)
        try sdk.confirmRegistration(user, pushID: "push id&")
        XCTAssertEqual(server.received.dropLast().last?.query["pmiToken"], "push id&")
        XCTAssertEqual(user.state, .startedRegistration)
        try finishRegistration(user, "1234")
        XCTAssertEqual(user.state, .registered)
        XCTAssertEqual(try logIn(user), #"{"someUserData":"welcome ü"}"#)
    }

    /// A server may return the user id in composed form if it was typed decomposed. Any other change of the id is
    /// refused.
    func testAnIDMayNameTheUserInAnotherUnicodeForm() throws {
        func answer(_ name: String) throws {
            let id: [String: Any] = ["mobile": 1, "issued": "", "userID": name, "salt": "00"]
            let hex = try JSONSerialization.data(withJSONObject: id).map { String(format: "%02x", $0) }.joined()
            server.state.withLock { $0.registration["mpinId"] = hex }
        }
        let user = try sdk.makeNewUser("jose\u{301}@example.com")
        try answer("jose@example.com")
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startRegistration(user) }, .responseParseError)
        try answer("jos\u{e9}@example.com")
        try sdk.startRegistration(user)
        XCTAssertEqual(
            (try XCTUnwrap(server.received.last).json["userId"] as? String).map { Array($0.utf8) },
            Array("jose\u{301}@example.com".utf8), "sent as the program gave it")
        XCTAssertTrue(try sdk.user("jos\u{e9}@example.com") === user)
        XCTAssertTrue(try sdk.makeNewUser("jos\u{e9}@example.com") === user)
    }

    func testWhatTheServerSaysToThePersonIsKept() throws {
        server.state.withLock {
            $0.isForced = false
            $0.registration["message"] = "no mails yet"
        }
        let user = try sdk.makeNewUser("alice@example.com")
        XCTAssertEqual(user.notice, "")
        try sdk.startRegistration(user)
        XCTAssertEqual(user.notice, "no mails yet")
    }

    func testForcedRegistrationIsActiveAtOnce() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistration(user)
        XCTAssertEqual(user.state, .activated)
        XCTAssertEqual(
            try XCTUnwrap(server.received.last).json as NSDictionary, ["userId": "alice@example.com", "mobile": 1])
    }

    func testRestartKeepsTheIdentity() throws {
        server.state.withLock { $0.isForced = false }
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistration(user)
        let mpinID = user.mpinID
        try sdk.restartRegistration(user, userData: "again")
        XCTAssertEqual(user.mpinID, mpinID)
        XCTAssertEqual(server.received.last?.path, "/rps/user/\(mpinID)")
        XCTAssertNotNil(server.received.last?.json["regOTT"])
        XCTAssertEqual(user.state, .startedRegistration)
        server.state.withLock { $0.isForced = true }
        try sdk.restartRegistration(user)
        XCTAssertEqual(user.state, .activated)
    }

    func testRegistrationGoesOnAfterARestartOfTheProgram() throws {
        server.state.withLock { $0.isForced = false }
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistration(user)
        server.activate(user.mpinID)
        let other = try newSDK()
        let same = try self.user(in: other)
        XCTAssertEqual(same.state, .startedRegistration)
        XCTAssertEqual(same.mpinID, user.mpinID)
        try other.confirmRegistration(same)
        try finishRegistration(same, "1234", sdk: other)
        XCTAssertEqual(same.state, .registered)
        XCTAssertEqual(try sdk.listUsers().map(\.state), [.registered])
        XCTAssertEqual(user.state, .registered)
    }

    func testALostSecondShareIsAskedForAloneNextTime() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistration(user)
        for reply in [Reply.reset(), .json(500, [:]), .json(429, [:]), .text(200, "<html>"), .text(200, "[]")] {
            server.reply(.secondClientSecret, reply)
            XCTAssertNotNil(failure { () throws(SDKError) in try sdk.confirmRegistration(user) })
        }
        server.forgetCalls()
        server.fail(.secondClientSecret, status: nil)
        try sdk.confirmRegistration(user)
        XCTAssertEqual(server.calls, [.secondClientSecret])
        try finishRegistration(user, "1234")
        XCTAssertNoThrow(try logIn(user))
    }

    func testARefusedSecondShareNeedsANewFirstOne() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistration(user)
        server.fail(.secondClientSecret, status: 408)
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.confirmRegistration(user) }, .requestExpired)
        server.fail(.secondClientSecret, status: nil)
        server.forgetCalls()
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.confirmRegistration(user) }, .identityNotVerified)
        XCTAssertEqual(server.calls, [.signature])
        XCTAssertEqual(user.state, .activated)
    }

    func testAfterTheSettingsAreCorrectedTheSecondShareIsFetchedWhereTheySay() throws {
        server.state.withLock { $0.settings = ["certivoxURL": "http://127.0.0.1:1/"] }
        try sdk.setBackend(server.url)
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistration(user)
        XCTAssertNotNil(failure { () throws(SDKError) in try sdk.confirmRegistration(user) })
        server.state.withLock { $0.settings = [:] }
        try sdk.setBackend(server.url)
        server.forgetCalls()
        XCTAssertNoThrow(try sdk.confirmRegistration(user))
        XCTAssertEqual(server.calls, [.secondClientSecret])
    }

    func testConfirmingTwiceAsksOnce() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistration(user)
        try sdk.confirmRegistration(user)
        server.forgetCalls()
        try sdk.confirmRegistration(user)
        XCTAssertEqual(server.calls, [])
    }

    func testPINsThatAreNone() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistration(user)
        try sdk.confirmRegistration(user)
        XCTAssertEqual(failure { () throws(SDKError) in try finishRegistration(user, "") }, .pinInputCanceled)
        for pin in ["1", "123", "1234567", "12a4", "１２３４", " 1234", "1234\n", "-123", "+1234", "12.4", "\u{0}123"] {
            XCTAssertEqual(failure { () throws(SDKError) in try finishRegistration(user, pin) }, .pinInvalid, pin)
        }
        XCTAssertEqual(user.state, .activated)
        try finishRegistration(user, "000000")
        XCTAssertEqual(user.state, .registered)
    }

    func testEveryPINLengthLogsIn() throws {
        for (number, pin) in ["0000", "98765", "999999"].enumerated() {
            let user = try registered("user\(number)", pin: pin)
            XCTAssertNoThrow(try logIn(user, pin))
            let wrong = String(pin.dropLast()) + (pin.last == "0" ? "1" : "0")
            XCTAssertEqual(failure { () throws(SDKError) in try logIn(user, wrong) }, .incorrectPIN)
        }
    }

    func testAnswersThatNameAnotherUserAreRefused() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        let other = #"{"userID":"mallory@example.com","mobile":1,"issued":"","salt":""}"#
        let bad = [
            "", "7", "zz", "7b7d", "00", hex("[]"), hex(other), hex(#"{"userID":7}"#),
            hex(#"{"userID":"Alice@example.com"}"#),
            hex(#"{"userID":"alice@example.com","userID":"alice@example.com"}"#), hex(other + "x"),
            hex(#"{"userID":"alice@example.com","x":""# + String(repeating: "y", count: 5000) + #""}"#),
        ]
        for mpinID in bad {
            server.reply(.register, .json(200, ["mpinId": mpinID, "regOTT": "1", "active": true]))
            XCTAssertEqual(
                failure { () throws(SDKError) in try sdk.startRegistration(user) }, .responseParseError, mpinID)
            XCTAssertEqual(user.state, .invalid)
        }
        server.reply(
            .register,
            .json(200, ["mpinId": hex(#"{"userID":"alice@example.com"}"#).uppercased(), "regOTT": "1", "active": true]))
        try sdk.startRegistration(user)
        XCTAssertEqual(user.mpinID, hex(#"{"userID":"alice@example.com"}"#))
    }

    func testSharesThatAreNoPointsAreRefused() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        let good =
            "0420bb376f4d54c9179ddc0ab600a572518743d7ea45747827bf948b5506490c3b02ab5629d3fea46cfbda44618d652b1b6ac452587c4cf2949065328fe3d55be5"
        let cases: [(share: String, status: Status)] = [
            (String(good.dropLast(2)), .responseParseError), (good + "00", .responseParseError),
            ("", .responseParseError),
            ("zz" + good.dropFirst(2), .responseParseError), ("02" + good.dropFirst(2), .cryptoError),
            (good.dropLast(2) + "e6", .cryptoError), ("04" + String(repeating: "0", count: 128), .cryptoError),
            ("04" + String(repeating: "f", count: 128), .cryptoError),
        ]
        for test in cases {
            try sdk.deleteUser(user)
            let user = try sdk.makeNewUser("alice@example.com")
            try sdk.startRegistration(user)
            server.reply(.signature, .json(200, ["clientSecretShare": test.share, "params": ""]))
            server.state.withLock { state in
                let signature = state.override
                state.override = { call, request in
                    call == .secondClientSecret ? .json(200, ["clientSecret": good]) : signature(call, request)
                }
            }
            XCTAssertEqual(
                failure { () throws(SDKError) in try sdk.confirmRegistration(user) }, test.status, test.share)
            XCTAssertEqual(failure { () throws(SDKError) in try finishRegistration(user, "1234") }, .flowError)
            server.fail(.signature, status: nil)
            try sdk.deleteUser(user)
        }
    }

    func testParamsThatAreNoQueryAreRefused() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistration(user)
        let share =
            "0420bb376f4d54c9179ddc0ab600a572518743d7ea45747827bf948b5506490c3b02ab5629d3fea46cfbda44618d652b1b6ac452587c4cf2949065328fe3d55be5"
        for params in ["a b", "a\r\nX: y", "ü", "a\u{0}"] {
            server.reply(.signature, .json(200, ["clientSecretShare": share, "params": params]))
            XCTAssertEqual(
                failure { () throws(SDKError) in try sdk.confirmRegistration(user) }, .responseParseError, params)
        }
    }

    func testAFullDiskKeepsTheStateAndTheRegistrationCanBeFinishedLater() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistration(user)
        try sdk.confirmRegistration(user)
        // A folder with the name of the temporary file makes writing the store fail.
        try FileManager.default.createDirectory(atPath: path + ".new", withIntermediateDirectories: false)
        XCTAssertEqual(failure { () throws(SDKError) in try finishRegistration(user, "1234") }, .storageError)
        XCTAssertEqual(user.state, .activated)
        try FileManager.default.removeItem(atPath: path + ".new")
        try finishRegistration(user, "1234")
        XCTAssertNoThrow(try logIn(user))
    }

    private func hex(_ text: String) -> String { text.utf8.map { String(format: "%02x", $0) }.joined() }
}
