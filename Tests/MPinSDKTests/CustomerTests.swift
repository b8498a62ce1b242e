import Foundation
import LoopbackServer
import MPinSDK
import MPinSecrets
import MPinWire
import XCTest

/// Tests that the same user id at two customers of a MIRACL MFA server belongs to two users. The answers are written
/// from the description of the protocol (TRUST wire), not recorded.
final class CustomerTests: FlowTestCase {
    private let id = "alice@example.com"

    override func setUpWithError() throws {
        try super.setUpWithError()
        server.state.withLock { $0.namesCustomers = true }
    }

    /// Registers a user with this PIN at this customer.
    @discardableResult
    private func registered(at customer: String, _ pin: String) throws -> User {
        try sdk.setClientID(customer)
        let user = try sdk.makeNewUser(id, customerID: customer)
        try sdk.startRegistrationMFA(user)
        try sdk.confirmRegistration(user)
        try finishRegistration(user, pin)
        return user
    }

    private func customers(_ sdk: SDK) throws -> [String] { try sdk.listUsers().map(\.customerID) }

    func testEachCustomerHasAnAliceOfItsOwn() throws {
        let blue = try registered(at: "blue", "1234")
        let amber = try registered(at: "amber", "5678")
        XCTAssertNotEqual(blue.mpinID, amber.mpinID)
        XCTAssertEqual(try customers(sdk), ["amber", "blue"])
        XCTAssertEqual(try sdk.listAllUsers().count, 2)
        try logIn(blue, "1234")
        try logIn(amber, "5678")
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(amber, "1234") }, .incorrectPIN)

        // After a restart both users are still there.
        let other = try newSDK()
        XCTAssertEqual(try customers(other), ["amber", "blue"])
        XCTAssertEqual(try other.user(id, customerID: "blue")?.mpinID, blue.mpinID)
        XCTAssertEqual(try other.user(id, customerID: "amber", appID: "")?.mpinID, amber.mpinID)
        XCTAssertEqual(try other.user(id)?.customerID, "amber")
        for (customer, app) in [("green", nil), ("", nil), ("blue", "app")] as [(String, String?)] {
            XCTAssertNil(try other.user(id, customerID: customer, appID: app))
            XCTAssertFalse(try other.userExists(id, customerID: customer, appID: app))
        }

        // Deletes the user of one customer in one client core. The user must then be gone in the other client core on
        // the same store, too. The user of the other customer can still log in.
        try sdk.deleteUser(amber)
        XCTAssertEqual(amber.state, .invalid)
        XCTAssertEqual(try customers(sdk), ["blue"])
        XCTAssertEqual(try customers(other), ["blue"])
        try logIn(blue, "1234")
        try logIn(try user(in: other), "1234", sdk: other)
        XCTAssertEqual(failure { () throws(SDKError) in try logIn(amber, "5678") }, .flowError)
    }

    func testTheCustomerMayTurnOutAtRegistration() throws {
        try registered(at: "blue", "1234")
        // Without a customer, `makeNewUser` returns a known user. With an empty customer it makes another user.
        XCTAssertEqual(try sdk.makeNewUser(id).customerID, "blue")
        let user = try sdk.makeNewUser(id, customerID: "")
        XCTAssertEqual(user.state, .invalid)
        XCTAssertTrue(try sdk.makeNewUser(id, customerID: "") === user)
        try sdk.startVerification(user, clientID: "c")
        XCTAssertEqual(try customers(sdk), ["", "blue"])
        try sdk.setClientID("amber")
        try sdk.startRegistrationMFA(user)
        XCTAssertEqual(try customers(sdk), ["amber", "blue"])
        XCTAssertEqual(try customers(newSDK()), ["amber", "blue"])
        try sdk.confirmRegistration(user)
        try finishRegistration(user, "5678")
        XCTAssertNotNil(try logIn(user, "5678"))
        XCTAssertNil(try sdk.user(id, customerID: ""))
    }

    func testACustomersUserIsNotReplacedByASecondOne() throws {
        let blue = try registered(at: "blue", "1234")
        let second = try sdk.makeNewUser(id, customerID: "")
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startRegistrationMFA(second) }, .flowError)
        XCTAssertEqual(second.state, .invalid)
        try logIn(blue, "1234")
        // The store itself also refuses a second user of the same customer with the same id.
        let store = UserStore(storage: FileStorage(path: path), key: try KeyFile.loadOrCreate(path + ".key"))
        let unnamed = try started("")
        var renamed = unnamed
        renamed.customerID = "blue"
        XCTAssertEqual(
            failure { () throws(SDKError) in _ = try store.update(unnamed.key) { $0 = renamed } }, .flowError)
        // After the first user is deleted, the second one may register.
        try sdk.deleteUser(blue)
        try sdk.startRegistrationMFA(second)
        XCTAssertEqual(second.customerID, "blue")
    }

    func testAForgottenUserIsReplacedWhateverItsCustomer() throws {
        let (blue, amber) = (try registered(at: "blue", "1234"), try registered(at: "amber", "5678"))
        // This user was never stored, so `clearUsers` removes it without remembering that it existed.
        _ = try sdk.makeNewUser(id, customerID: "")
        try sdk.clearUsers()
        try sdk.setClientID("blue")
        let again = try sdk.makeNewUser(id)
        XCTAssertEqual(again.state, .invalid)
        try sdk.startRegistration(again)
        XCTAssertEqual(again.customerID, "blue")
        XCTAssertNotEqual(again.mpinID, blue.mpinID)
        try sdk.confirmRegistration(again)
        try finishRegistration(again, "2468")
        try logIn(again, "2468")
        XCTAssertEqual(try customers(sdk), ["blue"])
        XCTAssertTrue(try sdk.makeNewUser(id) === again)
        // The user is known again, so a second one with the same id at the same customer is refused.
        let second = try sdk.makeNewUser(id, customerID: "")
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startRegistration(second) }, .flowError)
        let other = try newSDK()
        XCTAssertEqual(try other.listUsers().map(\.mpinID), [amber.mpinID, again.mpinID])
    }

    func testAUserThatIsOnlyMadeHidesNoOther() throws {
        let made = try sdk.makeNewUser(id)
        let other = try newSDK()
        try other.setClientID("blue")
        let user = try other.makeNewUser(id)
        try other.startRegistrationMFA(user)
        XCTAssertEqual(try sdk.user(id)?.mpinID, user.mpinID)
        XCTAssertEqual(try sdk.makeNewUser(id).customerID, "blue")
        XCTAssertTrue(try sdk.user(id, customerID: "") === made)
    }

    func testTwoUsersThatAreBegunCannotBecomeTheSame() throws {
        let named = try sdk.makeNewUser(id, customerID: "blue")
        let unnamed = try sdk.makeNewUser(id, customerID: "")
        XCTAssertFalse(named === unnamed)
        try sdk.setClientID("blue")
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startRegistrationMFA(unnamed) }, .flowError)
        XCTAssertEqual(try customers(sdk), [])
        try sdk.startRegistrationMFA(named)
        XCTAssertEqual(try customers(sdk), ["blue"])
    }

    func testAnAnswerOfAnotherCustomerIsRefused() throws {
        try sdk.setClientID("amber")
        let user = try sdk.makeNewUser(id, customerID: "blue")
        XCTAssertEqual(failure { () throws(SDKError) in try sdk.startRegistrationMFA(user) }, .responseParseError)
        XCTAssertEqual(user.state, .invalid)
        XCTAssertEqual(try customers(sdk), [])
        // If the server names no customer, the user keeps the one that the program has given.
        server.state.withLock { state in
            state.namesCustomers = false
            state.isForced = false
        }
        try sdk.startRegistrationMFA(user)
        XCTAssertEqual(try customers(newSDK()), ["blue"])
        try sdk.restartRegistration(user)
        XCTAssertEqual(user.customerID, "blue")
    }

    // MARK: Stores and other clients

    /// Returns the stored record of a user who is about to register. `more`: additional members of the record.
    private func started(_ more: String) throws -> UserRecord {
        let id = Hex.encode(Array(#"{"userID":"\#(id)"}"#.utf8))
        let bytes = Array(
            #"{"userID":"\#(self.id)","backend":"\#(server.url)","state":"STARTED_REGISTRATION","mpinID":"\#(id)","regOTT":"00"\#(more)}"#
                .utf8)
        return try JSON.decode(UserRecord.self, from: bytes.span)
    }

    func testAStoreOfAnEarlierVersionKeepsItsUsers() throws {
        let store = UserStore(storage: FileStorage(path: path), key: try KeyFile.loadOrCreate(path + ".key"))
        let records = [try started(""), try started(#","customerID":"blue","appID":"app""#)]
        for record in records { _ = try store.update(record.key) { $0 = record } }
        let other = try newSDK()
        XCTAssertEqual(try other.listUsers().map { [$0.customerID, $0.appID] }, [["", ""], ["blue", "app"]])
        XCTAssertEqual(try other.user(id, customerID: "")?.state, .startedRegistration)
        XCTAssertEqual(try other.user(id, customerID: "blue", appID: "app")?.state, .startedRegistration)
        try other.deleteUser(try XCTUnwrap(try other.user(id, customerID: "blue")))
        XCTAssertEqual(try customers(newSDK()), [""])
    }

    func testOtherClientsUsersOfTwoCustomersAreTwo() throws {
        func source(_ format: ImportFormat, _ users: Any, _ secure: Any? = nil) throws -> ImportSource {
            func secret(_ value: Any) throws -> SecretBytes {
                SecretBytes(copying: Array(try JSONSerialization.data(withJSONObject: value)).span)
            }
            return ImportSource(format: format, users: try secret(users), secure: try secure.map(secret))
        }
        func mpinID(_ salt: Int) -> String { Hex.encode(Array(#"{"userID":"\#(id)","salt":\#(salt)}"#.utf8)) }
        func mfa(_ customer: String, _ app: String) -> [String: Any] {
            ["id": id, "backend": server.url, "customerId": customer, "appId": app, "state": "STARTED_REGISTRATION"]
        }
        let data = [mpinID(1): mfa("blue", "x"), mpinID(2): mfa("blue", "y"), mpinID(3): mfa("", "")]
        let secrets = Dictionary(uniqueKeysWithValues: data.keys.map { ($0, ["regOTT": "00"]) })
        let ofMFA = try source(.mfa, ["version": 1, "data": data], secrets)
        XCTAssertEqual(try sdk.importStorage(ofMFA), 3)
        XCTAssertEqual(try sdk.importStorage(ofMFA), 0)
        XCTAssertEqual(try sdk.user(id, customerID: "blue", appID: "y")?.mpinID, mpinID(2))

        func revoked(_ project: String, _ salt: Int) -> [String: Any] {
            [
                "userId": id, "projectId": project, "state": "REVOKED", "mpinId": mpinID(salt), "pinLength": 4,
                "verificationType": "rc",
            ]
        }
        let ofClientJS = try source(.clientJS, [revoked("p", 4), revoked("q", 5), revoked("q", 6)])
        XCTAssertEqual(try sdk.importStorage(ofClientJS), 2)
        XCTAssertEqual(try sdk.user(id, customerID: "q")?.mpinID, mpinID(5))
        XCTAssertEqual(try sdk.user(id, customerID: "q")?.verificationType, "rc")
        XCTAssertEqual(try customers(newSDK()), ["", "blue", "blue", "p", "q"])
    }

    func testAnImportedUserWithoutACustomerIsTheOneThatIsKnown() throws {
        server.state.withLock { $0.registration = ["appId": "app"] }
        let user = try registered(at: "blue", "1234")
        let salted = Hex.encode(Array(#"{"userID":"\#(id)","salt":1}"#.utf8))
        for (customer, added) in [(nil, 0), ("blue", 0), ("amber", 1), (nil, 0)] as [(String?, Int)] {
            var member = ["userId": id, "state": "REVOKED", "mpinId": salted]
            member["customerId"] = customer
            let list = Array(try JSONSerialization.data(withJSONObject: [member]))
            let source = ImportSource(format: .clientJS, users: SecretBytes(copying: list.span), secure: nil)
            XCTAssertEqual(try sdk.importStorage(source), added, "\(customer ?? "none")")
        }
        XCTAssertEqual(try customers(sdk), ["amber", "blue"])
        XCTAssertEqual(try sdk.user(id, customerID: "blue")?.mpinID, user.mpinID)
    }

    // MARK: Verification type

    func testTheServerTellsHowTheUserIDWasVerified() throws {
        func mpinID(_ more: String) -> String { Hex.encode(Array(#"{"userID":"\#(id)"\#(more)}"#.utf8)) }
        let cases: [(id: String, answer: [String: Any], expected: String)] = [
            ("", [:], ""), (#","vt":"pv""#, [:], "pv"), (#","vt":7"#, [:], ""),
            ("", ["verificationType": "em"], "em"), (#","vt":"pv""#, ["verificationType": "em"], "em"),
            (#","vt":"pv""#, ["verificationType": [1]], "pv"),
        ]
        for (more, answer, expected) in cases {
            let usual =
                ["mpinId": mpinID(more), "regOTT": "9ff3dd0a6f1c4addef2afe2c11966ec0", "active": false] as [String: Any]
            server.reply(.register, .json(200, usual.merging(answer) { $1 }))
            let user = try sdk.makeNewUser(id)
            XCTAssertEqual(user.verificationType, "")
            try sdk.startRegistrationMFA(user)
            XCTAssertEqual(user.verificationType, expected, more)
            XCTAssertEqual(try self.user(in: try newSDK()).verificationType, expected, more)
            try sdk.deleteUser(user)
        }
    }
}
