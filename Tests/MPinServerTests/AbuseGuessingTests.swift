import Foundation
import XCTest

/// Wrong PINs from many addresses at once and over several processes: together they get no more tries than one would.
final class AbuseGuessingTests: XCTestCase {
    private let backend = Backend.onFreePorts()

    override func tearDown() { try? FileManager.default.removeItem(atPath: backend.stateFolder) }

    private func started() throws -> Mpind {
        let mpind = try Mpind(backend, ["--force-activate", "--max-attempts", "5"])
        try mpind.waitUntilReady()
        return mpind
    }

    /// How many proofs the process has looked at, by its own log.
    private func judged(_ mpind: Mpind) -> Int {
        mpind.logText.components(separatedBy: "\"message\":\"proof judged\"").count - 1
    }

    /// What authenticate says to a wrong PIN from each of these addresses, all at once.
    private func guesses(
        _ hosts: Range<UInt16>, _ user: TestClient.User, _ permit: (permit: [UInt8], date: Int32)
    ) -> [Int] {
        parallel(hosts.count) { [backend] number in
            var own = backend
            own.source = hosts.lowerBound + UInt16(number)
            let client = TestClient(backend: own)
            // The challenges of the others push one's own out.
            for _ in 0..<100 {
                let pass2 = try client.pass2(client.pass1(user, pin: String(5000 + number), permit: permit))
                if pass2.status == 200 { return try client.authenticate(pass2).status }
            }
            throw Sockets.Failure(text: "never a challenge")
        }
    }

    func testAHundredAddressesAndTwoRestartsGetTheFiveTriesOfOne() throws {
        var mpind = try started()
        let client = TestClient(backend: backend)
        let user = try client.register("alice@example.com", pin: "1234")
        let other = try client.register("bob@example.com", pin: "1234")
        let permit = try client.timePermit(user)
        XCTAssertEqual(guesses(0x100..<0x103, user, permit), [401, 401, 401])
        XCTAssertEqual(judged(mpind), 3)
        mpind.stop(SIGKILL)

        mpind = try started()
        let verdicts = guesses(0x103..<0x164, user, permit)
        XCTAssertEqual(verdicts.count, 97)
        XCTAssertEqual(verdicts.filter { $0 == 401 }.count, 1, "\(verdicts)")
        XCTAssertEqual(verdicts.filter { $0 == 410 }.count, 96, "\(verdicts)")
        XCTAssertEqual(judged(mpind), 2, "three have been before")
        let callers = Set(mpind.logText.matches(of: /"remote":"(127\.0\.1\.[0-9]+)"/).map(\.1))
        XCTAssertEqual(callers.count, 97)
        XCTAssertEqual(mpind.stop(SIGTERM), 0)

        mpind = try started()
        XCTAssertEqual(Set(guesses(0x164..<0x16e, user, permit)), [410])
        XCTAssertEqual(try client.login(user, pin: "1234", permit: permit).status, 410, "nor the right one")
        XCTAssertEqual(judged(mpind), 0)
        XCTAssertEqual(try client.login(other, pin: "1234").status, 200, "nobody else is blocked")
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }
}
