import MPinCrypto
import MPinSecrets
import MPinService
import Synchronization
import XCTest

/// Tests which proofs are checked together, and that each gets its own result.
final class JointCheckTests: XCTestCase {
    /// Lets a test decide when a group closes: the pause of the task that leads a group lasts until `go`.
    private final class Gate: Sendable {
        private let state = Mutex<(isOpen: Bool, waiting: [UnsafeContinuation<Void, Never>])>((false, []))
        /// How many groups have been led.
        let groups = Mutex(0)

        @Sendable func pause() async {
            groups.withLock { $0 += 1 }
            await withUnsafeContinuation { waiting in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiting.append(waiting) }
                    return state.isOpen
                }
                if isOpen { waiting.resume() }
            }
        }

        func go() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for task in waiting { task.resume() }
        }
    }

    /// Logs in eight users at the same time, with a PIN for each, and returns the verdicts in their order.
    private func logIn(_ pins: [String], _ gate: Gate = Gate()) async throws -> [Verdict] {
        let under = try await ServiceUnderTest { $0.pause = gate.pause }
        var clients: [FakeClient] = []
        for i in pins.indices { clients.append(try await under.register("user\(i)@example.com", pin: "1234")) }
        return try await withThrowingTaskGroup(of: (Int, Verdict).self) { group in
            for (i, client) in clients.enumerated() {
                group.addTask {
                    let token = try await client.prove(pins[i], to: under.service)
                    return (i, try await under.redeem(token).verdict)
                }
            }
            while under.service.checks.waiting < pins.count { await Task.yield() }
            gate.go()
            let verdicts = try await group.reduce(into: [Int: Verdict]()) { $0[$1.0] = $1.1 }
            return pins.indices.compactMap { verdicts[$0] }
        }
    }

    func testRightProofsShareOneCheck() async throws {
        let gate = Gate()
        let verdicts = try await logIn([String](repeating: "1234", count: ServerContext.jointProofs), gate)
        XCTAssertEqual(verdicts, [Verdict](repeating: .right, count: ServerContext.jointProofs))
        XCTAssertEqual(gate.groups.withLock { $0 }, 1)
    }

    func testAWrongProofAmongThemFailsAlone() async throws {
        var pins = [String](repeating: "1234", count: ServerContext.jointProofs)
        for place in [0, 5] {
            pins[place] = "4321"
            let verdicts = try await logIn(pins)
            XCTAssertEqual(verdicts, pins.map { $0 == "1234" ? .right : .wrong(left: 2) })
        }
    }

    /// Tests that groups become smaller while many proofs are wrong, and large again afterwards.
    func testManyWrongProofsAreCheckedAlone() {
        var wrong = WrongShare()
        XCTAssertEqual(wrong.groupSize, ServerContext.jointProofs)
        var sizes: [Int] = []
        for _ in 0..<8 {
            wrong.noteWrong()
            sizes.append(wrong.groupSize)
        }
        XCTAssertEqual(sizes, [4, 4, 4, 2, 2, 1, 1, 1])
        for _ in 0..<32 { wrong.note(right: 1) }
        XCTAssertEqual(wrong.groupSize, 4)
        wrong.note(right: 64)
        XCTAssertEqual(wrong.groupSize, ServerContext.jointProofs)
    }
}
