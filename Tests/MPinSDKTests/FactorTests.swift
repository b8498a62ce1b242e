import Foundation
import LoopbackServer
import MPinCrypto
import MPinSDK
import MPinSecrets
import MPinWire
import XCTest

final class FactorTests: FlowTestCase {
    private func add(_ factors: String..., to user: User) throws(SDKError) {
        for factor in factors {
            let digits = Array(factor.utf8)
            try sdk.addFactor(user, factor: digits.span)
        }
    }

    private func change(_ user: User, _ old: String, _ new: String) throws(SDKError) {
        let (old, new) = (Array(old.utf8), Array(new.utf8))
        try sdk.changePIN(user, old: old.span, new: new.span)
    }

    /// Registers a user with PIN 1234 and the factors 567890 and 0042.
    private func registeredWithFactors() throws -> User {
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistration(user)
        try sdk.confirmRegistration(user)
        try add("567890", "0042", to: user)
        try finishRegistration(user, "1234")
        return user
    }

    func testALoginNeedsAllFactorsInAnyOrder() throws {
        let user = try registeredWithFactors()
        server.state.withLock { $0.maxAttempts = 100 }
        for factors in [["567890", "0042"], ["0042", "567890"]] {
            for factor in factors { try add(factor, to: user) }
            XCTAssertNoThrow(try logIn(user))
        }
        for factors in [[], ["567890"], ["0042"], ["567890", "0043"], ["567890", "0042", "0001"]] {
            for factor in factors { try add(factor, to: user) }
            XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .incorrectPIN, "\(factors)")
        }
    }

    func testFactorsAreForgottenWithTheNextCallHoweverItEnds() throws {
        let user = try registered()
        try add("0001", to: user)
        XCTAssertEqual(failure { () throws(SDKError) in try finishAuthentication(user, "1234") }, .flowError)
        XCTAssertNoThrow(try logIn(user))
        try add("0001", to: user)
        try sdk.startAuthentication(user)
        XCTAssertEqual(failure { () throws(SDKError) in try finishAuthentication(user, "12") }, .pinInvalid)
        XCTAssertNoThrow(try finishAuthentication(user, "1234"))
    }

    func testFactorsAreForgottenWithACallThatDoesNotEvenBegin() throws {
        let user = try registered()
        try sdk.startAuthentication(user)
        try add("0001", to: user)
        let store = try read(path)
        try write(Array("mpin-store 7\n".utf8), path)
        XCTAssertEqual(
            failure { () throws(SDKError) in try finishAuthentication(user, "1234") }, .unsupportedFormat)
        try write(store, path)
        XCTAssertNoThrow(try finishAuthentication(user, "1234"))
    }

    func testWhatIsNoFactorIsRefused() throws {
        let user = try registered()
        for factor in ["", "123", "1234567", "12a4", "１２３４"] {
            XCTAssertEqual(failure { () throws(SDKError) in try add(factor, to: user) }, .pinInvalid, factor)
        }
        for _ in 0..<8 { try add("999999", to: user) }
        XCTAssertEqual(failure { () throws(SDKError) in try add("999999", to: user) }, .flowError)
        // Eight factors and a PIN, all of the largest size, can be added: the login fails only because they are wrong.
        try sdk.startAuthentication(user)
        XCTAssertEqual(failure { () throws(SDKError) in try finishAuthentication(user, "999999") }, .incorrectPIN)
        XCTAssertNoThrow(try add("1234", to: user))
    }

    func testTheLargestFactorsOfAll() throws {
        let user = try sdk.makeNewUser("alice@example.com")
        try sdk.startRegistration(user)
        try sdk.confirmRegistration(user)
        for _ in 0..<8 { try add("999999", to: user) }
        try finishRegistration(user, "999999")
        for _ in 0..<8 { try add("999999", to: user) }
        XCTAssertNoThrow(try logIn(user, "999999"))
    }

    // MARK: Change of the PIN

    func testTheNewPINLogsInAndTheOldOneDoesNot() throws {
        let user = try registered()
        try logIn(user)
        server.forgetCalls()
        try change(user, "1234", "987654")
        XCTAssertEqual(server.calls, [])
        XCTAssertEqual(user.state, .registered)
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .incorrectPIN)
        XCTAssertNoThrow(try logIn(user, "987654"))
        let other = try newSDK()
        XCTAssertNoThrow(try logIn(try self.user(in: other), "987654", sdk: other))
    }

    func testAWrongOldPINLeavesTheTokenAndEndsTheLeave() throws {
        let user = try registered()
        try logIn(user)
        let before = try read(path)
        XCTAssertEqual(failure { () throws(SDKError) in try change(user, "1235", "9876") }, .incorrectPIN)
        XCTAssertEqual(try read(path), before)
        XCTAssertEqual(failure { () throws(SDKError) in try change(user, "1234", "9876") }, .flowError)
        XCTAssertNoThrow(try logIn(user))
        XCTAssertNoThrow(try change(user, "1234", "9876"))
    }

    func testOnlyStraightAfterALogin() throws {
        let user = try registered()
        XCTAssertEqual(failure { () throws(SDKError) in try change(user, "1234", "9876") }, .flowError)
        try logIn(user)
        try sdk.startAuthentication(user)
        XCTAssertEqual(failure { () throws(SDKError) in try change(user, "1234", "9876") }, .flowError)
        XCTAssertEqual(failure { () throws(SDKError) in try finishAuthentication(user, "0000") }, .incorrectPIN)
        XCTAssertEqual(failure { () throws(SDKError) in try change(user, "0000", "9876") }, .flowError)
        try finishAuthentication(user, "1234")
        for pin in ["", "12", "12a4"] {
            let expected: Status = pin.isEmpty ? .pinInputCanceled : .pinInvalid
            XCTAssertEqual(failure { () throws(SDKError) in try change(user, "1234", pin) }, expected)
            XCTAssertEqual(failure { () throws(SDKError) in try change(user, pin, "1234") }, expected)
        }
        try change(user, "1234", "9876")
        XCTAssertEqual(failure { () throws(SDKError) in try change(user, "9876", "1234") }, .flowError)
    }

    func testTheFactorsStay() throws {
        let user = try registeredWithFactors()
        try add("567890", "0042", to: user)
        try logIn(user)
        try add("567890", to: user)
        XCTAssertEqual(failure { () throws(SDKError) in try change(user, "1234", "9876") }, .incorrectPIN)
        try add("567890", "0042", to: user)
        try logIn(user)
        try add("0042", "567890", to: user)
        try change(user, "1234", "9876")
        try add("567890", "0042", to: user)
        XCTAssertNoThrow(try logIn(user, "9876"))
    }

    func testATokenOfAnOldClientKeepsItsMappingUntilTheChange() throws {
        let user = try registered()
        let digits = Array("1234".utf8)
        try logIn(user)
        // Replaces the record by that of a Milagro client. In it, the token is for the number that the string hash of
        // Milagro's core gives for "1234".
        let store = UserStore(storage: FileStorage(path: path), key: try KeyFile.load(path + ".key"))
        var record = try XCTUnwrap(try store.load().records.first)
        record = try legacy(record, pin: digits)
        _ = try store.update(record.key) { $0 = record }
        XCTAssertNoThrow(try logIn(user))
        try change(user, "1234", "1235")
        XCTAssertEqual(try store.load().records.first?.mapping, .decimal6)
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(user) }, .incorrectPIN)
        XCTAssertNoThrow(try logIn(user, "1235"))
    }

    func testAFullDiskKeepsTheOldPIN() throws {
        let user = try registered()
        try logIn(user)
        try FileManager.default.createDirectory(atPath: path + ".new", withIntermediateDirectories: false)
        XCTAssertEqual(failure { () throws(SDKError) in try change(user, "1234", "9876") }, .storageError)
        try FileManager.default.removeItem(atPath: path + ".new")
        XCTAssertNoThrow(try logIn(user))
    }

    func testATokenThatAnotherProcessHasChangedMeanwhileStays() throws {
        let user = try registered()
        let other = try newSDK()
        let same = try self.user(in: other)
        try logIn(user)
        try logIn(same, sdk: other)
        let (old, new) = (Array("1234".utf8), Array("9876".utf8))
        try other.changePIN(same, old: old.span, new: new.span)
        XCTAssertEqual(failure { () throws(SDKError) in try change(user, "1234", "5555") }, .flowError)
        XCTAssertNoThrow(try logIn(user, "9876"))
    }

    /// Returns the record with another token, which is for the hash h that Milagro's core makes of the same PIN:
    /// token + n * A - h * A, where A is the point of the identity, and n the PIN as a decimal number.
    private func legacy(_ record: UserRecord, pin: [UInt8]) throws -> UserRecord {
        let id = try XCTUnwrap(Hex.decode(record.mpinID ?? ""))
        let token = try XCTUnwrap(record.token?.secret)
        func scalar(_ mapping: PINMapping) throws -> [UInt8] {
            try octets(MPinSize.scalar) { try mapping.scalar(pin: pin.span, into: &$0) }
        }
        let (old, new) = (try scalar(.decimal6), try scalar(.legacyHash))
        let changed = SecretBytes(count: MPinSize.g1)
        var out = changed.mutableSpan
        try Factor.changePIN(
            id: id.span, old: old.span, oldBits: 20, new: new.span, newBits: 14, token: token.span, into: &out)
        var result = record
        result.token = SecretHex(changed)
        result.mapping = .legacyHash
        return result
    }
}
