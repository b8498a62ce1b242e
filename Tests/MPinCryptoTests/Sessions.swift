import MPinCrypto
import XCTest

extension ProtocolOperations {
    /// Runs the vector of a session: a registration with one PIN, and a login with the same PIN or another one.
    static func session(_ v: Vector) throws {
        let id = try v.bytes("id"), s = try v.bytes("s"), x = try v.bytes("x"), y = try v.bytes("y")
        let date = Int32(try v.int("date")), permit = try v.optionalBytes("permit")
        let hashID = try Engine.hashID(id)
        let clientSecret = try Engine.clientShare(s, hashID)
        let serverSecret = try Engine.serverShare(s)
        let registered = try pinScalar("\(v.int("pin_registered"))"), entered = try pinScalar("\(v.int("pin_entered"))")
        let token = try Engine.extractPIN(id: id, e: registered, bits: 14, secret: clientSecret)
        let pass1 = try Engine.clientPass1(date: date, id: id, x: x, e: entered, token: token, permit: permit)
        let proof = try Engine.clientPass2(x: x, y: y, sec: pass1.sec)
        let (hid, htid) = try Engine.serverPass1(date: date, id: id)
        let made: [String: [UInt8]?] = [
            "hash_id": hashID, "client_secret": clientSecret, "server_secret": serverSecret, "token": token,
            "u": pass1.u, "ut": pass1.ut, "sec": pass1.sec, "v": proof, "hid": hid, "htid": htid,
        ]
        for (name, value) in made { XCTAssertEqual(value, try v.expected(name), "\(v.id) \(name)") }
        let context = try Engine.serverContext(serverSecret)
        try check(v, context, date, id, hid, htid, y, pass1.u, pass1.ut, proof)
    }

    private static func check(
        _ v: Vector, _ context: ServerContext, _ date: Int32, _ id: [UInt8], _ hid: [UInt8], _ htid: [UInt8]?,
        _ y: [UInt8], _ u: [UInt8], _ ut: [UInt8]?, _ proof: [UInt8]
    ) throws {
        let result = try Engine.serverPass2(
            context: context, date: date, hid: hid, htid: htid, y: y, u: u, ut: ut, v: proof)
        XCTAssertEqual(result.code, v.expectedInt("rc"), v.id)
        XCTAssertEqual(result.e, try v.expected("e"), v.id)
        XCTAssertEqual(result.f, try v.expected("f"), v.id)
        let commitment = ut ?? u
        let accepted = try Engine.verify(context, id: id, date: date, u: commitment, y: y, v: proof)
        XCTAssertEqual(accepted, v.expectedInt("rc") == 0, v.id)
        guard let e = result.e, let f = result.f else { return }
        XCTAssertEqual(try Engine.kangaroo(e: e, f: f), v.expectedInt("pin_error").map(Int32.init), v.id)
    }
}
