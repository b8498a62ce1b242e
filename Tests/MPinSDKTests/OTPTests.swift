import Foundation
import LoopbackServer
import MPinSDK
import XCTest

final class OTPTests: FlowTestCase {
    private func finish(_ user: User, _ pin: String = "1234") throws(SDKError) -> OTP {
        let digits = Array(pin.utf8)
        return try sdk.finishAuthenticationOTP(user, pin: digits.span)
    }

    private func finishRegCode(_ user: User) throws(SDKError) -> OTP {
        let digits = Array("1234".utf8)
        return try sdk.finishAuthenticationRegCode(user, pin: digits.span)
    }

    private let expected = ["ok", "932826", "1795229215", "1795229155", "60"]

    func testTimesAreInSeconds() throws {
        let user = try registered()
        try sdk.startAuthenticationOTP(user)
        XCTAssertEqual(members(try finish(user)), expected)
        let pass2 = try XCTUnwrap(server.received.first { $0.path.hasSuffix("pass2") }).json
        XCTAssertEqual(pass2["OTP"] as? Bool, true)
        XCTAssertEqual(pass2["WID"] as? String, "0")
        try sdk.startAuthenticationOTP(user)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try finish(user, "0000") }, .incorrectPIN)
    }

    func testAOneTimePasswordWithoutItsTimesKeepsItsDigits() throws {
        let user = try registered()
        let times: [String: any Sendable] = [
            "expireTime": 1_795_229_215_000.0, "ttlSeconds": 60, "nowTime": 1_795_229_155_000,
        ]
        server.reply(.authenticate, .json(200, times))
        try sdk.startAuthenticationOTP(user)
        XCTAssertEqual(members(try finish(user)), expected)
        for (position, name) in ["expireTime", "nowTime", "ttlSeconds"].enumerated() {
            var rest = expected
            (rest[0], rest[position + 2]) = ("responseParseError", "0")
            for value in [nil, 0, -1, "60", 1e300] as [Any?] {
                var answer: [String: Any] = times
                answer[name] = value
                server.reply(.authenticate, .json(200, answer))
                try sdk.startAuthenticationOTP(user)
                XCTAssertEqual(
                    members(try finish(user)), rest, "\(name) \(String(describing: value))")
                XCTAssertEqual(user.state, .registered)
            }
        }
        server.reply(.authenticate, .answer(200, body: []))
        try sdk.startAuthenticationOTP(user)
        XCTAssertEqual(members(try finish(user)), ["responseParseError", "932826", "0", "0", "0"])
    }

    func testALoginWithoutAOneTimePasswordHasSucceededAllTheSame() throws {
        let user = try registered()
        for code in ["", String(repeating: "1", count: 64), "a b"] {
            server.state.withLock { state in
                state.override = { call, _ in
                    switch call {
                    case .pass2: .json(200, ["authOTT": "00", "OTP": code])
                    case .authenticate: .json(200, ["expireTime": 1_795_229_215_000, "ttlSeconds": 60])
                    default: nil
                    }
                }
            }
            try sdk.startAuthenticationOTP(user)
            XCTAssertEqual(members(try finish(user)), ["flowError", "", "0", "0", "0"])
            XCTAssertEqual(user.state, .registered)
        }
    }

    // MARK: Registration codes (the answers are not recorded)

    /// A one-time password of a Milagro server cannot register a device, so the client must not ask for one.
    func testAServerThatKnowsNoRegistrationCodesIsNotAskedForOne() throws {
        let user = try registered()
        server.forgetCalls()
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startAuthenticationRegCode(user) }, .flowError)
        try sdk.startAuthentication(user)
        server.forgetCalls()
        XCTAssertEqual(failure { () throws(SDKError) in _ = try finishRegCode(user) }, .flowError)
        XCTAssertEqual(server.calls, [])
    }

    /// Registers a user at a server whose settings announce registration codes.
    private func registeredForCodes() throws -> User {
        server.state.withLock { $0.settings["registrationCodes"] = true }
        try sdk.setBackend(server.url)
        return try registered()
    }

    func testARegistrationCodeHasTheShapeOfAnOTP() throws {
        let user = try registeredForCodes()
        try sdk.startAuthenticationRegCode(user)
        server.forgetCalls()
        XCTAssertEqual(members(try finishRegCode(user)), expected)
        XCTAssertEqual(server.received[0].json["scope"] as? [String], ["reg-code"])
    }

    func testAnIdentityFromARegistrationCodeMayNotMakeOne() throws {
        let user = try registeredForCodes()
        try sdk.startAuthenticationRegCode(user)
        server.reply(
            .authenticate, .json(403, ["requestID": "r-1", "error": "LIMITED_QUICKCODE_GENERATION", "info": "no"]))
        XCTAssertEqual(failure { () throws(SDKError) in _ = try finishRegCode(user) }, .operationNotAllowed)
        XCTAssertEqual(sdk.lastError?.server.requestID, "r-1")
        XCTAssertEqual(sdk.lastError?.server.text, "LIMITED_QUICKCODE_GENERATION: no")
        server.fail(.authenticate, status: 403)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try finishRegCode(user) }, .identityNotAuthorized)
    }
}
