import Foundation
import LoopbackServer
import MPinSDK
import MPinSecrets
import XCTest

/// Tests what the client does when a MIRACL server demands, in its answer to a login, that the client fetches a new
/// secret. The demands are written from the description of the protocol (TRUST wire), not recorded. The server checks
/// the following logins with the server secret.
final class RenewalTests: FlowTestCase {
    private let keyPair: [String: any Sendable] = ["dvsRegister": ["token": "leave", "curve": "BN254CX"]]
    private let id = "alice@example.com"

    private func demand(_ demands: [String: any Sendable]...) { server.state.withLock { $0.demands = demands } }

    override func setUpWithError() throws {
        try super.setUpWithError()
        server.state.withLock { $0.usesPermits = false }
        try sdk.setBackend(server.url)
    }

    /// Returns a demand with the first share of a new secret, for a user without a key pair. `isNew`: whether it is for
    /// another M-Pin ID than the present one.
    private func shares(_ mpinID: String, isNew: Bool = true) throws -> [String: any Sendable] {
        let hash = Hex.encode(SHA256.hash(try XCTUnwrap(Hex.decode(mpinID))))
        let query = "expires=2026-11-21T02:37:19Z&signature=5e&hash_user_id=&hash_mpin_id=\(hash)"
        var share: [String: any Sendable] = [
            "clientSecretShare": try server.clientShare(server.master1, hash), "curve": "BN254CX",
            "cs2url": "\(server.url)/v3/clientSecret?\(query)", "dtas": "WyIwMCIsIjExIl0=",
        ]
        if isNew { share["mpinId"] = mpinID }
        return ["renewSecret": share]
    }

    private func mpinID(_ salt: Int) -> String { Hex.encode(Array(#"{"userID":"\#(id)","salt":\#(salt)}"#.utf8)) }

    private func sign(_ user: User, _ pin: String) throws(SDKError) -> Signature {
        let (hash, digits) = ([UInt8](repeating: 7, count: 32), Array(pin.utf8))
        return try sdk.sign(user, hash: hash.span, pin: digits.span)
    }

    private func checkLogsIn(_ user: User, _ pin: String = "1234") throws {
        server.forgetCalls()
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user, "4321") }, .incorrectPIN)
        XCTAssertNotNil(try logIn(user, pin))
        XCTAssertEqual(Set(server.received.compactMap { $0.json["mpin_id"] as? String }), [user.mpinID])
        let other = try newSDK()
        XCTAssertNotNil(try logIn(try self.user(in: other), pin, sdk: other))
    }

    func testAKeyPairTakesThePlaceOfThePlainSecret() throws {
        let user = try registered()
        let former = user.mpinID
        demand(keyPair)
        server.forgetCalls()
        XCTAssertEqual(try logIn(user), #"{"someUserData":"welcome ü"}"#)
        XCTAssertEqual(
            server.calls,
            [
                .pass1, .pass2, .authenticate, .signingRegister, .secondSigningShare, .pass1, .pass2, .authenticate,
            ])
        XCTAssertNotEqual(user.mpinID, former)
        XCTAssertTrue(user.canSign)
        try checkLogsIn(user)
        // The new identity can also sign, with the same PIN. A demand in the answer to a signature renews it again.
        let renewed = user.mpinID
        demand(keyPair)
        let signature = try sign(user, "1234")
        XCTAssertTrue(try server.isSignature(signature, of: [UInt8](repeating: 7, count: 32)))
        XCTAssertEqual(signature.mpinID, user.mpinID)
        XCTAssertNotEqual(user.mpinID, renewed)
        try checkLogsIn(user)
        // After a change of the PIN, the new PIN is valid for logins and for signatures.
        try logIn(user)
        let (pin, new) = (Array("1234".utf8), Array("2468".utf8))
        try sdk.changePIN(user, old: pin.span, new: new.span)
        try checkLogsIn(user, "2468")
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sign(user, "1234") }, .incorrectPIN)
        let last = try sign(user, "2468")
        XCTAssertTrue(try server.isSignature(last, of: [UInt8](repeating: 7, count: 32)))
    }

    func testNewSharesKeepTheKindOfTheSecret() throws {
        let user = try registered()
        for (salt, isNew) in [(1, true), (1, false), (2, true)] {
            demand(try shares(mpinID(salt), isNew: isNew))
            server.forgetCalls()
            XCTAssertNotNil(try logIn(user))
            XCTAssertEqual(
                server.calls,
                [.pass1, .pass2, .authenticate, .secondClientSecret, .pass1, .pass2, .authenticate])
            XCTAssertEqual(user.mpinID, mpinID(salt))
            XCTAssertFalse(user.canSign)
            XCTAssertFalse(user.authData.contains("clientSecretShare"))
        }
        try checkLogsIn(user)
    }

    func testTheBrowserOfTheFirstAttemptIsLoggedIn() throws {
        let (user, pin) = (try registered(), Array("1234".utf8))
        demand(keyPair)
        try sdk.startAuthentication(user)
        server.forgetCalls()
        try sdk.finishAuthenticationAN(user, pin: pin.span, accessNumber: "2741539")
        XCTAssertEqual(server.received.compactMap { $0.json["WID"] as? String }, ["2741539", "2741539"])
        XCTAssertTrue(user.canLogout)
    }

    func testFactorsArePartOfTheNewToken() throws {
        let (user, factor, pin) = (try sdk.makeNewUser(id), Array("777777".utf8), Array("1234".utf8))
        try sdk.startRegistration(user)
        try sdk.confirmRegistration(user)
        try sdk.addFactor(user, factor: factor.span)
        try finishRegistration(user, "1234")
        demand(keyPair)
        for _ in 0..<2 {
            try sdk.startAuthentication(user)
            try sdk.addFactor(user, factor: factor.span)
            XCTAssertNotNil(try sdk.finishAuthentication(user, pin: pin.span))
        }
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .incorrectPIN)
        // Renews the secret again. The new token is for the PIN that was just used, so this PIN can be changed.
        try sdk.startAuthentication(user)
        try sdk.addFactor(user, factor: factor.span)
        demand(keyPair)
        _ = try sdk.finishAuthentication(user, pin: pin.span)
        let new = Array("2468".utf8)
        try sdk.addFactor(user, factor: factor.span)
        try sdk.changePIN(user, old: pin.span, new: new.span)
        try sdk.startAuthentication(user)
        try sdk.addFactor(user, factor: factor.span)
        XCTAssertNotNil(try sdk.finishAuthentication(user, pin: new.span))
    }

    func testASigningKeyOfItsOwnIsRenewedAloneAndKept() throws {
        let (user, pin, signingPIN) = (try registered(), Array("1234".utf8), Array("5678".utf8))
        try sdk.startRegistrationDVS(user, pin: pin.span)
        try sdk.finishRegistrationDVS(user, pin: signingPIN.span)
        let (login, signer) = (user.mpinID, try sign(user, "5678").mpinID)
        demand(keyPair)
        let signature = try sign(user, "5678")
        XCTAssertTrue(try server.isSignature(signature, of: [UInt8](repeating: 7, count: 32)))
        XCTAssertNotEqual(signature.mpinID, signer)
        XCTAssertEqual(user.mpinID, login)
        // The user already has a separate key pair for signatures and cannot get a second one, so this demand fails.
        demand(keyPair)
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .clientSecretExpired)
        demand(try shares(mpinID(1)))
        XCTAssertNotNil(try logIn(user))
        XCTAssertEqual(user.mpinID, mpinID(1))
        XCTAssertEqual(try sign(user, "5678").mpinID, signature.mpinID)
        try checkLogsIn(user)
    }

    func testAFailedRenewalKeepsTheOldSecret() throws {
        let user = try registered()
        let former = user.mpinID
        let stranger = Hex.encode(Array(#"{"userID":"bob@example.com"}"#.utf8))
        var noPoint = try XCTUnwrap(try shares(mpinID(1))["renewSecret"] as? [String: any Sendable])
        noPoint["clientSecretShare"] = String(repeating: "04", count: 65)
        var elsewhere = noPoint
        elsewhere["clientSecretShare"] = try server.clientShare(server.master1, String(repeating: "00", count: 32))
        elsewhere["cs2url"] = "http://example.com/"
        let demands: [([String: any Sendable], Status)] = [
            (["dvsRegister": ["token": "another"]], .httpRequestError),
            (["dvsRegister": ["token": ""]], .responseParseError),
            (["dvsRegister": ["curve": "BN254CX"]], .responseParseError), (["dvsRegister": 7], .responseParseError),
            (["dvsRegister": ["token": "leave", "curve": "BLS383"]], .cryptoError),
            (["renewSecret": ["cs2url": "/"]], .responseParseError), (["renewSecret": noPoint], .cryptoError),
            (["renewSecret": elsewhere], .untrustedDomainError), (try shares(stranger), .responseParseError),
        ]
        for (wanted, status) in demands {
            demand(wanted)
            XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, status, "\(wanted)")
            XCTAssertEqual(user.mpinID, former)
            XCTAssertFalse(user.canSign)
        }
        try checkLogsIn(user)
        // Makes storing the new secret fail, by a folder with the name of the temporary file. The old secret must
        // remain valid.
        try FileManager.default.createDirectory(atPath: path + ".new", withIntermediateDirectories: false)
        demand(keyPair)
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .storageError)
        try FileManager.default.removeItem(atPath: path + ".new")
        try checkLogsIn(user)
    }

    func testTheFormerSecretComesBackWhereTheNewOneDoesNotFit() throws {
        server.state.withLock { $0.registration = ["verificationType": "em"] }
        let user = try registered()
        let former = user.mpinID
        var unfit = try XCTUnwrap(try shares(mpinID(1))["renewSecret"] as? [String: any Sendable])
        unfit["clientSecretShare"] = try server.clientShare(server.master1, String(repeating: "00", count: 32))
        for attempts in [3, 1] {
            server.state.withLock { $0.maxAttempts = attempts }
            demand(["renewSecret": unfit])
            XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .responseParseError)
            XCTAssertEqual(sdk.lastError?.text.contains("the new secret does not fit"), true)
            XCTAssertEqual(user.mpinID, former)
            XCTAssertEqual(user.verificationType, "em")
            XCTAssertEqual(user.state, .registered)
            XCTAssertNotNil(try logIn(user))
        }
        server.state.withLock { $0.maxAttempts = 3 }
        try checkLogsIn(user)
    }

    func testAFormerKeyPairComesBackWhereTheNewOneDoesNotFit() throws {
        let user = try registered()
        demand(keyPair)
        try logIn(user)
        let former = user.mpinID
        let foreign = Reply.json(
            200, ["dvsClientSecret": try server.clientShare(server.master2, String(repeating: "00", count: 32))])
        server.reply(.secondSigningShare, foreign)
        demand(keyPair)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try sign(user, "1234") }, .responseParseError)
        demand(keyPair)
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .responseParseError)
        server.fail(.secondSigningShare, status: nil)
        XCTAssertEqual(user.mpinID, former)
        XCTAssertEqual(try sign(user, "1234").mpinID, former)
        try checkLogsIn(user)
    }

    func testALoginWhoseNewSecretFindsNoServerCanBeEndedLater() throws {
        for usesPermits in [false, true] {
            server.state.withLock { $0.usesPermits = usesPermits }
            try sdk.setBackend(server.url)
            let user = try registered()
            try sdk.startAuthentication(user)
            demand(try shares(mpinID(usesPermits ? 2 : 1)))
            server.forgetCalls()
            server.state.withLock { state in
                state.override = { [server] call, _ in
                    guard call == .pass1, server?.calls.contains(.authenticate) == true else { return nil }
                    return .json(503, ["message": "busy"])
                }
            }
            XCTAssertEqual(
                failure { () throws(SDKError) in try finishAuthentication(user, "1234") }, .httpServerError)
            XCTAssertEqual(user.mpinID, mpinID(usesPermits ? 2 : 1))
            server.fail(.pass1, status: nil)
            XCTAssertNotNil(try finishAuthentication(user, "1234"))
            try sdk.deleteUser(user)
        }
    }

    func testALeaveThatWasAskedForIsNotSpentOnTheLogin() throws {
        let (user, pin, signingPIN) = (try registered(), Array("1234".utf8), Array("5678".utf8))
        demand(try shares(mpinID(1)).merging(keyPair) { $1 })
        try sdk.startRegistrationDVS(user, pin: pin.span)
        XCTAssertEqual(user.mpinID, mpinID(1))
        XCTAssertFalse(user.canSign)
        try sdk.finishRegistrationDVS(user, pin: signingPIN.span)
        XCTAssertNotEqual(try sign(user, "5678").mpinID, user.mpinID)
        try checkLogsIn(user)
    }

    func testANewMPinIDTellsHowItWasVerified() throws {
        server.state.withLock { $0.registration = ["verificationType": "em"] }
        let user = try registered()
        XCTAssertEqual(user.verificationType, "em")
        demand(try shares(user.mpinID, isNew: false))
        try logIn(user)
        XCTAssertEqual(user.verificationType, "em")
        demand(try shares(Hex.encode(Array(#"{"userID":"\#(id)","vt":"dvs"}"#.utf8))))
        try logIn(user)
        XCTAssertEqual(user.verificationType, "dvs")
        XCTAssertEqual(try self.user(in: try newSDK()).verificationType, "dvs")
    }

    func testATokenThatAnotherProcessHasChangedMeanwhileStays() throws {
        let (user, pin, new) = (try registered(), Array("1234".utf8), Array("9876".utf8))
        let other = try newSDK()
        let same = try self.user(in: other)
        try logIn(same, sdk: other)
        demand(keyPair)
        server.state.withLock { state in
            state.override = { call, _ in
                guard call == .secondSigningShare else { return nil }
                try? other.changePIN(same, old: pin.span, new: new.span)
                return nil
            }
        }
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .flowError)
        XCTAssertFalse(user.canSign)
        server.state.withLock { $0.override = { _, _ in nil } }
        try checkLogsIn(user, "9876")
    }

    func testAServerThatIsNeverContentIsAskedTwice() throws {
        let user = try registered()
        demand(keyPair, keyPair)
        server.forgetCalls()
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .responseParseError)
        XCTAssertEqual(server.calls.filter { $0 == .authenticate }.count, 2)
        try checkLogsIn(user)
        // The identity has a key pair, so a demand to renew it without a public key is refused.
        demand(try shares(mpinID(1)))
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .responseParseError)
    }
}
