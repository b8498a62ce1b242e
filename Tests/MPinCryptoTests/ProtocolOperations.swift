import MPinCrypto
import XCTest

/// Runs the vectors of the protocol's operations and checks their outputs.
enum ProtocolOperations {
    static var all: [String: (Vector) throws -> Void] {
        [
            "hash_id": hashID, "map_to_g1": mapToG1, "hash_date": hashDate,
            "client_secret": clientSecret, "client_secret_shares": clientSecretShares,
            "server_secret": serverSecret, "server_secret_shares": serverSecretShares,
            "time_permit": timePermit, "time_permit_shares": timePermitShares,
            "recombine_g1": recombineG1, "recombine_g2": recombineG2, "pin_hash": pinHash,
            "extract_pin": extractPIN, "client_1": client1, "client_2": client2, "server_1": server1,
            "server_2": server2, "kangaroo": kangaroo, "session": session,
        ]
    }

    static func hashID(_ v: Vector) throws {
        let id = try v.bytes("id")
        XCTAssertEqual(try Engine.hashID(id), try v.expected("hash"), v.id)
    }

    static func mapToG1(_ v: Vector) throws {
        let hash = try v.bytes("hash")
        XCTAssertEqual(
            try Engine.mapToG1(hash: hash), try v.expected("point"), v.id)
    }

    static func hashDate(_ v: Vector) throws {
        let hashID = try v.bytes("hash_id"), date = Int32(try v.int("date"))
        let hash = try Engine.hashDate(date, hashID)
        XCTAssertEqual(hash, try v.expected("hash"), v.id)
        XCTAssertEqual(
            try Engine.mapToG1(hash: hash), try v.expected("point"), v.id)
    }

    static func clientSecret(_ v: Vector) throws {
        XCTAssertEqual(try Engine.clientShare(v.bytes("s"), v.bytes("hash_id")), try v.expected("secret"), v.id)
    }

    static func clientSecretShares(_ v: Vector) throws {
        let a = try Engine.clientShare(v.bytes("s1"), v.bytes("hash_id")),
            b = try Engine.clientShare(v.bytes("s2"), v.bytes("hash_id"))
        XCTAssertEqual(a, try v.expected("share1"), v.id)
        XCTAssertEqual(b, try v.expected("share2"), v.id)
        XCTAssertEqual(
            try Engine.recombineG1(a, b), try v.expected("secret"), v.id)
    }

    static func serverSecret(_ v: Vector) throws {
        XCTAssertEqual(try Engine.serverShare(v.bytes("s")), try v.expected("secret"), v.id)
    }

    static func serverSecretShares(_ v: Vector) throws {
        let a = try Engine.serverShare(v.bytes("s1")), b = try Engine.serverShare(v.bytes("s2"))
        XCTAssertEqual(a, try v.expected("share1"), v.id)
        XCTAssertEqual(b, try v.expected("share2"), v.id)
        XCTAssertEqual(
            try Engine.recombineG2(a, b), try v.expected("secret"), v.id)
    }

    static func timePermit(_ v: Vector) throws {
        XCTAssertEqual(
            try Engine.permitShare(v.bytes("s"), Int32(v.int("date")), v.bytes("hash_id")), try v.expected("permit"),
            v.id)
    }

    static func timePermitShares(_ v: Vector) throws {
        let a = try Engine.permitShare(v.bytes("s1"), Int32(v.int("date")), v.bytes("hash_id")),
            b = try Engine.permitShare(v.bytes("s2"), Int32(v.int("date")), v.bytes("hash_id"))
        XCTAssertEqual(a, try v.expected("share1"), v.id)
        XCTAssertEqual(b, try v.expected("share2"), v.id)
        XCTAssertEqual(
            try Engine.recombineG1(a, b), try v.expected("permit"), v.id)
    }

    static func recombineG1(_ v: Vector) throws {
        let a = try v.bytes("a"), b = try v.bytes("b")
        try expect(v, ["sum": 65]) { out in
            out["sum"] = try Engine.recombineG1(a, b)
        }
    }

    static func recombineG2(_ v: Vector) throws {
        let a = try v.bytes("a"), b = try v.bytes("b")
        try expect(v, ["sum": 128]) { out in
            out["sum"] = try Engine.recombineG2(a, b)
        }
    }

    static func pinHash(_ v: Vector) throws {
        let pin = try v.bytes("pin_utf8")
        let effective = try XCTUnwrap(v.expectedInt("effective_scalar"))
        XCTAssertEqual(try pinScalar(pin, .legacyHash), scalarBytes(effective), v.id)
        let hash = try XCTUnwrap(v.expectedInt("hash"))
        XCTAssertEqual(try pinScalar("\(hash)", .legacy14), scalarBytes(effective), v.id)
    }

    static func extractPIN(_ v: Vector) throws {
        let id = try v.bytes("id"), secret = try v.bytes("client_secret"), e = try pinScalar("\(v.int("pin"))")
        if let effective = v.expectedInt("effective_scalar") { XCTAssertEqual(e, scalarBytes(effective), v.id) }
        try expect(v, ["token": 65]) { out in
            out["token"] = try Engine.extractPIN(id: id, e: e, bits: 14, secret: secret)
        }
    }

    static func client1(_ v: Vector) throws {
        let id = try v.bytes("id"), x = try v.bytes("x"), token = try v.bytes("token"),
            permit = try v.optionalBytes("permit")
        let date = Int32(try v.int("date")), e = try pinScalar("\(v.int("pin"))")
        try expect(v, ["sec": 65, "u": 65, "ut": 65]) { out in
            let result = try Engine.clientPass1(date: date, id: id, x: x, e: e, token: token, permit: permit)
            (out["sec"], out["u"], out["ut"]) = (result.sec, result.u, result.ut)
        }
    }

    static func client2(_ v: Vector) throws {
        let x = try v.bytes("x"), y = try v.bytes("y"), sec = try v.bytes("sec")
        try expect(v, ["v": 65]) { out in
            out["v"] = try Engine.clientPass2(x: x, y: y, sec: sec)
        }
    }

    static func server1(_ v: Vector) throws {
        let id = try v.bytes("id"), date = Int32(try v.int("date"))
        let (hid, htid) = try Engine.serverPass1(date: date, id: id)
        XCTAssertEqual(hid, try v.expected("hid"), v.id)
        XCTAssertEqual(htid, try v.expected("htid"), v.id)
    }

    static func server2(_ v: Vector) throws {
        let serverSecret = try v.bytes("sst")
        let context = try Engine.serverContext(serverSecret)
        let result = try Engine.serverPass2(
            context: context, date: Int32(v.int("date")),
            hid: v.bytes("hid"), htid: v.optionalBytes("htid"), y: v.bytes("y"), u: v.bytes("u"),
            ut: v.optionalBytes("ut"), v: v.bytes("v"))
        XCTAssertEqual(result.code, v.expectedInt("rc"), v.id)
        XCTAssertEqual(result.e, try v.expected("e"), v.id)
        XCTAssertEqual(result.f, try v.expected("f"), v.id)
    }

    static func kangaroo(_ v: Vector) throws {
        let e = try v.bytes("e"), f = try v.bytes("f")
        XCTAssertEqual(try Engine.kangaroo(e: e, f: f), v.expectedInt("pin_error").map(Int32.init), v.id)
    }

    /// Runs `body` and compares its result code with the vector's `rc`. If that is 0, it also compares the outputs.
    private static func expect(
        _ v: Vector, _ outputs: [String: Int], _ body: (inout [String: [UInt8]?]) throws -> Void
    ) throws {
        var produced: [String: [UInt8]?] = [:]
        let result = code { try body(&produced) }
        let expected = v.isInfinity ? -14 : v.expectedInt("rc") ?? 0
        XCTAssertEqual(result, expected, v.id)
        for name in outputs.keys where expected == 0 {
            XCTAssertEqual(produced[name] ?? nil, try v.expected(name), "\(v.id) \(name)")
        }
    }
}
