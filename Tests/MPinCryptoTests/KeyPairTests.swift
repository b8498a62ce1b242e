import MPinCrypto
import MPinSecrets
import XCTest

/// Tests identities with a key pair, and signatures in one pass by identities with and without a key pair.
final class KeyPairTests: XCTestCase {
    private let id = RegisteredIdentity.plainID, message = Array("message".utf8)
    private let time: Int64 = 1_700_000_000

    func testPublicKeyIsTheInverseMultiple() throws {
        let (z, publicKey) = try Engine.keyPair()
        XCTAssertEqual(try Engine.publicKey(z: z), publicKey)
        XCTAssertNotEqual(try Engine.keyPair().z, z)
        // The public key must be the generator Q divided by z. Then e(Q/z, zP) = e(Q, P) for any point P.
        let point = try Engine.mapToG1(hash: Engine.hashID(id)), generator = try Engine.serverShare(scalarBytes(1))
        let left = try pairing(publicKey, Engine.multiple(z, point)), right = try pairing(generator, point)
        XCTAssertEqual(left, right)
        XCTAssertEqual(code { _ = try Engine.keyPair { _ in false } }, -32)
    }

    private func pairing(_ q: [UInt8], _ p: [UInt8]) throws -> [UInt8] {
        try octets(384) { try PairingOctets.pairing(q: q.span, p: p.span, into: &$0) }
    }

    func testLoginWithAKeyPairNeedsItsKeyAndPIN() throws {
        let user = try RegisteredIdentity(pin: "123456", keyPair: true), other = try Engine.keyPair().publicKey
        let key = try XCTUnwrap(user.publicKey), x = try Engine.randomScalar(), y = try Engine.randomScalar()
        for pin in ["123456", "123457", "000000"] {
            let e = try pinScalar(pin, .decimal6)
            let pass1 = try Engine.clientPass1(
                date: 0, id: user.id, x: x, e: e, bits: 20, token: user.token, permit: nil)
            let v = try Engine.clientPass2(x: x, y: y, sec: pass1.sec)
            func accepts(_ id: [UInt8], _ key: [UInt8]) throws -> Bool {
                try Engine.verify(user.context, id: id, publicKey: key, u: pass1.u, y: y, v: v)
            }
            XCTAssertEqual(try accepts(user.id, key), pin == "123456", pin)
            XCTAssertFalse(try accepts(user.id, other), pin)
            XCTAssertFalse(try accepts(id, key), pin)
            XCTAssertFalse(try Engine.verify(user.context, id: user.id, date: 0, u: pass1.u, y: y, v: v), pin)
        }
    }

    func testSignatureIsBoundToPINMessageAndTime() throws {
        for (keyPair, date) in [
            (false, Int32(0)), (true, 0), (false, RegisteredIdentity.date), (true, RegisteredIdentity.date),
        ] {
            let user = try RegisteredIdentity(pin: "123456", keyPair: keyPair), x = try Engine.randomScalar()
            for (pin, error) in [("123456", Int32(0)), ("123459", 3), ("023456", -100_000)] {
                let proof = try Engine.onePassClient(
                    date: date, id: user.id, x: x, e: pinScalar(pin, .decimal6), token: user.token,
                    permit: date > 0 ? user.permit : nil, time: time, message: message)
                func check(_ time: Int64, _ message: [UInt8], _ count: Int = 384) -> (Int?, [UInt8], [UInt8]) {
                    Engine.onePassServer(
                        user.context, date: date, id: user.id, u: proof.u, ut: proof.ut, v: proof.v, time: time,
                        message: message, publicKey: user.publicKey, count: count)
                }
                let (code, e, f) = check(time, message)
                XCTAssertEqual(code, error == 0 ? 0 : -19, "\(keyPair) \(date) \(pin)")
                if error != 0 { XCTAssertEqual(try Engine.kangaroo(e: e, f: f, range: 999_999), error) }
                XCTAssertEqual(check(time, message, 0).0, code)
                XCTAssertEqual(check(time + 1, message).0, -19)
                XCTAssertEqual(check(time, message + [0]).0, -19)
                XCTAssertEqual(check(time, []).0, -19)
            }
        }
    }

    /// Tests that the point that a client keeps since the registration gives the same proofs as mapping the ID again.
    func testTheKeptPointGivesTheSameProofs() throws {
        let e = try pinScalar("123456", .decimal6)
        for (keyPair, date) in [(false, Int32(0)), (true, 0), (true, RegisteredIdentity.date)] {
            let user = try RegisteredIdentity(pin: "123456", keyPair: keyPair), x = try Engine.randomScalar()
            let permit = date > 0 ? user.permit : nil, point = try Engine.point(id: user.id)
            XCTAssertEqual(point, try Engine.mapToG1(hash: Engine.hashID(user.id)))
            func pass1(_ point: [UInt8]?) throws -> [[UInt8]] {
                let made = try Engine.clientPass1(
                    date: date, id: user.id, point: point, x: x, e: e, bits: 20, token: user.token, permit: permit)
                return [made.sec, made.u, made.ut ?? []]
            }
            func sign(_ point: [UInt8]?) throws -> [[UInt8]] {
                let made = try Engine.onePassClient(
                    date: date, id: user.id, point: point, x: x, e: e, token: user.token, permit: permit, time: time,
                    message: message)
                return [made.u, made.ut ?? [], made.v]
            }
            XCTAssertEqual(try pass1(point), try pass1(nil))
            XCTAssertEqual(try sign(point), try sign(nil))
            XCTAssertNotEqual(try pass1(Engine.point(id: message)), try pass1(nil))
            XCTAssertEqual(code { _ = try pass1([UInt8](repeating: 4, count: 65)) }, -14)
            XCTAssertEqual(code { _ = try sign(Array(point.dropLast())) }, -11)
        }
        XCTAssertEqual(code { _ = try Engine.point(id: self.id, count: 64) }, -11)
    }

    /// Tests that y, the challenge of a signature, is the hash that the protocol defines, modulo r.
    func testYIsTheHashModuloTheOrder() throws {
        let u = try Engine.mapToG1(hash: Engine.hashID(id))
        var reduced = 0
        for i in 0..<40 {
            let hash = SHA256.hash([0, 0, 1, UInt8(i)] + u + message)
            let y = try Engine.onePassY(time: Int64(256 + i), u: u, message: message)
            XCTAssertLessThanOrEqual(y[0], 0x24)
            if hash[0] < 0x24 { XCTAssertEqual(y, hash) } else { reduced += 1 }
        }
        XCTAssertGreaterThan(reduced, 0)
        for time: Int64 in [0, -1, 1 << 32, time * 1_000, .min, .max] {
            XCTAssertEqual(code { _ = try Engine.onePassY(time: time, u: u, message: []) }, -11, "\(time)")
        }
        XCTAssertEqual(code { _ = try Engine.onePassY(time: (1 << 32) - 1, u: u, message: []) }, 0)
    }
}
