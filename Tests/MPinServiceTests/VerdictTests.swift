import MPinService
import MPinStore
import MPinWire
import XCTest

/// Tests the form in which verdicts are stored.
final class VerdictTests: XCTestCase {
    private let end = Moment(microseconds: 1_700_000_600_000_000)

    /// Tests that verdicts can still be read in the form that was used before the first version, with HTTP statuses.
    func testVerdictsOfTheFormBeforeTheFirstVersionAreRead() throws {
        let stored: [(String, Verdict)] = [
            (#"{"status":200}"#, .right), (#"{"status":401,"attemptsLeft":2}"#, .wrong(left: 2)),
            (#"{"status":409}"#, .retired), (#"{"status":410}"#, .blocked(until: nil)),
            (#"{"status":429,"retryAt":1700000600000000}"#, .blocked(until: end)),
        ]
        for (json, verdict) in stored { XCTAssertEqual(try decoded(json), verdict, json) }
        let token = try JSON.decode(
            AuthToken.self,
            from: Array(
                #"""
                {"key":"ab","id":"cd","mpinID":"7b7d","userID":"alice","verdict":{"status":401,"attemptsLeft":1},
                "wid":"0","otp":"","expires":1700000600000000,"registersDevice":false}
                """#.utf8
            ).span)
        XCTAssertEqual(
            token,
            AuthToken(
                key: "ab", id: "cd", mpinID: "7b7d", userID: "alice", verdict: .wrong(left: 1), wid: "0", otp: "",
                expires: end))
    }

    func testWhatATokenStandsForIsStoredUnderAVersionAndACase() throws {
        let stored: [(Verdict, String)] = [
            (.right, #"{"version":1,"case":"right"}"#), (.wrong(left: 1), #"{"version":1,"case":"wrong","left":1}"#),
            (.blocked(until: nil), #"{"version":1,"case":"blocked"}"#),
            (.blocked(until: end), #"{"version":1,"case":"blocked","until":1700000600000000}"#),
            (.revoked, #"{"version":1,"case":"revoked"}"#), (.retired, #"{"version":1,"case":"retired"}"#),
        ]
        for (verdict, json) in stored {
            XCTAssertEqual(String(decoding: try JSON.bytes(verdict), as: UTF8.self), json)
            XCTAssertEqual(try decoded(json), verdict)
        }
        for verdict in [Verdict.busy, .unavailable(.masterSecret), .unavailable(.permits)] {
            XCTAssertThrowsError(try JSON.bytes(verdict), "no token stands for \(verdict)")
        }
    }

    func testWhatNoVersionHasStoredIsNoVerdict() {
        for json in [
            "{}", #"{"status":500}"#, #"{"status":401}"#, #"{"status":429}"#, #"{"version":1,"case":"wrong"}"#,
            #"{"version":1,"case":"left"}"#, #"{"version":2,"case":"right"}"#, #"{"version":1}"#,
        ] { XCTAssertThrowsError(try decoded(json), json) }
    }

    private func decoded(_ json: String) throws -> Verdict {
        try JSON.decode(Verdict.self, from: Array(json.utf8).span)
    }
}
