import Foundation
import LoopbackServer
import MPinWire
import XCTest

/// Tests the RPS while its disk is full. It must keep everything that it acknowledged, acknowledge nothing that it
/// cannot store, and continue without a restart when there is room again. A limit on the size of the process's files
/// stands for the full disk.
final class AbuseFullDiskTests: XCTestCase {
    private lazy var backend = Backend.onFreePorts()
    private lazy var admin = freePorts(1)[0]

    override func tearDown() { try? FileManager.default.removeItem(atPath: backend.stateFolder) }

    private func started() throws -> Mpind {
        let mpind = try Mpind(backend, ["--force-activate", "--admin-listen", "127.0.0.1:\(admin)"])
        try mpind.waitUntilReady()
        return mpind
    }

    /// Limits the store's log (WAL) to its present size plus `more` bytes; nil removes the limit.
    private func leave(_ more: Int?, to mpind: Mpind) throws {
        let path = backend.stateFolder + "/rps.sqlite-wal"
        let size = try XCTUnwrap(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        let limit = more.map { "\(size + $0)" } ?? "unlimited"
        let process = try Process.run(
            URL(fileURLWithPath: "/usr/bin/prlimit"),
            arguments: ["--pid", "\(mpind.process.processIdentifier)", "--fsize=\(limit):"])
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0)
    }

    /// Registers users until `refusals` registrations were refused. Returns the registrations that got their shares,
    /// and the refusals.
    private static func register(
        _ client: TestClient, _ prefix: String, refusals: Int
    ) throws -> ([RegisterResponse], [Answer]) {
        var (given, refused): ([RegisterResponse], [Answer]) = ([], [])
        while refused.count < refusals, given.count < 1000 {
            let user = "\(prefix)\(given.count)@example.com"
            var answer = try client.backend.call("PUT", "/rps/user", "{\"mobile\":1,\"userId\":\"\(user)\"}")
            if answer.status == 200 {
                let begun: RegisterResponse = try answer.json()
                answer = try client.signature(begun)
                if answer.status == 200 { given.append(begun) }
            }
            if answer.status != 200 { refused.append(answer) }
        }
        return (given, refused)
    }

    private func wait(for target: String, toBe status: Int) throws -> Double {
        let start = Date()
        while try backend.call("GET", target, port: admin).status != status {
            guard Date().timeIntervalSince(start) < 30 else {
                throw Sockets.Failure(text: "\(target) is not \(status)")
            }
            usleep(20_000)
        }
        return Date().timeIntervalSince(start)
    }

    func testAFullDiskLosesNothingThatWasAcknowledgedAndNeedsNoRestart() throws {
        let mpind = try started()
        let client = TestClient(backend: backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        let eve = try client.register("eve@example.com", pin: "1234")
        let permits = try [client.timePermit(alice), client.timePermit(eve)]
        XCTAssertEqual(try client.login(eve, pin: "9999", permit: permits[1]).status, 401)

        try leave(400_000, to: mpind)
        let results = parallel(4) { try Self.register(client, "u\($0)-", refusals: 25) }
        let given = results.flatMap(\.0)
        let refused = results.flatMap(\.1)
        XCTAssertEqual(results.count, 4)
        XCTAssertFalse(given.isEmpty)
        XCTAssertEqual(Set(refused.map(\.status)), [503])
        XCTAssertEqual(Set(refused.map { $0.headers["retry-after"] ?? "none" }), ["5"])
        // Sets the limit below the present size, so that not even a short line fits into the log.
        try leave(-100_000, to: mpind)
        for (user, permit) in zip([alice, eve], permits) {
            let login = try client.pass1(user, pin: "1234", permit: permit)
            let answer = try client.pass2(login)
            XCTAssertEqual(answer.status, 503)
            XCTAssertNil(answer.object["authOTT"])
        }
        XCTAssertLessThan(try wait(for: "/health/ready", toBe: 503), 5)
        XCTAssertEqual(try backend.call("GET", "/health/live", port: admin).status, 200)
        XCTAssertEqual(try backend.call("GET", "/rps/clientSettings").status, 200)

        try leave(nil, to: mpind)
        XCTAssertLessThan(try wait(for: "/health/ready", toBe: 200), 10)
        // The first shares were fetched before the disk was full. The server gives them out again, so the users can
        // finish.
        let users = try given.map { try client.finishRegistration($0, pin: "1234") }
        try assertAllThere(users + [alice], eve, [401, 410])
        let new = try client.register("new@example.com", pin: "1234")
        print("\(users.count) registrations acknowledged on a disk that became full, \(refused.count) refused")

        mpind.stop(SIGKILL)
        let next = try started()
        try assertAllThere(users + [alice, new], eve, [410])
        XCTAssertEqual(next.stop(SIGTERM), 0)
    }

    /// Checks that these users can log in, and what eve's wrong PINs give. One of her three attempts was used before
    /// the disk was full. Attempts that were refused because of the full disk do not count.
    private func assertAllThere(_ users: [TestClient.User], _ eve: TestClient.User, _ verdicts: [Int]) throws {
        let client = TestClient(backend: backend)
        for user in users { XCTAssertEqual(try client.login(user, pin: "1234").status, 200) }
        XCTAssertEqual(try verdicts.map { _ in try client.login(eve, pin: "9999").status }, verdicts)
    }
}
