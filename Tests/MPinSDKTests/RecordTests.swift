import Foundation
import MPinSDK
import MPinSecrets
import MPinWire
import XCTest

/// Tests the JSON form of a user's stored record.
final class RecordTests: XCTestCase {
    private func decode(_ text: String) throws -> UserRecord {
        let bytes = Array(text.utf8)
        return try JSON.decode(UserRecord.self, from: bytes.span)
    }

    /// A record as the first release of the library stored it.
    private let old = #"""
        {"userID":"alice","backend":"https://example.com","state":"REGISTERED","deviceName":"phone","mpinID":"7b7d",
        "token":"0401","mapping":"decimal6","permit":{"date":20778,"share":"0402"}}
        """#

    func testARecordOfTheFirstReleaseIsRead() throws {
        let record = try decode(old)
        XCTAssertEqual(record.userID, "alice")
        XCTAssertEqual(record.token?.secret.count, 2)
        XCTAssertEqual(record.mapping, .decimal6)
        XCTAssertEqual(record.permit?.date, 20778)
        XCTAssertNil(record.pinLength)
        XCTAssertNil(record.customerID)
        XCTAssertNil(record.signing)
        let started = #"{"userID":"a","backend":"b","state":"STARTED_REGISTRATION","mpinID":"7b7d","regOTT":"00"}"#
        XCTAssertEqual(try decode(started).regOTT, "00")
    }

    func testMembersOfALaterReleaseDoNotMatter() throws {
        XCTAssertEqual(
            try decode(old.replacingOccurrences(of: "{\"userID\"", with: "{\"later\":[1],\"userID\"")).userID, "alice")
    }

    func testEveryMemberComesBack() throws {
        var record = try decode(old)
        record.regOTT = "00"
        record.regOTTRest = "11"
        record.expireTime = 1_795_232_179
        record.nowTime = 1_795_228_579
        record.customerID = "c"
        record.appID = "a"
        record.pinLength = 6
        record.verificationType = "em"
        let token = try XCTUnwrap(record.token)
        let publicKey = String(repeating: "00", count: 128)
        record.signing = UserRecord.Signing(
            mpinID: "7b7d", publicKey: publicKey, dtas: "WyI=", token: token, mapping: .decimal6)
        XCTAssertEqual(record.signing?.point, Hex.encode(try MPinID.point("7b7d", publicKey: publicKey)))
        let text = try JSON.encode(record)
        XCTAssertEqual(try JSON.decode(UserRecord.self, from: text.span), record)
    }

    func testStatesAreStoredByName() {
        for state in UserState.allCases { XCTAssertEqual(UserState(name: state.name), state) }
        XCTAssertNil(UserState(name: "LATER"))
        XCTAssertEqual(UserState.allCases.map(\.legacyNumber), [0, 0, 1, 2, 3, 4, 4])
    }

    // MARK: Times

    func testEveryServersTimesAreRead() {
        let cases: [(text: String, seconds: Int64?)] = [
            ("2026-11-21T03:36:19.271581", 1_795_232_179), ("2026-11-21T03:36:19Z", 1_795_232_179),
            ("2026-11-21 03:36:19", 1_795_232_179), ("2026-11-21T03:36:19.5Z", 1_795_232_179),
            ("1795232179", 1_795_232_179), ("1795232179000", 1_795_232_179), ("0", 0),
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T00:00:00", 951_782_400), ("2024-12-31T23:59:59", 1_735_689_599),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
            ("", nil), ("-1", nil), ("soon", nil), ("2026-11-21", nil), ("2026-11-21T03:36", nil),
            ("2026-13-21T03:36:19", nil), ("2026-00-21T03:36:19", nil), ("2026-11-00T03:36:19", nil),
            ("2026-11-21T24:36:19", nil), ("2026-11-21T03:60:19", nil), ("2026-11-21T03:36:61", nil),
            ("2026-11-21T03:36:19+01:00", nil), ("2026-11-21T03:36:19.", nil), ("2026-11-21T03:36:19.x", nil),
            ("2026/11/21T03:36:19", nil), ("2O26-11-21T03:36:19", nil), ("2026-11-21T03:36:19ZZ", nil),
            ("99999999999999999999", nil),
        ]
        for test in cases { XCTAssertEqual(WireTime.seconds(test.text), test.seconds, test.text) }
        XCTAssertNil(WireTime.seconds(Int64(-1)))
        XCTAssertEqual(WireTime.seconds(Int64.max), Int64.max / 1000)
    }
}
