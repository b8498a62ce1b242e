import Foundation
import MPinCrypto
import MPinSecrets
import MPinService
import XCTest

/// Tests that a flood of wrong proofs makes the checks of right ones at most a tenth more expensive than if none were
/// checked together.
final class FloodTests: XCTestCase {
    /// The most that a check may cost on average, in checks of one proof alone.
    private static let limit = 1.1
    /// The measured cost of a group for each of its proofs (``WrongShare/groupSize``).
    private static let costs = [8: 0.27, 4: 0.39, 2: 0.63]

    /// A server that checks groups by the rule of ``WrongShare``, and only counts what that costs.
    private struct Counted {
        var wrong = WrongShare()
        var cost = 0.0

        /// Checks as many of the proofs as form the next group. Returns their number.
        mutating func check(_ areRight: ArraySlice<Bool>) -> Int {
            let group = areRight.prefix(wrong.groupSize)
            if let each = FloodTests.costs[wrong.groupSize] {
                cost += each * Double(wrong.groupSize)
                if group.allSatisfy(\.self) {
                    wrong.note(right: group.count)
                    return group.count
                }
            }
            for isRight in group {
                cost += 1
                if isRight { wrong.note(right: 1) } else { wrong.noteWrong() }
            }
            return group.count
        }

        mutating func checkAll(_ areRight: [Bool]) {
            var rest = areRight[...]
            while !rest.isEmpty { rest = rest.dropFirst(check(rest)) }
        }
    }

    /// Random floods, in each of which one in so many proofs is wrong.
    func testAnyShareOfWrongProofsCostsAtMostATenthMore() {
        for percent in stride(from: 0, through: 100, by: 2) {
            var server = Counted()
            let proofs = (0..<20_000).map { _ in Int.random(in: 0..<100) >= percent }
            server.checkAll(proofs)
            let cost = server.cost / Double(proofs.count)
            XCTAssertLessThanOrEqual(cost, Self.limit, "\(percent) % wrong")
            if percent == 0 { XCTAssertLessThan(cost, 0.3) }
        }
    }

    /// Floods that come and go again, so that they meet a server that checks many proofs together.
    func testFloodsThatComeAndGoCostAtMostATenthMore() {
        for length in [1, 2, 4, 8, 16, 32, 64, 128] {
            for pause in [8, 16, 32, 64, 128, 256] {
                var server = Counted()
                let wave = [Bool](repeating: false, count: length) + [Bool](repeating: true, count: pause)
                let waves = [[Bool]](repeating: wave, count: 500).flatMap(\.self)
                server.checkAll(waves)
                XCTAssertLessThanOrEqual(
                    server.cost / Double(waves.count), Self.limit, "\(length) wrong after \(pause) right ones")
            }
        }
    }

    /// Real checks: each proof of a flood gets its own result. With FULL=1 in the environment, their processor time is
    /// compared with that of checks without groups, in turn.
    func testRealChecksDuringAFlood() async throws {
        let isFull = ProcessInfo.processInfo.environment["FULL"] == "1"
        let under = try await ServiceUnderTest()
        let client = try await under.register("alice@example.com", pin: "1234")
        let found = try await under.service.keyRing.context(ServerKeys.firstID)
        let context = try XCTUnwrap(found)
        for percent in [5, 15, 30, 60, 90] {
            let proofs = try (0..<64).map { i in
                let isRight = i * 37 % 100 >= percent
                return (isRight, try client.proof(isRight ? "1234" : "4321"))
            }
            let checks = JointChecks(pause: { await Task.yield() })
            var ratios: [Double] = []
            for _ in 0..<(isFull ? 100 : 2) {
                let joint = try await measure(proofs) { try await checks.isRight($0, context) }
                let alone = try await measure(proofs) { try checks.isRightAlone($0, context) }
                ratios.append(joint / alone)
            }
            guard isFull else { continue }
            let ratio = ratios.sorted()[ratios.count / 2]
            print("\(percent) % wrong: \(ratio) of the processor time")
            XCTAssertLessThanOrEqual(ratio, Self.limit, "\(percent) % wrong")
        }
    }

    /// Checks the proofs, 16 at a time, and whether each result is right. Returns the processor time in seconds.
    private func measure(
        _ proofs: [(isRight: Bool, proof: LoginProof)], _ check: @escaping @Sendable (LoginProof) async throws -> Bool
    ) async throws -> Double {
        let begun = processorTime()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (i, (isRight, proof)) in proofs.enumerated() {
                if i >= 16 { _ = try await group.next() }
                group.addTask {
                    let found = try await check(proof)
                    XCTAssertEqual(found, isRight)
                }
            }
            try await group.waitForAll()
        }
        return processorTime() - begun
    }

    /// The processor time of this process in seconds.
    private func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
