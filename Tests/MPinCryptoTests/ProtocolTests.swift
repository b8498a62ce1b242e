import MPinCrypto
import MPinSecrets
import XCTest

/// Tests complete logins with random values, and inputs that must be refused.
final class ProtocolTests: XCTestCase {
    private let id = Array(#"{"userID": "alice@example.com"}"#.utf8)

    /// A user whose client secret comes from two D-TAs.
    private struct Registration {
        let s1: [UInt8], s2: [UInt8], hashID: [UInt8], clientSecret: [UInt8], token: [UInt8]
        let context: ServerContext
    }

    private func register(pin: String, _ mapping: PINMapping = .decimal6) throws -> Registration {
        let s1 = try Engine.randomScalar(), s2 = try Engine.randomScalar()
        let hashID = try Engine.hashID(id)
        let c1 = try Engine.clientShare(s1, hashID), c2 = try Engine.clientShare(s2, hashID),
            q1 = try Engine.serverShare(s1), q2 = try Engine.serverShare(s2)
        let secret = try Engine.recombineG1(c1, c2)
        let serverSecret = try Engine.recombineG2(q1, q2)
        let e = try pinScalar(Array(pin.utf8), mapping)
        let token = try Engine.extractPIN(id: id, e: e, bits: mapping.bits, secret: secret)
        let context = try Engine.serverContext(serverSecret)
        return Registration(s1: s1, s2: s2, hashID: hashID, clientSecret: secret, token: token, context: context)
    }

    private func permit(_ user: Registration, date: Int32) throws -> [UInt8] {
        let p1 = try Engine.permitShare(user.s1, date, user.hashID),
            p2 = try Engine.permitShare(user.s2, date, user.hashID)
        return try Engine.recombineG1(p1, p2)
    }

    /// Computes the values that a client sends in a login: U, UT, V.
    private func login(
        _ user: Registration, pin: String, _ mapping: PINMapping = .decimal6, date: Int32, y: [UInt8]
    ) throws -> (u: [UInt8], ut: [UInt8]?, v: [UInt8]) {
        let x = try Engine.randomScalar(), e = try pinScalar(Array(pin.utf8), mapping)
        let pass1 = try Engine.clientPass1(
            date: date, id: id, x: x, e: e, bits: mapping.bits, token: user.token,
            permit: date > 0 ? permit(user, date: date) : nil)
        let v = try Engine.clientPass2(x: x, y: y, sec: pass1.sec)
        return (pass1.u, pass1.ut, v)
    }

    func testRightPINPassesAndWrongOnesDoNot() throws {
        for mapping in PINMapping.allCases {
            let user = try register(pin: "1234", mapping)
            for date: Int32 in [0, 20_000] {
                for pin in ["1234", "1235", "0000", "9999"] {
                    let y = try Engine.randomScalar()
                    let (u, ut, v) = try login(user, pin: pin, mapping, date: date, y: y)
                    let commitment = ut ?? u
                    let accepted = try Engine.verify(user.context, id: id, date: date, u: commitment, y: y, v: v)
                    XCTAssertEqual(accepted, pin == "1234", "\(mapping) \(date) \(pin)")
                }
            }
        }
    }

    /// Tests that a proof is valid only for its challenge y, its identity, its day and its server secret.
    func testProofIsBoundToItsSession() throws {
        let user = try register(pin: "1234"), other = try register(pin: "1234"), y = try Engine.randomScalar(),
            y2 = try Engine.randomScalar()
        let (u, ut, v) = try login(user, pin: "1234", date: 20_000, y: y)
        let commitment = try XCTUnwrap(ut), bob = Array("bob".utf8)
        func accepts(_ context: ServerContext, _ id: [UInt8], _ date: Int32, _ y: [UInt8]) throws -> Bool {
            try Engine.verify(context, id: id, date: date, u: commitment, y: y, v: v)
        }
        XCTAssertTrue(try accepts(user.context, id, 20_000, y))
        XCTAssertFalse(try accepts(user.context, id, 20_000, y2))
        XCTAssertFalse(try accepts(user.context, id, 20_001, y))
        XCTAssertFalse(try accepts(user.context, id, 0, y))
        XCTAssertFalse(try accepts(user.context, bob, 20_000, y))
        XCTAssertFalse(try accepts(other.context, id, 20_000, y))
        XCTAssertFalse(try Engine.verify(user.context, id: id, date: 20_000, u: u, y: y, v: v))
    }

    /// Tests that the server refuses the commitment U' = -y A, where A is the point of the identity. With it, the
    /// second pairing of the server's check would be 1 whatever the client's secret is.
    func testCommitmentThatCancelsTheIdentityIsNotAccepted() throws {
        let user = try register(pin: "1234"), y = try Engine.randomScalar()
        let (hid, _) = try Engine.serverPass1(date: 0, id: id)
        let zero = scalarBytes(0), one = scalarBytes(1)
        XCTAssertEqual(code { _ = try Engine.clientPass2(x: zero, y: y, sec: hid) }, -11)
        // Computes U' = -y A: for x = 1, pass 2 gives -(x + y) A = -y A - A, to which A is added.
        let minus = try Engine.clientPass2(x: one, y: y, sec: hid)
        let cancelling = try Engine.recombineG1(minus, hid)
        XCTAssertFalse(try Engine.verify(user.context, id: id, date: 0, u: cancelling, y: y, v: hid))
    }

    func testErrorOfASixDigitPINIsFound() throws {
        let user = try register(pin: "000000"), y = try Engine.randomScalar()
        let (hid, _) = try Engine.serverPass1(date: 0, id: id)
        let (u, ut, v) = try login(user, pin: "987654", date: 0, y: y)
        let result = try Engine.serverPass2(
            context: user.context, date: 0, hid: hid, htid: nil, y: y, u: u, ut: ut, v: v)
        XCTAssertEqual(result.code, -19)
        let e = try XCTUnwrap(result.e), f = try XCTUnwrap(result.f)
        XCTAssertEqual(try Engine.kangaroo(e: e, f: f, range: 1_000_000), 987_654)
        XCTAssertNil(try Engine.kangaroo(e: e, f: f))
        XCTAssertEqual(code { _ = try Engine.kangaroo(e: e, f: f, range: 1_000_001) }, -11)
        XCTAssertEqual(code { _ = try Engine.kangaroo(e: e, f: f, range: -1) }, -11)
        let short = Array(e.dropLast()), outside = [UInt8](repeating: 1, count: 384)
        XCTAssertEqual(code { _ = try Engine.kangaroo(e: short, f: f) }, -11)
        XCTAssertEqual(code { _ = try Engine.kangaroo(e: e, f: outside) }, -18)
    }

    func testPass2WithoutOutputsOnlyAnswers() throws {
        let user = try register(pin: "1234"), y = try Engine.randomScalar()
        let (hid, _) = try Engine.serverPass1(date: 0, id: id)
        for (pin, expected) in [("1234", 0), ("1235", -19)] {
            let (u, _, v) = try login(user, pin: pin, date: 0, y: y)
            let result = try Engine.serverPass2(
                context: user.context, date: 0, hid: hid, htid: nil, y: y, u: u, ut: nil, v: v, count: 0
            ).code
            XCTAssertEqual(result, expected)
        }
    }

    func testPass2NeedsWhatItsDateAsksFor() throws {
        let user = try register(pin: "1234"), y = try Engine.randomScalar(), date: Int32 = 20_000
        let (hid, htid) = try Engine.serverPass1(date: date, id: id)
        let (u, ut, v) = try login(user, pin: "1234", date: date, y: y)
        func result(_ date: Int32, htid: [UInt8]?, ut: [UInt8]?) throws -> Int? {
            try Engine.serverPass2(context: user.context, date: date, hid: hid, htid: htid, y: y, u: u, ut: ut, v: v)
                .code
        }
        XCTAssertEqual(try result(date, htid: htid, ut: ut), 0)
        XCTAssertEqual(try result(date, htid: nil, ut: ut), -11)
        XCTAssertEqual(try result(date, htid: htid, ut: nil), -11)
        XCTAssertEqual(try result(-1, htid: htid, ut: ut), -11)
        let withoutU = try Engine.serverPass2(
            context: user.context, date: date, hid: hid, htid: htid, y: y, u: nil, ut: ut, v: v)
        XCTAssertEqual(withoutU.code, -11, "E and F need U")
        let withoutOutputs = try Engine.serverPass2(
            context: user.context, date: date, hid: hid, htid: htid, y: y, u: nil, ut: ut, v: v, count: 0)
        XCTAssertEqual(withoutOutputs.code, 0)
    }

    func testServersRunInParallel() async throws {
        let user = try register(pin: "1234"), y = try Engine.randomScalar(), id = id
        let (u, _, v) = try login(user, pin: "1234", date: 0, y: y)
        let context = user.context
        let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 {
                group.addTask { try Engine.verify(context, id: id, date: 0, u: u, y: y, v: v) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        XCTAssertEqual(answers, [Bool](repeating: true, count: 16))
    }

    /// Tests that with short challenges, too, the server accepts right PINs and refuses wrong ones, even if a half of
    /// the challenge has its smallest or largest value.
    func testShortChallenges() throws {
        let user = try register(pin: "1234", .decimal4)
        let edges = [[UInt8](repeating: 0, count: 15) + [1], [1] + [UInt8](repeating: 0, count: 15)]
        let ends = edges + [[UInt8](repeating: 0xFF, count: 16)]
        for bytes in ends.map({ [UInt8](repeating: 0, count: 16) + $0 }) + [nil, nil, nil] {
            let y = try Engine.challenge { span in
                guard let bytes else { return systemRandom(&span) }
                for i in 0..<32 { span[i] = bytes[i] }
                return true
            }
            for pin in ["1234", "1235"] {
                let (u, _, v) = try login(user, pin: pin, .decimal4, date: 0, y: y)
                let accepted = try Engine.verify(user.context, id: id, date: 0, u: u, y: y, v: v)
                XCTAssertEqual(accepted, pin == "1234", "\(y) \(pin)")
            }
        }
    }

    /// Tests that a challenge is never 0: a random generator that gives only zeros, or fails, gives an error.
    func testAChallengeIsNeverZero() throws {
        XCTAssertThrowsError(
            try Engine.challenge { span in
                for i in 0..<span.count { span[i] = 0 }
                return true
            }
        ) { XCTAssertEqual($0 as? MPinError, .randomFailed) }
        XCTAssertThrowsError(try Engine.challenge { _ in false }) { XCTAssertEqual($0 as? MPinError, .randomFailed) }
        XCTAssertThrowsError(try Engine.challenge(count: 31)) { XCTAssertEqual($0 as? MPinError, .wrongParameter) }
    }

    func testRandomScalarsAreInRangeAndDiffer() throws {
        var seen: Set<[UInt8]> = []
        for _ in 0..<200 {
            let scalar = try Engine.randomScalar()
            XCTAssertTrue(seen.insert(scalar).inserted)
            XCTAssertLessThan(scalar[0], 0x24 + 1)
            _ = try Engine.serverShare(scalar)
        }
        XCTAssertEqual(code { _ = try Engine.randomScalar { _ in false } }, -32)
        // A generator that gives only zeros, or only ones, never gives a scalar.
        for stuck: UInt8 in [0, 255] {
            let source: RandomSource = { bytes in
                for i in 0..<bytes.count { bytes[i] = stuck }
                return true
            }
            XCTAssertEqual(code { _ = try Engine.randomScalar(source) }, -32)
        }
        XCTAssertEqual(code { _ = try Engine.randomScalar(count: 31) }, -11)
    }
}
