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
        /// How many proofs have got their results.
        let judged = Mutex(0)

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

    /// Logs in users at the same time, with a PIN for each, and returns the verdicts in their order.
    private func logIn(_ pins: [String], _ gate: Gate = Gate()) async throws -> [Verdict] {
        let under = try await ServiceUnderTest { $0.pause = gate.pause }
        var clients: [FakeClient] = []
        for i in pins.indices { clients.append(try await under.register("user\(i)@example.com", pin: "1234")) }
        return try await withThrowingTaskGroup(of: (Int, Verdict).self) { group in
            for (i, client) in clients.enumerated() {
                group.addTask {
                    let token = try await client.prove(pins[i], to: under.service)
                    gate.judged.withLock { $0 += 1 }
                    return (i, try await under.redeem(token).verdict)
                }
            }
            while under.service.checks.waiting + gate.judged.withLock({ $0 }) < pins.count { await Task.yield() }
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

    /// Whoever comes to a full group opens the next one, instead of being checked alone at four times the cost.
    func testMoreProofsThanAGroupTakesFormAnother() async throws {
        let (gate, count) = (Gate(), ServerContext.jointProofs + 4)
        let verdicts = try await logIn([String](repeating: "1234", count: count), gate)
        XCTAssertEqual(verdicts, [Verdict](repeating: .right, count: count))
        XCTAssertEqual(gate.groups.withLock { $0 }, 2)
    }

    func testAWrongProofAmongThemFailsAlone() async throws {
        var pins = [String](repeating: "1234", count: ServerContext.jointProofs)
        for place in [0, 5] {
            pins[place] = "4321"
            let verdicts = try await logIn(pins)
            XCTAssertEqual(verdicts, pins.map { $0 == "1234" ? .right : .wrong(left: 2) })
        }
    }

    /// The proofs of identities with key pairs, and of one without, are checked in one group. One of them is wrong, at each
    /// place and in each way.
    func testAWrongProofWithAKeyPairFailsAlone() async throws {
        let under = try await ServiceUnderTest()
        let found = try await under.service.keyRing.context(ServerKeys.firstID)
        let context = try XCTUnwrap(found)
        let clients = [
            try await keyed(under, "a"), try await keyed(under, "b"), try await under.register("c", pin: "1234"),
            try await keyed(under, "d"),
        ]
        let right = try clients.map { try $0.proof("1234") }
        let all = try await judge(right, context)
        XCTAssertEqual(all, [true, true, true, true])
        for (place, client) in clients.enumerated() where place != 2 {
            let (proof, other) = (right[place], right[place == 0 ? 1 : 0])
            for (wrong, way) in [
                (try client.proof("4321"), "PIN"), (changed(proof, v: other.v), "V of another"),
                (changed(proof, publicKey: other.publicKey), "key of another"),
                (changed(proof, publicKey: []), "no key"),
            ] {
                var proofs = right
                proofs[place] = wrong
                let results = try await judge(proofs, context)
                XCTAssertEqual(results, right.indices.map { $0 != place }, "\(way), at \(place)")
            }
        }
    }

    private func keyed(_ under: ServiceUnderTest, _ user: String) async throws -> FakeClient {
        let (pair, id) = (try FakeClient.KeyPair(), try MPinID.issue(userID: user, project: "p", at: .now()))
        var shares: [Share] = []
        for authority in under.authorities {
            let share = try await authority.keyedSecretShare(id, publicKey: pair.publicKey, keyID: ServerKeys.firstID)
            shares.append(Share(index: authority.index, share))
        }
        return try FakeClient(id, shares, pin: "1234", pair: pair)
    }

    private func changed(_ proof: LoginProof, v: [UInt8]? = nil, publicKey: [UInt8]? = nil) -> LoginProof {
        LoginProof(
            id: proof.id, date: proof.date, u: proof.u, y: proof.y, v: v ?? proof.v,
            publicKey: publicKey ?? proof.publicKey)
    }

    /// Has the proofs checked in one group, which they join in their order. Returns the result of each.
    private func judge(_ proofs: [LoginProof], _ context: ServerContext) async throws -> [Bool] {
        let gate = Gate()
        let checks = JointChecks(pause: gate.pause)
        return try await withThrowingTaskGroup(of: (Int, Bool).self) { group in
            for (place, proof) in proofs.enumerated() {
                group.addTask { (place, try await checks.isRight(proof, context)) }
                while checks.waiting <= place { await Task.yield() }
            }
            gate.go()
            let results = try await group.reduce(into: [Int: Bool]()) { $0[$1.0] = $1.1 }
            XCTAssertEqual(gate.groups.withLock { $0 }, 1)
            return proofs.indices.compactMap { results[$0] }
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
