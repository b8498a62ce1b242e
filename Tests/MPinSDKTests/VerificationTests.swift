import Foundation
import LoopbackServer
import MPinSDK
import MPinWire
import XCTest

/// Tests functions that only a MIRACL MFA server has. The answers are written from the description of its protocol
/// (TRUST wire), not recorded.
final class VerificationTests: FlowTestCase {
    func testVerifiedUserIDRegisters() throws {
        let user = try sdk.makeNewUser("alice@example.com", deviceName: "phone")
        try sdk.startVerification(user, clientID: "client", accessCode: "aid")
        XCTAssertEqual(user.state, .startedVerification)
        XCTAssertEqual(
            try XCTUnwrap(server.received.last).json as NSDictionary,
            ["userId": "alice@example.com", "clientId": "client", "accessId": "aid", "deviceName": "phone"])
        XCTAssertEqual(
            failure { () throws(SDKError) in _ = try sdk.finishVerification(user, code: "654321") },
            .verificationFailed)
        let verification = try sdk.finishVerification(user, code: "123456")
        XCTAssertEqual(verification.accessID, "aid")
        XCTAssertEqual(verification.activationToken, "activation token")
        XCTAssertEqual(verification.expireTime, 1_795_229_215)
        XCTAssertEqual(user.state, .startedVerification)
        try sdk.startRegistrationMFA(
            user, accessCode: verification.accessID, activateCode: verification.activationToken, pushID: "push")
        XCTAssertEqual(
            try XCTUnwrap(server.received.last).json as NSDictionary,
            [
                "userId": "alice@example.com", "mobile": 1, "deviceName": "phone", "wid": "aid",
                "activateCode": "activation token", "pushToken": "push",
            ])
        XCTAssertEqual(user.state, .activated)
        try sdk.confirmRegistration(user)
        try finishRegistration(user, "1234")
        XCTAssertNoThrow(try logIn(user))
    }

    func testAStartedVerificationOutlivesTheProgram() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startVerification(user, clientID: "client")
        XCTAssertEqual(user.state.legacyNumber, 0)
        XCTAssertEqual(try sdk.listUsers().count, 1)
        let other = try newSDK()
        let same = try self.user(in: other)
        XCTAssertEqual(same.state, .startedVerification)
        XCTAssertEqual(failure { () throws(SDKError) in try other.startRegistration(same) }, .flowError)
        try other.startRegistrationMFA(same)
        XCTAssertEqual(try sdk.listUsers().map(\.state), [.activated])
    }

    func testTheSettingsMayNameAnotherPlace() throws {
        server.state.withLock { $0.settings["verificationURL"] = "/elsewhere" }
        try sdk.setBackend(server.url)
        let user = try sdk.makeNewUser("alice@example.com")
        XCTAssertEqual(
            failure { () throws(SDKError) in try sdk.startVerification(user, clientID: "c") }, .verificationFailed)
        XCTAssertEqual(server.received.last?.path, "/elsewhere")
        XCTAssertEqual(user.state, .invalid)
    }

    func testAnEmptyActivationTokenIsNone() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startVerification(user, clientID: "c")
        for answer in [["actToken": ""], ["accessId": "a"], [:]] {
            server.reply(.verificationConfirmation, .json(200, answer))
            XCTAssertEqual(
                failure { () throws(SDKError) in _ = try sdk.finishVerification(user, code: "123456") },
                .responseParseError)
        }
    }

    // MARK: Registration at a MIRACL MFA server

    private func reply(_ more: [String: Any], regOTT: String = "9ff3dd0a6f1c4addef2afe2c11966ec0") {
        let id = Array(#"{"userID":"alice@example.com"}"#.utf8).map { String(format: "%02x", $0) }.joined()
        var answer: [String: Any] = ["mpinId": id, "regOTT": regOTT, "active": false]
        answer.merge(more) { $1 }
        server.reply(.register, .json(200, answer))
    }

    func testWhatTheAnswerTellsOfTheUserIsKept() throws {
        reply([
            "customerId": "c1", "appId": "a1", "pinLength": 6, "expireTime": "2026-11-21T03:36:19.271581",
            "nowTime": 1_795_228_579_000,
        ])
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistrationMFA(user)
        let other = try self.user(in: try newSDK())
        for user in [user, other] {
            XCTAssertEqual(user.customerID, "c1")
            XCTAssertEqual(user.appID, "a1")
            XCTAssertEqual(user.pinLength, 6)
            XCTAssertEqual(members(user.registrationExpiration), ["1795232179", "1795228579"])
        }
        XCTAssertTrue(try sdk.userExists(user.id))
        XCTAssertTrue(try sdk.userExists(user.id, customerID: "c1", appID: "a1"))
        XCTAssertFalse(try sdk.userExists(user.id, customerID: "c2"))
        XCTAssertFalse(try sdk.userExists(user.id, customerID: "c1", appID: "a2"))
        XCTAssertFalse(try sdk.userExists("bob"))
    }

    func testWhatTheAnswerTellsNotIsEmpty() throws {
        for more in [[:], ["pinLength": 7, "expireTime": "soon", "customerId": [1], "appId": NSNull()]] {
            reply(more)
            let user = try sdk.makeNewUser("alice@example.com")
            try sdk.startRegistrationMFA(user)
            XCTAssertEqual(user.customerID + user.appID, "")
            XCTAssertEqual(user.pinLength, 0)
            XCTAssertEqual(members(user.registrationExpiration), ["0", "0"])
            try sdk.deleteUser(user)
        }
    }

    func testTheServersPINLengthIsEnforcedAndRemembered() throws {
        for (digits, right, wrong) in [(4, "1234", ["12345", "123456"]), (6, "123456", ["1234", "12345", "1234567"])] {
            server.state.withLock { $0.settings["pinLength"] = digits }
            try sdk.setBackend(server.url)
            let user = try sdk.makeNewUser("user\(digits)")
            try sdk.startRegistration(user)
            try sdk.confirmRegistration(user)
            XCTAssertEqual(user.pinLength, digits)
            for pin in wrong {
                XCTAssertEqual(failure { () throws(SDKError) in try finishRegistration(user, pin) }, .pinInvalid, pin)
            }
            try finishRegistration(user, right)
            server.state.withLock { $0.settings["pinLength"] = 5 }
            try sdk.setBackend(server.url)
            try sdk.startAuthentication(user)
            server.forgetCalls()
            for pin in wrong {
                XCTAssertEqual(failure { () throws(SDKError) in try finishAuthentication(user, pin) }, .pinInvalid)
            }
            XCTAssertEqual(server.calls, [])
            XCTAssertNoThrow(try finishAuthentication(user, right))
        }
    }

    func testARegistrationTokenInTwoParts() throws {
        reply([:], regOTT: "9ff3dd0a6f1c4add")
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistrationMFA(user)
        XCTAssertFalse(user.isRegistrationTokenSet)
        for token in ["", "a b", "ü", "a\n", String(repeating: "a", count: 1025)] {
            XCTAssertEqual(
                failure { () throws(SDKError) in try sdk.setRegistrationToken(user, token: SecretText(token)) },
                .invalidArgument)
        }
        try sdk.setRegistrationToken(user, token: "ef2afe2c11966ec0")
        XCTAssertTrue(user.isRegistrationTokenSet)
        XCTAssertEqual(user.state, .startedRegistration)
        XCTAssertEqual(
            failure { () throws(SDKError) in try sdk.setRegistrationToken(user, token: "00") }, .flowError)
        // The client sends the completed registration token, also after a restart of the program.
        let other = try newSDK()
        let same = try self.user(in: other)
        XCTAssertTrue(same.isRegistrationTokenSet)
        XCTAssertNotNil(failure { () throws(SDKError) in try other.confirmRegistration(same) })
        XCTAssertEqual(server.received.last?.query["regOTT"], "9ff3dd0a6f1c4addef2afe2c11966ec0")
        // After a restart of the registration, the registration token is incomplete again, and must be completed a
        // second time.
        try sdk.restartRegistration(user)
        XCTAssertEqual(server.received.last?.json["regOTT"] as? String, "9ff3dd0a6f1c4addef2afe2c11966ec0")
        XCTAssertFalse(user.isRegistrationTokenSet)
    }

    func testAWholeRegistrationTokenTakesNoMore() throws {
        reply([:])
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistrationMFA(user)
        XCTAssertTrue(user.isRegistrationTokenSet)
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.setRegistrationToken(user, token: "00") }, .flowError)
    }

    func testAnUnknownCodeHasExpired() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        let expected: [Int: Status] = [404: .registrationExpired, 403: .identityNotAuthorized, 400: .httpRequestError]
        for (status, result) in expected {
            server.fail(.register, status: status)
            XCTAssertEqual(failure { () throws(SDKError) in try sdk.startRegistrationMFA(user) }, result, "\(status)")
        }
        // A 404 of a Milagro server does not mean that the registration has expired.
        server.fail(.register, status: 404)
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startRegistration(user) }, .httpRequestError)
    }
}
