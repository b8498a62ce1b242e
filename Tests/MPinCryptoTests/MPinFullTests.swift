import MPinCrypto
import MPinSecrets
import XCTest

/// Tests M-Pin Full, with which client and server compute the same key in a login.
final class MPinFullTests: XCTestCase {
    func testKeysAgreeForTheRightPINAlone() throws {
        let user = try RegisteredIdentity(pin: "123456", keyPair: false), hash = try Engine.hashID(user.id)
        let made = try Engine.precompute(token: user.token, hashID: hash)
        for date in [0, RegisteredIdentity.date] {
            let (hid, htid) = try Engine.serverPass1(date: date, id: user.id)
            for pin in ["123456", "123457", "000000"] {
                let x = try Engine.randomScalar(), r = try Engine.randomScalar(), w = try Engine.randomScalar()
                let e = try pinScalar(pin, .decimal6)
                let pass1 = try Engine.clientPass1(
                    date: date, id: user.id, x: x, e: e, bits: 20, token: user.token,
                    permit: date > 0 ? user.permit : nil)
                let z = try Engine.multiple(r, hid), t = try Engine.multiple(w, htid ?? hid)
                let client = try Engine.clientKey(g1: made.g1, g2: made.g2, e: e, bits: 20, r: r, x: x, t: t)
                let server = try Engine.serverKey(
                    z: z, serverSecret: user.serverSecret, w: w, u: pass1.u, ut: pass1.ut)
                XCTAssertEqual(client == server, pin == "123456", "\(date) \(pin)")
            }
        }
    }

    /// Tests small values of r, the client's random number in a key. With these values, the function of Milagro's
    /// library never returned.
    func testKeyForSmallR() throws {
        let user = try RegisteredIdentity(pin: "123456", keyPair: false), hash = try Engine.hashID(user.id)
        let made = try Engine.precompute(token: user.token, hashID: hash), x = try Engine.randomScalar()
        let hid = try Engine.mapToG1(hash: hash), e = try pinScalar("123456", .decimal6)
        var keys: Set<[UInt8]> = []
        for r in [0, 1, 2, 3, 1 << 20] {
            let key = try Engine.clientKey(
                g1: made.g1, g2: made.g2, e: e, bits: 20, r: scalarBytes(r), x: x, t: hid)
            XCTAssertTrue(keys.insert(key).inserted)
            guard r > 0 else { continue }
            let z = try Engine.multiple(scalarBytes(r), hid), u = try Engine.multiple(x, hid)
            let server = try Engine.serverKey(
                z: z, serverSecret: user.serverSecret, w: scalarBytes(1), u: u, ut: nil)
            XCTAssertEqual(key, server, "\(r)")
        }
        // For r = 0 the key is the hash of the trace of 1, which is 3, and of x times the point of the identity.
        let zero = SHA256.hash(scalarBytes(3) + [UInt8](repeating: 0, count: 96) + (try Engine.multiple(x, hid))[1...])
        XCTAssertTrue(keys.contains(Array(zero.prefix(16))))
    }
}
