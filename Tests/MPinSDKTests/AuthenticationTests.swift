import Foundation
import LoopbackServer
import MPinSDK
import MPinSecrets
import XCTest

final class AuthenticationTests: FlowTestCase {
    func testSelfTestPasses() { XCTAssertNil(failure { () throws(SDKError) in try SDK.selfTest() }) }

    func testRightPINWrongPINRightPIN() throws {
        let user = try registered()
        XCTAssertEqual(try logIn(user), #"{"someUserData":"welcome ü"}"#)
        XCTAssertEqual(user.authData, #"{"someUserData":"welcome ü"}"#)
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user, "1235") }, .incorrectPIN)
        XCTAssertEqual(user.state, .registered)
        XCTAssertNoThrow(try logIn(user))
    }

    func testAWrongPINMayBeFollowedByAnotherWithoutANewStart() throws {
        let user = try registered()
        try sdk.startAuthentication(user)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try finishAuthentication(user, "4321") }, .incorrectPIN)
        XCTAssertNoThrow(try finishAuthentication(user, "1234"))
    }

    func testAfterASuccessTheNextFinishStartsTheLoginAnewByItself() throws {
        let user = try registered()
        XCTAssertEqual(failure { () throws(SDKError) in _ = try finishAuthentication(user, "1234") }, .flowError)
        try logIn(user)
        server.state.withLock { $0.date += 1 }
        server.forgetCalls()
        XCTAssertNoThrow(try finishAuthentication(user, "1234"))
        XCTAssertEqual(
            server.calls, [.timePermit, .permitStorage, .secondTimePermit, .pass1, .pass2, .authenticate])
        server.forgetCalls()
        XCTAssertEqual(failure { () throws(SDKError) in _ = try finishAuthentication(user, "4321") }, .incorrectPIN)
        XCTAssertNoThrow(try finishAuthentication(user, "1234"))
        XCTAssertEqual(server.calls.filter { $0 == .timePermit }.count, 1)
        // In another process the login must first be started, because a started login is only in memory.
        let other = try newSDK()
        let again = try self.user(in: other)
        XCTAssertEqual(
            failure { () throws(SDKError) in _ = try finishAuthentication(again, "1234", sdk: other) }, .flowError)
    }

    func testAStartAfterAWrongPINAsksForAnotherPermit() throws {
        let user = try registered()
        let foreign = try server.permitShare(try registered("bob@example.com").mpinID, second: true)
        for call in [MilagroServer.Call.timePermit, .secondTimePermit] {
            // The answer contains a valid point, but this point is the permit share of another identity.
            server.reply(call, permitAnswer(foreign))
            try sdk.startAuthentication(user)
            XCTAssertEqual(failure { () throws(SDKError) in _ = try finishAuthentication(user, "1234") }, .incorrectPIN)
            server.fail(call, status: nil)
            server.forgetCalls()
            XCTAssertNoThrow(try logIn(user), "\(call)")
            XCTAssertEqual(server.calls, [.timePermit, .secondTimePermit, .pass1, .pass2, .authenticate])
            server.state.withLock { $0.date += 1 }
        }
    }

    /// Returns an answer with this permit share. It has all members that the client needs, whether it has asked for the
    /// first or for the second share.
    private func permitAnswer(_ share: String) -> Reply {
        let date = server.state.withLock { Int($0.date) }
        return .json(200, ["date": date, "signature": "a+b=&", "storageId": "00", "timePermit": share])
    }

    func testAfterAWrongShareInThePermitStorageTheSecondDTAIsAsked() throws {
        let user = try registered()
        let hash = Hex.encode(SHA256.hash(try XCTUnwrap(Hex.decode(user.mpinID))))
        let foreign = try server.permitShare(try registered("bob@example.com").mpinID, second: true)
        server.state.withLock { $0.stored = ["/tp/app%201/20778/\(hash)": foreign] }
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .incorrectPIN)
        XCTAssertFalse(server.calls.contains(.secondTimePermit))
        // Another process does not use the wrong share either, because it was not stored.
        let other = try newSDK()
        server.forgetCalls()
        XCTAssertNoThrow(try logIn(try self.user(in: other), sdk: other))
        XCTAssertEqual(server.calls, [.timePermit, .secondTimePermit, .pass1, .pass2, .authenticate])
        // On the next day the permit storage is asked again.
        server.state.withLock { $0.date += 1 }
        let share = try server.permitShare(user.mpinID, second: true)
        server.state.withLock { $0.stored = ["/tp/app%201/20779/\(hash)": share] }
        server.forgetCalls()
        XCTAssertNoThrow(try logIn(user))
        XCTAssertEqual(server.calls, [.timePermit, .permitStorage, .pass1, .pass2, .authenticate])
    }

    func testARightPINAfterAWrongOneShowsThatThePermitWasRight() throws {
        let user = try registered()
        let hash = Hex.encode(SHA256.hash(try XCTUnwrap(Hex.decode(user.mpinID))))
        let share = try server.permitShare(user.mpinID, second: true)
        server.state.withLock { $0.stored = ["/tp/app%201/20778/\(hash)": share] }
        try sdk.startAuthentication(user)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try finishAuthentication(user, "4321") }, .incorrectPIN)
        XCTAssertNoThrow(try finishAuthentication(user, "1234"))
        server.forgetCalls()
        XCTAssertNoThrow(try logIn(user))
        XCTAssertEqual(server.calls, [.timePermit, .permitStorage, .pass1, .pass2, .authenticate])
    }

    func testAfterAnUnblockingTheWrongShareInThePermitStorageIsNotTakenAgain() throws {
        server.state.withLock { $0.maxAttempts = 1 }
        let user = try registered()
        let hash = Hex.encode(SHA256.hash(try XCTUnwrap(Hex.decode(user.mpinID))))
        let foreign = try server.permitShare(try registered("bob@example.com").mpinID, second: true)
        server.state.withLock { $0.stored = ["/tp/app%201/20778/\(hash)": foreign] }
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .incorrectPIN)
        XCTAssertEqual(user.state, .blocked)
        server.state.withLock { $0.attempts = [:] }
        XCTAssertNoThrow(try logIn(user))
        XCTAssertEqual(user.state, .registered)
    }

    func testWithoutTimePermitsALoginNeedsNoStart() throws {
        server.state.withLock { $0.usesPermits = false }
        try sdk.setBackend(server.url)
        let user = try registered()
        server.forgetCalls()
        XCTAssertNoThrow(try finishAuthentication(user, "1234"))
        XCTAssertNoThrow(try finishAuthentication(user, "1234"))
        XCTAssertEqual(server.calls, [.pass1, .pass2, .authenticate, .pass1, .pass2, .authenticate])
    }

    func testTheRequestsAreThoseOfTheWire() throws {
        let user = try registered()
        server.forgetCalls()
        try logIn(user)
        XCTAssertEqual(
            server.calls, [.timePermit, .permitStorage, .secondTimePermit, .pass1, .pass2, .authenticate])
        let received = server.received
        XCTAssertEqual(received[0].target, "/rps/timePermit/\(user.mpinID)")
        let hash = received[2].query["hash_mpin_id"] ?? ""
        XCTAssertEqual(received[1].target, "/tp/app%201/20778/\(hash)")
        XCTAssertEqual(
            received[2].target, "/v3/timePermit?hash_mpin_id=\(hash)&app_id=app%201&mobile=1&signature=a%2Bb%3D%26")
        for request in received.dropFirst(3) {
            XCTAssertEqual(request.header("Content-Type"), "application/json; charset=UTF-8")
        }
        let pass1 = received[3].json
        XCTAssertEqual(Set(pass1.keys), ["pass", "mpin_id", "U", "UT"])
        XCTAssertEqual((pass1["U"] as? String)?.count, 130)
        XCTAssertEqual((pass1["UT"] as? String)?.count, 130)
        XCTAssertEqual(Set(received[4].json.keys), ["pass", "mpin_id", "V", "WID", "OTP"])
    }

    func testEveryLoginUsesAFreshCommitment() throws {
        let user = try registered()
        server.forgetCalls()
        for _ in 0..<3 { try logIn(user) }
        let commitments = server.received.compactMap { $0.json["U"] as? String }
        XCTAssertEqual(Set(commitments).count, 3)
    }

    func testSecondPermitShareIsKeptForItsDayAndOverARestart() throws {
        let user = try registered()
        try logIn(user)
        server.forgetCalls()
        try logIn(user)
        XCTAssertEqual(server.calls, [.timePermit, .pass1, .pass2, .authenticate])
        let other = try newSDK()
        server.forgetCalls()
        try logIn(try self.user(in: other), sdk: other)
        XCTAssertEqual(server.calls, [.timePermit, .pass1, .pass2, .authenticate])
        server.state.withLock { $0.date += 1 }
        server.forgetCalls()
        try logIn(user)
        XCTAssertEqual(
            server.calls, [.timePermit, .permitStorage, .secondTimePermit, .pass1, .pass2, .authenticate])
    }

    func testPermitStorageIsUsedWhereItHasTheShare() throws {
        let user = try registered()
        let share = try server.permitShare(user.mpinID, second: true)
        try logIn(user)
        let target = try XCTUnwrap(server.received.first { $0.path.hasPrefix("/tp/") }).path
        for text in [share, "\(share)\n", " \(share.uppercased())\r\n"] {
            server.state.withLock { $0.stored[target.replacingOccurrences(of: "20778", with: "20779")] = text }
            server.state.withLock { $0.date = 20779 }
            let fresh = try server.permitShare(user.mpinID, second: true)
            server.state.withLock { state in
                state.stored = state.stored.mapValues { $0.lowercased().replacingOccurrences(of: share, with: fresh) }
            }
            server.forgetCalls()
            try logIn(user)
            XCTAssertEqual(server.calls.contains(.secondTimePermit), false, text)
            server.state.withLock { $0.date = 20778 }
            try logIn(user)
        }
    }

    func testWhateverThePermitStorageDoesTheSecondDTAIsAsked() throws {
        let user = try registered()
        let other = try registered("bob@example.com")
        let foreign = try server.permitShare(other.mpinID, second: false)
        let bad: [Reply] = [
            .text(404, ""), .text(500, ""), .text(200, ""), .text(200, "{}"), .text(200, String(foreign.dropLast(2))),
            .text(200, "04" + String(repeating: "0", count: 128)), .text(302, ""), .reset(), .raw([]),
            .text(200, String(repeating: "0", count: 2 << 20)),
        ]
        for (number, reply) in bad.enumerated() {
            server.state.withLock { $0.date = 21000 + Int32(number) }
            server.reply(.permitStorage, reply)
            server.forgetCalls()
            XCTAssertNoThrow(try logIn(user), "\(reply)")
            XCTAssertTrue(server.calls.contains(.secondTimePermit), "\(reply)")
        }
    }

    func testAStalledPermitStorageLeavesTimeForTheSecondDTA() throws {
        let user = try registered()
        let sdk = try newSDK(timeout: 2500)
        server.reply(.permitStorage, .stall())
        XCTAssertNoThrow(try logIn(try self.user(in: sdk), sdk: sdk))
        XCTAssertEqual(user.state, .registered)
    }

    func testWithoutPermitStorageItIsNotAsked() throws {
        server.state.withLock { $0.hasStorage = false }
        try sdk.setBackend(server.url)
        let user = try registered()
        server.forgetCalls()
        try logIn(user)
        XCTAssertFalse(server.calls.contains(.permitStorage))
    }

    func testWithoutTimePermits() throws {
        server.state.withLock { $0.usesPermits = false }
        try sdk.setBackend(server.url)
        let user = try registered()
        server.forgetCalls()
        XCTAssertNoThrow(try logIn(user))
        XCTAssertEqual(server.calls, [.pass1, .pass2, .authenticate])
        XCTAssertEqual(server.received[0].json["UT"] as? String, "")
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user, "0000") }, .incorrectPIN)
    }

    func testAWrongPINSaysHowManyTriesAreLeft() throws {
        let user = try registered()
        for (left, words) in [(2, ": 2 tries are left"), (1, ": 1 try is left")] {
            server.reply(.authenticate, .json(401, ["message": "Wrong PIN.", "attemptsLeft": left]))
            XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .incorrectPIN)
            XCTAssertEqual(sdk.lastError?.text.hasSuffix(words), true)
        }
        server.reply(.authenticate, .json(401, ["message": "Wrong PIN."]))
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .incorrectPIN)
        XCTAssertEqual(sdk.lastError?.text.contains("left"), false)
    }

    func testThreeWrongPINsBlockAndKeepTheToken() throws {
        let user = try registered()
        for _ in 0..<3 {
            XCTAssertEqual(user.state, .registered)
            XCTAssertEqual(failure { () throws(SDKError) in try logIn(user, "0000") }, .incorrectPIN)
        }
        XCTAssertEqual(user.state, .blocked)
        XCTAssertEqual(sdk.lastError?.httpStatus, 410)
        server.forgetCalls()
        XCTAssertEqual(failure { () throws(SDKError) in _ = try finishAuthentication(user, "1234") }, .flowError)
        XCTAssertEqual(server.calls, [], "the login that ran into the block is over")
        let other = try newSDK()
        XCTAssertEqual(try self.user(in: other).state, .blocked)
        // The client sends a login although the user is blocked, because only the server knows whether the user was
        // unblocked.
        server.fail(.authenticate, status: 410)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try logIn(user, "1234") }, .incorrectPIN)
        XCTAssertEqual(user.state, .blocked)
        // A new registration of the user starts without failed attempts.
        server.fail(.authenticate, status: nil)
        try sdk.deleteUser(user)
        XCTAssertNoThrow(try logIn(try registered()))
    }

    func testBlockingHoldsEvenWhereItCannotBeStored() throws {
        let user = try registered()
        try logIn(user)
        try sdk.startAuthentication(user)
        server.fail(.authenticate, status: 410)
        try FileManager.default.createDirectory(atPath: path + ".new", withIntermediateDirectories: false)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try finishAuthentication(user, "1234") }, .incorrectPIN)
        XCTAssertEqual(user.state, .blocked)
        XCTAssertTrue(sdk.lastError?.text.contains(path) ?? false)
        try FileManager.default.removeItem(atPath: path + ".new")
    }

    func testAPermitThatCannotBeStoredDoesNotStopALogin() throws {
        let user = try registered()
        try FileManager.default.createDirectory(atPath: path + ".new", withIntermediateDirectories: false)
        XCTAssertNoThrow(try logIn(user))
        try FileManager.default.removeItem(atPath: path + ".new")
    }

    func testPINsThatAreNoneSendNothing() throws {
        let user = try registered()
        try sdk.startAuthentication(user)
        server.forgetCalls()
        XCTAssertEqual(failure { () throws(SDKError) in _ = try finishAuthentication(user, "") }, .pinInputCanceled)
        for pin in ["123", "1234567", "12a4"] {
            XCTAssertEqual(failure { () throws(SDKError) in _ = try finishAuthentication(user, pin) }, .pinInvalid)
        }
        XCTAssertEqual(server.calls, [])
    }

    func testAChallengeNeedNotBeReduced() throws {
        let user = try registered()
        let server = server!
        for count in 1...6 {
            server.state.withLock { state in
                state.override = { call, request in
                    guard call == .pass1, (try? server.pass1(request)) != nil,
                        let y = server.state.withLock({ $0.pass1[user.mpinID]?.y })
                    else { return nil }
                    return .json(200, ["y": Hex.encode(unreduced(y, count))])
                }
            }
            XCTAssertNoThrow(try logIn(user), "\(count)")
            XCTAssertEqual(failure { () throws(SDKError) in try logIn(user, "1235") }, .incorrectPIN, "\(count)")
        }
    }

    func testChallengesThatAreNoneGiveErrors() throws {
        let user = try registered()
        let zero = String(repeating: "0", count: 64)
        let most = Hex.encode(unreduced([UInt8](repeating: 0, count: 32), 7))
        let cases: [(y: Any, status: Status)] = [
            ("", .responseParseError), ("zz" + zero.dropFirst(2), .responseParseError),
            (zero + "00", .responseParseError),
            (String(zero.dropLast(2)), .responseParseError), (7, .responseParseError), (zero, .cryptoError),
            (order, .cryptoError), (most, .cryptoError),
        ]
        for test in cases {
            server.reply(.pass1, .json(200, ["y": test.y]))
            XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, test.status, "\(test.y)")
        }
    }

    func testTimePermitAnswersThatAreNoneGiveErrors() throws {
        let user = try registered()
        let share = try server.permitShare(user.mpinID, second: false)
        let good: [String: Any] = ["date": 20778, "signature": "a+b=&", "storageId": "00", "timePermit": share]
        let changes: [(member: String, value: Any?, status: Status)] = [
            ("date", nil, .responseParseError), ("date", "20778", .responseParseError),
            ("date", 0, .responseParseError),
            ("date", -1, .responseParseError), ("date", 1e10, .responseParseError),
            ("signature", nil, .responseParseError),
            ("storageId", nil, .responseParseError), ("timePermit", nil, .responseParseError),
            ("timePermit", "04", .responseParseError),
            ("timePermit", "04" + String(repeating: "f", count: 128), .cryptoError),
        ]
        for change in changes {
            var answer = good
            answer[change.member] = change.value
            server.reply(.timePermit, .json(200, answer))
            XCTAssertEqual(
                failure { () throws(SDKError) in try sdk.startAuthentication(user) }, change.status, "\(change)")
            XCTAssertEqual(failure { () throws(SDKError) in _ = try finishAuthentication(user, "1234") }, .flowError)
        }
        server.reply(.timePermit, .json(200, good))
        XCTAssertNoThrow(try logIn(user))
    }

    func testABadSecondPermitShareIsNotKept() throws {
        let user = try registered()
        server.reply(.secondTimePermit, .json(200, ["timePermit": "04" + String(repeating: "f", count: 128)]))
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startAuthentication(user) }, .cryptoError)
        server.fail(.secondTimePermit, status: nil)
        XCTAssertNoThrow(try logIn(user))
    }

    func testAnAnswerOfTheApplicationIsJSONOrNothing() throws {
        let user = try registered()
        server.reply(.authenticate, .answer(200, body: []))
        XCTAssertEqual(try logIn(user), "")
        for text in ["<html>", "{", "{}x", "{\"a\":1,\"a\":2}"] {
            server.reply(.authenticate, .text(200, text))
            XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .responseParseError, text)
        }
        for text in ["[]", "1", "\"x\"", "null"] {
            server.reply(.pass2, .text(200, text))
            XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .responseParseError, text)
        }
    }

    func testThePermitCacheFollowsTheDateWhereverItJumps() throws {
        let user = try registered()
        for (date, isCached) in [
            (20778, false), (20778, true), (20779, false), (20778, false), (30000, false), (1, false), (1, true),
        ] {
            server.state.withLock { $0.date = Int32(date) }
            server.forgetCalls()
            XCTAssertNoThrow(try logIn(user), "\(date)")
            XCTAssertEqual(server.calls.contains(.secondTimePermit), !isCached, "\(date)")
        }
    }

    func testASuspendedIdentityGetsNoPermit() throws {
        let user = try registered()
        for call in [MilagroServer.Call.timePermit, .secondTimePermit] {
            server.fail(call, status: 410)
            XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .revoked)
            XCTAssertEqual(user.state, .registered)
        }
        server.fail(.timePermit, status: nil)
        XCTAssertNoThrow(try logIn(user))
    }

    func testAnExpiredSecretKeepsTheUserAndSaysSo() throws {
        let user = try registered()
        server.fail(.authenticate, status: 409)
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .clientSecretExpired)
        XCTAssertEqual(sdk.lastError?.text.hasSuffix(": register again"), true)
        XCTAssertEqual(user.state, .registered)
        server.fail(.authenticate, status: nil)
        try sdk.deleteUser(user)
        XCTAssertNoThrow(try logIn(try registered()))
    }
}

private let order = "2400000008702a0db0bddf647a6366d2c43fd6ee0cc906cebe11c0a636eb1f6d"

/// Returns the number in `y` plus `count` times the group order, as 32 big-endian bytes. It stands for the same scalar
/// as `y`, but is not reduced.
private func unreduced(_ y: [UInt8], _ count: Int) -> [UInt8] {
    let order = Hex.decode(order) ?? []
    var (sum, carry) = (y, 0)
    for index in sum.indices.reversed() {
        carry += Int(sum[index]) + count * Int(order[index])
        sum[index] = UInt8(truncatingIfNeeded: carry)
        carry >>= 8
    }
    return sum
}
