import Foundation
import LoopbackServer
import MPinSDK
import MPinSecrets
import XCTest

/// Tests signing keys and signatures. The answers are written from the description of the MIRACL MFA protocol (TRUST
/// wire), not recorded. The signatures are checked with a real server secret.
final class SigningTests: FlowTestCase {
    private let hash = SDK.hashDocument(Array("a document".utf8).span)

    private func startDVS(_ user: User, _ pin: String = "1234") throws(SDKError) {
        let digits = Array(pin.utf8)
        try sdk.startRegistrationDVS(user, pin: digits.span)
    }

    private func finishDVS(_ user: User, _ pin: String = "5678") throws(SDKError) {
        let digits = Array(pin.utf8)
        try sdk.finishRegistrationDVS(user, pin: digits.span)
    }

    private func sign(
        _ user: User, _ pin: String = "5678", hash: [UInt8]? = nil, time: Int64 = 0, token: String? = nil,
        sdk other: SDK? = nil
    ) throws(SDKError) -> Signature {
        let digits = Array(pin.utf8)
        let hash = hash ?? self.hash
        return try (other ?? sdk).sign(user, hash: hash.span, pin: digits.span, epochTime: time, authzToken: token)
    }

    @discardableResult
    private func signer() throws -> User {
        let user = try registered()
        try startDVS(user)
        try finishDVS(user)
        return user
    }

    func testASignatureHoldsForItsHashItsTimeAndItsKey() throws {
        for usesPermits in [true, false] {
            server.state.withLock { $0.usesPermits = usesPermits }
            try sdk.setBackend(server.url)
            let user = try signer()
            XCTAssertTrue(user.canSign)
            XCTAssertEqual(user.state, .registered)
            var signature = try sign(user, time: 1_795_229_155)
            XCTAssertEqual(signature.timestamp, 1_795_229_155)
            XCTAssertEqual(signature.dtas, "WyIwMCIsIjExIl0=")
            XCTAssertNotEqual(signature.mpinID, user.mpinID)
            XCTAssertTrue(try server.isSignature(signature, of: hash))
            XCTAssertFalse(try server.isSignature(signature, of: hash.reversed()))
            signature.timestamp += 1
            XCTAssertFalse(try server.isSignature(signature, of: hash))
            try sdk.deleteUser(user)
        }
    }

    func testTheRequestsAreThoseOfTheProtocol() throws {
        let user = try registered()
        server.forgetCalls()
        try startDVS(user)
        XCTAssertEqual(
            server.calls,
            [
                .timePermit, .permitStorage, .secondTimePermit, .pass1, .pass2, .authenticate, .signingRegister,
                .secondSigningShare,
            ])
        let received = server.received
        XCTAssertEqual(received[3].json["scope"] as? [String], ["dvs-reg"])
        XCTAssertEqual(received[5].json["scope"] as? String, "dvs")
        XCTAssertEqual(Set(received[6].json.keys), ["publicKey", "dvsRegisterToken"])
        server.forgetCalls()
        try finishDVS(user)
        XCTAssertEqual(server.calls, [])
        let signature = try sign(user, token: "MAAS-HMAC-SHA256 abc=")
        XCTAssertEqual(server.calls, [.pass1, .pass2, .authenticate])
        let pass1 = server.received[0].json
        XCTAssertEqual(pass1["scope"] as? [String], ["dvs-auth"])
        XCTAssertEqual(pass1["UT"] as? String, "")
        XCTAssertEqual(pass1["publicKey"] as? String, Hex.encode(signature.publicKey))
        XCTAssertEqual(pass1["dtas"] as? String, "WyIwMCIsIjExIl0=")
        XCTAssertEqual(server.received[2].header("Authorization"), "MAAS-HMAC-SHA256 abc=")
    }

    func testTheTimeIsNowWhereNoneIsGiven() throws {
        let user = try signer()
        let before = Int64(Date().timeIntervalSince1970)
        let signature = try sign(user)
        XCTAssertTrue((before...before + 30).contains(signature.timestamp))
        XCTAssertTrue(try server.isSignature(signature, of: hash))
    }

    func testTheProgramsClockIsTheOneThatCounts() throws {
        try signer()
        for (milliseconds, expected): (Int64?, Status?) in [
            (1_700_000_000_999, nil), (nil, .flowError), (-1, .invalidArgument), (.max, .invalidArgument),
            (.min, .invalidArgument),
        ] {
            let other = try newSDK(
                Environment(now: { () throws(SDKError) in
                    guard let milliseconds else { throw SDKError(.flowError, "no clock") }
                    return milliseconds
                }))
            let same = try self.user(in: other)
            var timestamp: Int64?
            let status = failure { () throws(SDKError) in timestamp = try sign(same, sdk: other).timestamp }
            XCTAssertEqual(status, expected)
            XCTAssertEqual(timestamp, expected == nil ? 1_700_000_000 : nil)
        }
    }

    func testEverySignatureHasACommitmentOfItsOwn() throws {
        let user = try signer()
        let signatures = try (0..<3).map { _ in try sign(user, time: 7) }
        XCTAssertEqual(Set(signatures.map(\.u)).count, 3)
    }

    func testArgumentsThatAreNoneSendNothing() throws {
        let user = try signer()
        server.forgetCalls()
        for bad in [[], [UInt8](repeating: 1, count: 257)] {
            XCTAssertEqual(
                failure { () throws(SDKError) in _ = try sign(user, hash: bad) }, .invalidArgument)
        }
        for time in [-1, 1 << 32, 1_795_229_155_000] as [Int64] {
            XCTAssertEqual(failure { () throws(SDKError) in _ = try sign(user, time: time) }, .invalidArgument)
        }
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sign(user, token: "a\r\nb: c") }, .invalidArgument)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sign(user, "") }, .pinInputCanceled)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sign(user, "56") }, .pinInvalid)
        XCTAssertEqual(server.calls, [])
        XCTAssertNoThrow(try sign(user, hash: [UInt8](repeating: 1, count: 256), time: 1 << 32 - 1))
    }

    func testTheSigningPINIsItsOwn() throws {
        let user = try signer()
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sign(user, "1234") }, .incorrectPIN)
        XCTAssertNoThrow(try sign(user))
        XCTAssertNoThrow(try logIn(user))
        XCTAssertEqual(failure { () throws(SDKError) in try startDVS(user, "0000") }, .incorrectPIN)
    }

    func testTheLastAttemptEndsTheSigningKeyAlone() throws {
        let user = try signer()
        for _ in 0..<3 {
            XCTAssertTrue(user.canSign)
            XCTAssertEqual(failure { () throws(SDKError) in _ = try sign(user, "0000") }, .incorrectPIN)
        }
        XCTAssertFalse(user.canSign)
        XCTAssertEqual(user.state, .registered)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sign(user) }, .flowError)
        XCTAssertFalse(try self.user(in: try newSDK()).canSign)
        XCTAssertNoThrow(try logIn(user))
        XCTAssertNoThrow(try startDVS(user))
    }

    func testTheEndOfTheSigningKeyHoldsEvenWhereItCannotBeStored() throws {
        let user = try signer()
        server.fail(.authenticate, status: 410)
        try FileManager.default.createDirectory(atPath: path + ".new", withIntermediateDirectories: false)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sign(user) }, .incorrectPIN)
        XCTAssertFalse(user.canSign)
        try FileManager.default.removeItem(atPath: path + ".new")
    }

    func testTheKeyOutlivesTheProgramAndGoesWithTheUser() throws {
        let user = try signer()
        let other = try newSDK()
        let same = try self.user(in: other)
        XCTAssertTrue(same.canSign)
        XCTAssertTrue(try server.isSignature(try sign(same, sdk: other), of: hash))
        for _ in 0..<3 { _ = failure { () throws(SDKError) in try logIn(user, "0000") } }
        XCTAssertEqual(user.state, .blocked)
        XCTAssertFalse(user.canSign)
    }

    func testOneAfterTheOther() throws {
        let user = try registered()
        XCTAssertEqual(failure { () throws(SDKError) in try finishDVS(user) }, .flowError)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sign(user) }, .flowError)
        try startDVS(user)
        XCTAssertEqual(failure { () throws(SDKError) in try finishDVS(user, "") }, .pinInputCanceled)
        XCTAssertEqual(failure { () throws(SDKError) in try finishDVS(user, "56789012") }, .pinInvalid)
        XCTAssertFalse(user.canSign)
        try finishDVS(user)
        XCTAssertEqual(failure { () throws(SDKError) in try finishDVS(user) }, .flowError)
        XCTAssertNoThrow(try sign(user))
    }

    func testFactorsProtectSignatures() throws {
        let user = try registered()
        let factor = Array("777777".utf8)
        try startDVS(user)
        try sdk.addFactor(user, factor: factor.span)
        try finishDVS(user)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sign(user) }, .incorrectPIN)
        try sdk.addFactor(user, factor: factor.span)
        XCTAssertNoThrow(try sign(user))
    }

    func testAnswersThatAreNoneGiveErrors() throws {
        let user = try registered()
        let leaves: [(answer: [String: Any], status: Status)] = [
            ([:], .responseParseError), (["dvsRegister": ["curve": "BN254CX"]], .responseParseError),
            (["dvsRegister": ["token": ""]], .responseParseError),
            (["dvsRegister": ["token": "t", "curve": "BLS383"]], .cryptoError),
        ]
        for leave in leaves {
            server.reply(.authenticate, .json(200, leave.answer))
            XCTAssertEqual(failure { () throws(SDKError) in try startDVS(user) }, leave.status, "\(leave)")
        }
        let id = Hex.encode(Array(#"{"userID":"alice@example.com"}"#.utf8))
        let share =
            "0420bb376f4d54c9179ddc0ab600a572518743d7ea45747827bf948b5506490c3b02ab5629d3fea46cfbda44618d652b1b6ac452587c4cf2949065328fe3d55be5"
        let good: [String: Any] = [
            "mpinId": id, "dvsClientSecretShare": share, "curve": "BN254CX",
            "dtas": "WyI=",
            "cs2url": server.url + "/v3/dvs?hash=" + String(repeating: "00", count: 32),
        ]
        let changes: [(member: String, value: Any?, status: Status)] = [
            ("mpinId", nil, .responseParseError), ("mpinId", Hex.encode(Array("{}".utf8)), .responseParseError),
            ("dvsClientSecretShare", "04", .responseParseError), ("curve", "BLS383", .cryptoError),
            ("dtas", nil, .responseParseError), ("dtas", "a b", .responseParseError),
            ("dtas", String(repeating: "a", count: 1024), .responseParseError),
            ("cs2url", "http://example.com/", .untrustedDomainError), ("cs2url", "x", .untrustedDomainError),
            ("dvsClientSecretShare", String(repeating: "04", count: 65), .cryptoError),
        ]
        for change in changes {
            var answer = good
            answer[change.member] = change.value
            server.reply(.signingRegister, .json(200, answer))
            XCTAssertEqual(failure { () throws(SDKError) in try startDVS(user) }, change.status, "\(change)")
            XCTAssertEqual(failure { () throws(SDKError) in try finishDVS(user) }, .flowError)
        }
    }

    func testHashesOfDocuments() {
        let document = Array("abc".utf8)
        let hash = SDK.hashDocument(document.span)
        XCTAssertEqual(Hex.encode(hash), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        XCTAssertTrue(SDK.verifyDocument(document.span, hash: hash.span))
        let other = hash.dropLast() + [0]
        let short = Array(hash.dropLast())
        XCTAssertFalse(SDK.verifyDocument(document.span, hash: Array(other).span))
        XCTAssertFalse(SDK.verifyDocument(document.span, hash: short.span))
    }
}
