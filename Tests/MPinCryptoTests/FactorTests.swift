import MPinCrypto
import XCTest

/// Tests factors in addition to the PIN, and changes of the PIN.
final class FactorTests: XCTestCase {
    func testFactorsCommuteAndComeBack() throws {
        let user = try RegisteredIdentity(pin: "123456", keyPair: false)
        let pin = try pinScalar("999999", .decimal6), wide = [UInt8](repeating: 255, count: 32)
        let short = scalarBytes(1)
        func off(_ f: [UInt8], _ bits: Int, _ token: [UInt8]) throws -> [UInt8] {
            try Engine.extractFactor(id: user.id, f: f, bits: bits, token: token)
        }
        func on(_ f: [UInt8], _ bits: Int, _ token: [UInt8]) throws -> [UInt8] {
            try Engine.restoreFactor(id: user.id, f: f, bits: bits, token: token)
        }
        let both = try off(short, 1, off(wide, 256, off(pin, 20, user.token)))
        XCTAssertEqual(try off(pin, 20, off(wide, 256, off(short, 1, user.token))), both)
        XCTAssertNotEqual(both, user.token)
        XCTAssertEqual(try on(pin, 20, on(short, 1, on(wide, 256, both))), user.token)
        XCTAssertEqual(try on(pinScalar("123456", .decimal6), 20, user.token), user.secret)
    }

    func testChangedPINIsThatOfAFreshToken() throws {
        let user = try RegisteredIdentity(pin: "123456", keyPair: true)
        for (new, mapping) in [("654321", PINMapping.decimal6), ("000000", .decimal6), ("4711", .legacyHash)] {
            let scalar = try pinScalar(new, mapping)
            let fresh = try Engine.extractPIN(id: user.id, e: scalar, bits: mapping.bits, secret: user.secret)
            func changed(from old: String) throws -> [UInt8] {
                try Engine.changePIN(
                    id: user.id, old: pinScalar(old, .decimal6), oldBits: 20, new: scalar, newBits: mapping.bits,
                    token: user.token)
            }
            XCTAssertEqual(try changed(from: "123456"), fresh)
            XCTAssertNotEqual(try changed(from: "123457"), fresh)
        }
    }
}
