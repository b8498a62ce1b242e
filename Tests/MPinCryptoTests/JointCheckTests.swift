import MPinCrypto
import MPinSecrets
import XCTest

/// Tests that proofs that are checked together are accepted if and only if each one is right alone.
final class JointCheckTests: XCTestCase {
    private let master = Result { try Engine.randomScalar() }
    private var context = Result<ServerContext, any Error> { throw MPinError.wrongParameter }

    override func setUp() {
        context = Result { try Engine.serverContext(Engine.serverShare(master.get())) }
    }

    /// The proof of a new identity, with the right PIN. `date` is 0 for one without a time permit.
    private func proof(
        _ name: String, date: Int32 = 0, y: [UInt8]? = nil, hasKeyPair: Bool = false
    ) throws -> LoginProof {
        let pair = hasKeyPair ? try Engine.keyPair() : nil
        let id = Array(name.utf8) + (pair?.publicKey ?? []), hashID = try Engine.hashID(id), master = try master.get()
        let e = try pinScalar(Array("1234".utf8), .decimal6), bits = PINMapping.decimal6.bits
        let share = try Engine.clientShare(master, hashID)
        let secret = try pair.map { try Engine.multiple($0.z, share) } ?? share
        let token = try Engine.extractPIN(id: id, e: e, bits: bits, secret: secret)
        let x = try Engine.randomScalar(), y = try y ?? Engine.challenge()
        let pass1 = try Engine.clientPass1(
            date: date, id: id, x: x, e: e, bits: bits, token: token,
            permit: date > 0 ? Engine.permitShare(master, date, hashID) : nil)
        let v = try Engine.clientPass2(x: x, y: y, sec: pass1.sec)
        return LoginProof(
            id: id, date: date, u: pass1.ut ?? pass1.u, y: y, v: v, publicKey: pair?.publicKey ?? [])
    }

    private func areAllRight(_ proofs: [LoginProof]) throws -> Bool {
        try context.get().areAllRight(proofs, random: systemRandom)
    }

    private func isRight(_ proof: LoginProof) throws -> Bool {
        guard proof.publicKey.isEmpty else {
            return try Engine.verify(
                context.get(), id: proof.id, publicKey: proof.publicKey, u: proof.u, y: proof.y, v: proof.v)
        }
        return try Engine.verify(
            context.get(), id: proof.id, date: proof.date, u: proof.u, y: proof.y, v: proof.v)
    }

    /// Returns the proof with another V or another public key.
    private func replacing(_ proof: LoginProof, v: [UInt8]? = nil, publicKey: [UInt8]? = nil) -> LoginProof {
        LoginProof(
            id: proof.id, date: proof.date, u: proof.u, y: proof.y, v: v ?? proof.v,
            publicKey: publicKey ?? proof.publicKey)
    }

    func testRightProofsAreAcceptedTogether() throws {
        var proofs: [LoginProof] = []
        for i in 0..<ServerContext.jointProofs {
            // One in three has a time permit, and one in two a challenge that is not short.
            let y = i % 2 == 0 ? nil : try Engine.randomScalar()
            proofs.append(try proof("user \(i)", date: i % 3 == 0 ? 20_000 : 0, y: y))
            XCTAssertTrue(try areAllRight(proofs), "\(proofs.count) proofs")
        }
        var keyed: [LoginProof] = []
        for i in 0..<ServerContext.jointProofs {
            keyed.append(try proof("keyed \(i)", hasKeyPair: true))
            XCTAssertTrue(try areAllRight(keyed), "\(keyed.count) proofs with key pairs")
            XCTAssertTrue(try areAllRight(Array(keyed.prefix(i)) + proofs.suffix(8 - i)), "\(i) of 8 have key pairs")
        }
        XCTAssertTrue(try areAllRight([keyed[1], keyed[1], keyed[1]]), "equal points with key pairs")
        XCTAssertTrue(try areAllRight([]))
        XCTAssertTrue(try areAllRight([proofs[1], proofs[1], proofs[1]]), "equal points")
    }

    func testOneWrongProofIsFoundAtEachPlace() throws {
        let proofs = try (0..<ServerContext.jointProofs).map { try proof("user \($0)") }
        for i in proofs.indices {
            var changed = proofs
            changed[i] = replacing(changed[i], v: proofs[(i + 1) % proofs.count].v)
            XCTAssertFalse(try areAllRight(changed), "V of \(i)")
            changed[i] = LoginProof(id: Array("other".utf8), date: 0, u: proofs[i].u, y: proofs[i].y, v: proofs[i].v)
            XCTAssertFalse(try areAllRight(changed), "ID of \(i)")
            changed[i] = LoginProof(
                id: proofs[i].id, date: 0, u: proofs[i].u, y: try Engine.challenge(), v: proofs[i].v)
            XCTAssertFalse(try areAllRight(changed), "y of \(i)")
            XCTAssertFalse(try isRight(changed[i]))
        }
    }

    /// Tests one wrong proof with a key pair among right ones, with and without key pairs.
    func testOneWrongProofWithAKeyPairIsFoundAtEachPlace() throws {
        let proofs = try (0..<4).map { try proof("user \($0)", hasKeyPair: $0 != 2) }
        for i in proofs.indices where i != 2 {
            let next = proofs[i == 1 ? 3 : (i + 1) % 4]
            for wrong in [
                replacing(proofs[i], v: next.v), replacing(proofs[i], publicKey: next.publicKey),
                replacing(proofs[i], publicKey: []),
            ] {
                var changed = proofs
                changed[i] = wrong
                XCTAssertFalse(try areAllRight(changed), "\(i)")
                XCTAssertFalse(try areAllRight([wrong]), "\(i) alone")
                XCTAssertFalse(try isRight(wrong))
            }
        }
        var changed = proofs
        changed[2] = replacing(changed[2], publicKey: proofs[0].publicKey)
        XCTAssertFalse(try areAllRight(changed), "a key that the identity does not have")
    }

    /// Tests that two wrong proofs do not become right by errors that cancel each other, as they would if all proofs had
    /// the same weight.
    func testErrorsDoNotCancelEachOther() throws {
        try assertErrorsStay(try proof("first"), try proof("second"))
        // With the same key, too, the factors of two proofs could cancel each other.
        let keyed = try proof("keyed", hasKeyPair: true)
        try assertErrorsStay(keyed, keyed)
    }

    private func assertErrorsStay(_ first: LoginProof, _ second: LoginProof) throws {
        let point = try Engine.mapToG1(hash: first.y)
        let one = scalarBytes(1)
        let twice = try Engine.recombineG1(point, point)
        let minusTwice = try Engine.clientPass2(x: one, y: one, sec: point)
        let wrong = [
            replacing(first, v: try Engine.recombineG1(first.v, twice)),
            replacing(second, v: try Engine.recombineG1(second.v, minusTwice)),
        ]
        let sum = try Engine.recombineG1(first.v, second.v)
        XCTAssertEqual(try Engine.recombineG1(wrong[0].v, wrong[1].v), sum, "the errors cancel each other")
        for _ in 0..<8 { XCTAssertFalse(try areAllRight(wrong)) }
        XCTAssertFalse(try areAllRight([first, replacing(first, v: try Engine.recombineG1(first.v, twice))]))
    }

    /// Tests a public key on the curve that does not have order r. Nobody can register it, so that it may be checked
    /// together with others without a look at its order.
    func testAKeyOfAnotherOrderMakesNoProofRight() throws {
        let outside = try XCTUnwrap(Vector.load().first { $0.id == "g2_decode-007" }).bytes("bytes")
        let (right, keyed) = (try proof("right", hasKeyPair: true), try proof("keyed", hasKeyPair: true))
        let wrong = replacing(keyed, publicKey: outside), context = try context.get()
        XCTAssertFalse(try areAllRight([right, wrong]))
        XCTAssertFalse(try areAllRight([wrong, right]))
        func isRight(_ proof: LoginProof, checksKey: Bool) throws -> Bool {
            try context.verify(
                id: proof.id.span, date: 0, u: proof.u.span, y: proof.y.span, v: proof.v.span,
                publicKey: proof.publicKey.span, checksKey: checksKey)
        }
        XCTAssertFalse(try isRight(wrong, checksKey: false))
        XCTAssertTrue(try isRight(keyed, checksKey: false))
        XCTAssertEqual(code { _ = try isRight(wrong, checksKey: true) }, -18)
    }

    /// Tests points that are equal and opposite, with which formulas that are not complete give an infinite sum.
    func testEqualAndOppositePointsAreNoWayIn() throws {
        let a = try Engine.serverPass1(date: 0, id: Array("victim".utf8)).hid
        let one = scalarBytes(1)
        let twice = try Engine.recombineG1(a, a)
        let minusTwice = try Engine.clientPass2(x: one, y: one, sec: a)
        let points = [a, twice, minusTwice]
        for u in points {
            for v in points {
                let forged = LoginProof(id: Array("victim".utf8), date: 0, u: u, y: one, v: v)
                let other = LoginProof(id: Array("victim".utf8), date: 0, u: v, y: one, v: u)
                XCTAssertFalse(try areAllRight([forged, forged]))
                XCTAssertFalse(try areAllRight([forged, other]))
            }
        }
    }

    func testRefusesWhatItCannotCheck() throws {
        let proof = try proof("user"), noPoint = [UInt8](repeating: 4, count: 65)
        let many = [LoginProof](repeating: proof, count: ServerContext.jointProofs + 1)
        XCTAssertEqual(code { _ = try areAllRight(many) }, -11)
        XCTAssertEqual(code { _ = try areAllRight([proof, replacing(proof, v: noPoint)]) }, -14)
        let noKey = replacing(proof, publicKey: [UInt8](repeating: 0, count: 128))
        XCTAssertEqual(code { _ = try areAllRight([proof, noKey]) }, -14)
        let zero = LoginProof(id: proof.id, date: 0, u: proof.u, y: scalarBytes(0), v: proof.v)
        XCTAssertEqual(code { _ = try areAllRight([zero]) }, -11)
        let context = try context.get()
        XCTAssertEqual(code { _ = try context.areAllRight([proof], random: { _ in false }) }, -32)
    }
}
