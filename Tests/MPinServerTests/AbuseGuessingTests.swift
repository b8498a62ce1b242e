import Foundation
import MPinSecrets
import XCTest

/// Tests that wrong PINs from many addresses at the same time, and across restarts, get no more attempts in all than
/// wrong PINs from one address.
final class AbuseGuessingTests: XCTestCase {
    private lazy var backend = Backend.onFreePorts()

    override func tearDown() { try? FileManager.default.removeItem(atPath: backend.stateFolder) }

    private func started() throws -> Mpind {
        let mpind = try Mpind(backend, ["--force-activate", "--max-attempts", "5"])
        try mpind.waitUntilReady()
        return mpind
    }

    /// Returns the number of proofs that the process has judged, from its log.
    private func judged(_ mpind: Mpind) -> Int {
        mpind.logText.components(separatedBy: "\"message\":\"proof judged\"").count - 1
    }

    /// Sends a wrong proof from each of these addresses at the same time. Returns the status of each login. The proofs
    /// are computed beforehand, so that the requests arrive together.
    private func guesses(
        _ hosts: Range<UInt16>, _ user: TestClient.User, _ permit: (permit: [UInt8], date: Int32)
    ) throws -> [Int] {
        let client = TestClient(backend: backend)
        let guesses = try hosts.map { host in
            let (_, _, u, ut) = try client.commitment(user, pin: "9999", permit: permit)
            let id = "\"mpin_id\":\"\(user.id)\""
            return (
                host, "{\"pass\":1,\(id),\"U\":\"\(Hex.encode(u))\",\"UT\":\"\(Hex.encode(ut))\"}",
                "{\"pass\":2,\(id),\"V\":\"\(Hex.encode(u))\",\"WID\":\"0\",\"OTP\":false}"
            )
        }
        return parallel(guesses.count) { [backend] number in
            let (host, pass1, pass2) = guesses[number]
            var own = backend
            own.source = host
            // Tries again with a new challenge, because guesses from other addresses may have used up this one.
            for _ in 0..<200 {
                _ = try own.call("POST", "/rps/pass1", pass1)
                let answer = try own.call("POST", "/rps/pass2", pass2)
                if answer.status == 200 { return try TestClient(backend: own).authenticate(answer).status }
            }
            throw Sockets.Failure(text: "never a challenge")
        }
    }

    func testAHundredAddressesAndTwoRestartsTogetherGetFiveTries() throws {
        var mpind = try started()
        let client = TestClient(backend: backend)
        let users = try (0..<5).map { try client.register("user\($0)@example.com", pin: "1234") }
        let permits = try users.map { try client.timePermit($0) }
        let other = try client.register("bob@example.com", pin: "1234")
        for (user, permit) in zip(users, permits) {
            XCTAssertEqual(try guesses(0x100..<0x103, user, permit), [401, 401, 401])
        }
        XCTAssertEqual(judged(mpind), 3 * users.count)
        mpind.stop(SIGKILL)

        mpind = try started()
        for (user, permit) in zip(users, permits) {
            let verdicts = try guesses(0x103..<0x164, user, permit)
            XCTAssertEqual(verdicts.count, 97)
            XCTAssertEqual(verdicts.filter { $0 == 401 }.count, 1, "\(verdicts)")
            XCTAssertEqual(verdicts.filter { $0 == 410 }.count, 96, "\(verdicts)")
        }
        XCTAssertEqual(judged(mpind), 2 * users.count, "three have been before")
        let callers = Set(mpind.logText.matches(of: /"remote":"(127\.0\.1\.[0-9]+)"/).map(\.1))
        XCTAssertEqual(callers.count, 97)
        XCTAssertEqual(mpind.stop(SIGTERM), 0)

        mpind = try started()
        for (user, permit) in zip(users, permits) {
            XCTAssertEqual(try Set(guesses(0x164..<0x16e, user, permit)), [410])
            XCTAssertEqual(try client.login(user, pin: "1234", permit: permit).status, 410, "nor the right one")
        }
        XCTAssertEqual(judged(mpind), 0)
        XCTAssertEqual(try client.login(other, pin: "1234").status, 200, "nobody else is blocked")
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }
}
