import MPinCrypto
import XCTest

/// The operations of M-Pin Full, of Elligator squared and of Milagro's random generator for which there are vectors.
enum KeyOperations {
    static var all: [String: (Vector) throws -> Void] {
        [
            "precompute": precompute, "client_key": clientKey, "server_key": serverKey, "mpin_full": mpinFull,
            "elligator_encode": elligatorEncode, "elligator_decode": elligatorDecode, "csprng": csprng,
        ]
    }

    static func precompute(_ v: Vector) throws {
        let made = try Engine.precompute(token: v.bytes("token"), hashID: v.bytes("hash_id"))
        XCTAssertEqual(made.g1, try v.expected("g1"), v.id)
        XCTAssertEqual(made.g2, try v.expected("g2"), v.id)
    }

    /// Returns the low 14 bits of the vector's PIN, which Milagro's library used when it computed a key. For a token it
    /// used those of the PIN modulo 10,000 instead.
    private static func scalar(_ v: Vector) throws -> [UInt8] { scalarBytes(try v.int("pin") & 0x3FFF) }

    static func clientKey(_ v: Vector) throws {
        let key = try Engine.clientKey(
            g1: v.bytes("g1"), g2: v.bytes("g2"), e: scalar(v), r: v.bytes("r"), x: v.bytes("x"), t: v.bytes("t"))
        XCTAssertEqual(key, try v.expected("key"), v.id)
    }

    static func serverKey(_ v: Vector) throws {
        let key = try Engine.serverKey(
            z: v.bytes("z"), serverSecret: v.bytes("sst"), w: v.bytes("w"), u: v.bytes("u"), ut: v.optionalBytes("ut"))
        XCTAssertEqual(key, try v.expected("key"), v.id)
    }

    static func mpinFull(_ v: Vector) throws {
        let hashID = try v.bytes("hash_id"), r = try v.bytes("r"), w = try v.bytes("w")
        let made = try Engine.precompute(token: v.bytes("token"), hashID: hashID)
        let z = try Engine.multiple(r, Engine.mapToG1(hash: hashID))
        let t = try Engine.multiple(w, v.optionalBytes("htid") ?? v.bytes("hid"))
        let client = try Engine.clientKey(g1: made.g1, g2: made.g2, e: scalar(v), r: r, x: v.bytes("x"), t: t)
        let server = try Engine.serverKey(
            z: z, serverSecret: v.bytes("sst"), w: w, u: v.bytes("u"), ut: v.optionalBytes("ut"))
        let results = [
            "g1": made.g1, "g2": made.g2, "z": z, "t": t, "client_key": client, "server_key": server,
        ]
        for (name, value) in results { XCTAssertEqual(value, try v.expected(name), "\(v.id) \(name)") }
        XCTAssertEqual(client == server, try v.expectedBool("keys_equal"), v.id)
        let reduced = try pinScalar("\(v.int("pin"))")
        let again = try Engine.clientKey(g1: made.g1, g2: made.g2, e: reduced, r: r, x: v.bytes("x"), t: t)
        let isRight = try v.id == "mpin_full-013" || v.expectedBool("keys_equal")
        XCTAssertEqual(again == server, isRight, "\(v.id): the PIN as pin_to_scalar reduces it")
    }

    /// Encodes with the random choices of the vector, and checks that Milagro's random generator makes them from the
    /// vector's seed.
    static func elligatorEncode(_ v: Vector) throws {
        let point = try v.bytes("point"), u = try v.bytes("u"), su = try v.int("su"), m = try v.int("m")
        let made = try Engine.elligatorEncode(point, u: u, isOdd: su == 1, m: m)
        XCTAssertEqual(made.encoded, try v.expected("encoded"), v.id)
        XCTAssertEqual(made.range, v.expectedInt("range"), v.id)
        XCTAssertEqual(v.expectedInt("sv"), Int(made.encoded[0] >> 1), v.id)
        var generator = LegacyGenerator(seed: try v.bytes("seed"))
        XCTAssertEqual(generator.number(below: Modulus.p), u, v.id)
        XCTAssertEqual(Int(generator.byte()) % 2, su, v.id)
        XCTAssertEqual(Int(generator.byte()) % made.range, m, v.id)
    }

    static func elligatorDecode(_ v: Vector) throws {
        let encoded = try v.bytes("encoded")
        var point: [UInt8]?
        XCTAssertEqual(code { point = try Engine.elligatorDecode(encoded) }, v.expectedInt("rc"), v.id)
        XCTAssertEqual(point, try v.expected("point"), v.id)
    }

    static func csprng(_ v: Vector) throws {
        let seed = try v.bytes("seed")
        var bytes = LegacyGenerator(seed: seed), scalar = bytes
        XCTAssertEqual(bytes.bytes(64), try v.expected("bytes"), v.id)
        XCTAssertEqual(scalar.number(below: Modulus.r), try v.expected("random_generate"), v.id)
    }
}
