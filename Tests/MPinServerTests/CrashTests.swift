import Foundation
import Synchronization
import XCTest

/// Tests that kills of the real program under load lose nothing that was acknowledged, and let nothing be used twice.
/// Kills it 20 times, or 100 times with FULL=1 in the environment.
final class CrashTests: XCTestCase {
    private let cycles = ProcessInfo.processInfo.environment["FULL"] == "1" ? 100 : 20
    private lazy var backend = Backend.onFreePorts()

    override func tearDown() { try? FileManager.default.removeItem(atPath: backend.stateFolder) }

    /// What the server acknowledged before it was killed.
    private struct Told: Sendable {
        var users: [TestClient.User] = []
        /// `proofs`: the bodies of pass 2 that the server has answered. `tokens`: the one-time tokens in these answers,
        /// which nobody has redeemed.
        var proofs: [String] = []
        var tokens: [String] = []
    }

    func testKillsUnderLoadLoseNoAnsweredRegistrationAndLetNothingBeUsedAgain() throws {
        let client = TestClient(backend: backend)
        var (users, refused, slowest): ([TestClient.User], Int, Double) = ([], 0, 0)
        var before = Told()
        for cycle in 0..<cycles {
            let start = Date()
            let mpind = try Mpind(backend, ["--force-activate"])
            try mpind.waitUntilReady()
            slowest = max(slowest, Date().timeIntervalSince(start))
            for proof in before.proofs {
                XCTAssertEqual(try backend.call("POST", "/rps/pass2", proof).status, 403, "cycle \(cycle)")
            }
            for token in before.tokens {
                let answer = try backend.call("POST", "/mpinAuthenticate", "{\"mpinResponse\":\(token)}")
                XCTAssertEqual(answer.status, 408, "cycle \(cycle)")
            }
            refused += before.proofs.count + before.tokens.count
            for user in before.users + users.shuffled().prefix(5) {
                XCTAssertEqual(try client.login(user, pin: "1234").status, 200, "cycle \(cycle)")
            }
            users += before.users
            before = load(proofs: 1 + cycle % 4) { mpind.stop(SIGKILL) }
            XCTAssertFalse(before.users.isEmpty)
        }
        let mpind = try Mpind(backend, ["--force-activate"])
        try mpind.waitUntilReady()
        for user in users + before.users { XCTAssertEqual(try client.login(user, pin: "1234").status, 200) }
        print("\(cycles) kills: \(users.count) registrations kept, \(refused) replays refused, ready in \(slowest) s")
        XCTAssertLessThan(slowest, cycles > 20 ? 2 : 10)
        XCTAssertGreaterThan(refused, cycles)
    }

    /// Lets four users register and log in until the server is killed. Calls `kill` when the server has answered
    /// `proofs` proofs. Returns what the server had acknowledged until then.
    private func load(proofs: Int, _ kill: @escaping () -> Void) -> Told {
        let told = Mutex(Told())
        let killer = DispatchWorkItem {
            let end = Date(timeIntervalSinceNow: 60)
            while told.withLock({ $0.proofs.count }) < proofs, Date() < end { usleep(1_000) }
            kill()
        }
        DispatchQueue.global().async(execute: killer)
        _ = parallel(4) { [backend] thread in
            let client = TestClient(backend: backend)
            while true {
                let user = try client.register("user\(thread)@example.com", pin: "1234")
                told.withLock { $0.users.append(user) }
                let permit = try client.timePermit(user)
                let proof = try client.pass2Body(client.pass1(user, pin: "1234", permit: permit))
                let pass2 = try backend.call("POST", "/rps/pass2", proof)
                guard pass2.status == 200, !pass2.object.isEmpty else { continue }
                told.withLock {
                    $0.proofs.append(proof)
                    $0.tokens.append(pass2.text)
                }
            }
        }
        killer.wait()
        return told.withLock { $0 }
    }

    /// Tests that the limit on wrong PINs holds for several processes one after another, because attempts are stored
    /// before they are judged.
    func testWrongPINsAtOnceAcrossKillsAreNotJudgedMoreOftenThanTheLimit() throws {
        let client = TestClient(backend: backend)
        var mpind = try Mpind(backend, ["--force-activate"])
        try mpind.waitUntilReady()
        let user = try client.register("alice@example.com", pin: "1234")
        let permit = try client.timePermit(user)
        var judged = 0
        for round in 0..<3 {
            let killer = DispatchWorkItem { [mpind] in mpind.stop(SIGKILL) }
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.03 * Double(round + 1), execute: killer)
            _ = parallel(30) { number in
                _ = try client.pass2(client.pass1(user, pin: String(5000 + number), permit: permit))
            }
            killer.wait()
            judged += count(mpind)
            mpind = try Mpind(backend, ["--force-activate"])
            try mpind.waitUntilReady()
        }
        print("\(judged) wrong PINs judged before the last start")
        // Attempts that a kill interrupted count as wrong after ten seconds, so this waits until the identity is
        // blocked.
        let end = Date(timeIntervalSinceNow: 30)
        while try client.login(user, pin: "9999", permit: permit).status != 410, Date() < end {}
        judged += count(mpind)
        XCTAssertLessThanOrEqual(judged, 3)
        XCTAssertEqual(try client.login(user, pin: "1234", permit: permit).status, 410)
    }

    /// Returns the number of proofs that the process has judged, from its log.
    private func count(_ mpind: Mpind) -> Int {
        mpind.logText.components(separatedBy: "\"message\":\"proof judged\"").count - 1
    }
}
