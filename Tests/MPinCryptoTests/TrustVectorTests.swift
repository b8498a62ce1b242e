import Foundation
import MPinCrypto
import MPinSecrets
import XCTest

/// Runs the vectors of `bn254cx-trust.json`, for identities with a key pair as on the MIRACL Trust platform.
final class TrustVectorTests: XCTestCase {
    private struct Malformed: Error { let member: String }

    private struct TrustVector {
        let id: String, kind: String, input: [String: Any], output: [String: Any]

        func text(_ name: String) throws -> String {
            guard let text = (input[name] ?? output[name]) as? String else { throw Malformed(member: "\(id) \(name)") }
            return text
        }

        func bytes(_ name: String) throws -> [UInt8] {
            guard let bytes = Hex.decode(try text(name)) else { throw Malformed(member: "\(id) \(name)") }
            return bytes
        }

        func int(_ name: String) throws -> Int {
            guard let int = (input[name] ?? output[name]) as? Int else { throw Malformed(member: "\(id) \(name)") }
            return int
        }
    }

    private func load() throws -> [TrustVector] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Vectors/bn254cx-trust.json")
        let document = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let vectors = document?["vectors"] as? [[String: Any]] ?? []
        guard vectors.count == document?["count"] as? Int else { throw Malformed(member: "count") }
        return try vectors.map { json in
            guard let id = json["id"] as? String, let kind = json["kind"] as? String,
                let input = json["input"] as? [String: Any], let output = json["output"] as? [String: Any],
                json["curve"] as? String ?? "BN254CX" == "BN254CX"
            else { throw Malformed(member: "id, kind, input, output or curve") }
            return TrustVector(id: id, kind: kind, input: input, output: output)
        }
    }

    /// Runs every vector. If the registration for a login is not in the file, only the second pass of that login runs.
    func testVectorsOfTheTrustPlatform() throws {
        let vectors = try load()
        let registrations = Dictionary(
            vectors.filter { $0.kind == "registration" }.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var ran: [String: Int] = [:], secondPassOnly = 0
        for vector in vectors {
            let user = registrations[vector.input["registration"] as? String ?? ""]
            switch vector.kind {
            case "document-hash": XCTAssertNoThrow(try documentHash(vector), vector.id)
            case "maas-hmac-auth": XCTAssertNoThrow(try authorization(vector), vector.id)
            case "pin-mapping": XCTAssertNoThrow(try pinMapping(vector), vector.id)
            case "hash-to-point": XCTAssertNoThrow(try hashToPoint(vector), vector.id)
            case "registration": XCTAssertNoThrow(try registration(vector), vector.id)
            case "two-pass":
                if user == nil { secondPassOnly += 1 }
                XCTAssertNoThrow(try twoPass(vector, of: user), vector.id)
            case "dvs-sign": XCTAssertNoThrow(try sign(vector, of: XCTUnwrap(user)), vector.id)
            case "amcl-rng": XCTAssertNoThrow(try generator(vector), vector.id)
            default:
                XCTFail("unknown kind \(vector.kind)")
                continue
            }
            ran[vector.kind, default: 0] += 1
        }
        print("trust vectors: \(ran.values.reduce(0, +)) of \(vectors.count) ran, \(secondPassOnly) in the second pass")
        for (kind, count) in ran.sorted(by: { $0.key < $1.key }) { print("  \(kind): \(count) ran") }
        let required: Set = ["hash-to-point", "registration", "two-pass", "dvs-sign", "pin-mapping", "amcl-rng"]
        XCTAssertTrue(required.isSubset(of: ran.keys))
        XCTAssertLessThan(secondPassOnly, ran["two-pass"] ?? 0)
    }

    private func documentHash(_ v: TrustVector) throws {
        XCTAssertEqual(SHA256.hash(Array(try v.text("document").utf8)), try v.bytes("hashHex"), v.id)
    }

    private func authorization(_ v: TrustVector) throws {
        let key = SecretBytes(copying: Array(try v.text("clientSecret").utf8).span)
        let tag = Hex.encode(HMACSHA256.tag(Array(try v.text("documentHashHex").utf8), key: key))
        let credentials = Data("\(try v.text("clientId")):\(tag)".utf8).base64EncodedString()
        XCTAssertEqual("MAAS-HMAC-SHA256 \(credentials)", try v.text("headerValue"), v.id)
    }

    private func pinMapping(_ v: TrustVector) throws {
        let members: [(PINMapping, String)] = [
            (.legacyHash, "milagroCoreInteger"), (.decimal6, "clientJsInteger"),
            (.decimal4, "trustNativeInteger_4digitField"),
        ]
        for (mapping, member) in members {
            XCTAssertEqual(try pinScalar(v.text("pin"), mapping), scalarBytes(try v.int(member)), "\(v.id) \(member)")
        }
        let hash = try pinScalar("\(v.int("milagroCoreJavaHash"))", .legacy14)
        XCTAssertEqual(hash, scalarBytes(try v.int("milagroCoreInteger")), v.id)
    }

    private func hashToPoint(_ v: TrustVector) throws {
        XCTAssertEqual(try Engine.mapToG1(hash: v.bytes("hash")), try v.bytes("point"), v.id)
    }

    private func registration(_ v: TrustVector) throws {
        let z = try v.bytes("z"), s1 = try v.bytes("s1"), s2 = try v.bytes("s2")
        let publicKey = try Engine.publicKey(z: z)
        let id = try v.bytes("mpinId") + publicKey
        XCTAssertEqual(try v.bytes("mpinId"), Array(try v.text("mpinIdText").utf8), v.id)
        let hash = try Engine.hashID(id)
        let share1 = try Engine.clientShare(s1, hash), share2 = try Engine.clientShare(s2, hash)
        let combined = try Engine.recombineG1(share1, share2), secret = try Engine.multiple(z, combined)
        let q1 = try Engine.serverShare(s1), q2 = try Engine.serverShare(s2)
        let token = try Engine.extractPIN(
            id: id, e: pinScalar(v.text("pin"), .decimal6), bits: 20, secret: secret)
        let made = [
            "publicKey": publicKey, "hashOfIdAndKey": hash, "A": try Engine.mapToG1(hash: hash),
            "clientSecretShare1": share1, "clientSecretShare2": share2, "combined": combined,
            "zTimesCombined": secret, "token": token, "serverSecretShare1": q1, "serverSecretShare2": q2,
            "serverSecret": try Engine.recombineG2(q1, q2),
        ]
        for (name, value) in made { XCTAssertEqual(value, try v.bytes(name), "\(v.id) \(name)") }
        XCTAssertEqual(Set(made.keys), Set(v.output.keys), "\(v.id): an output that is not looked at")
    }

    private func twoPass(_ v: TrustVector, of user: TrustVector?) throws {
        let x = try v.bytes("x"), y = try v.bytes("y"), sec = try v.bytes("SECbeforePass2")
        let proof = try Engine.clientPass2(x: x, y: y, sec: sec)
        XCTAssertEqual(proof, try v.bytes("V"), v.id)
        guard let user else { return }
        let publicKey = try user.bytes("publicKey"), id = try user.bytes("mpinId") + publicKey
        let e = try pinScalar(v.text("pin"), .decimal6)
        let pass1 = try Engine.clientPass1(
            date: 0, id: id, x: x, e: e, bits: 20, token: user.bytes("token"), permit: nil)
        XCTAssertEqual(pass1.u, try v.bytes("U"), v.id)
        XCTAssertEqual(pass1.sec, sec, v.id)
        let context = try Engine.serverContext(user.bytes("serverSecret"))
        let accepted = try Engine.verify(context, id: id, publicKey: publicKey, u: pass1.u, y: y, v: proof)
        XCTAssertEqual(accepted, try v.int("serverResult") == 0, v.id)
        XCTAssertFalse(try Engine.verify(context, id: id, date: 0, u: pass1.u, y: y, v: proof), "\(v.id): without key")
    }

    private func sign(_ v: TrustVector, of user: TrustVector) throws {
        let publicKey = try user.bytes("publicKey"), id = try user.bytes("mpinId") + publicKey
        let message = try v.bytes("message"), time = Int64(try v.int("timestamp"))
        let e = try pinScalar(user.text("pin"), .decimal6)
        let made = try Engine.onePassClient(
            id: id, x: v.bytes("x"), e: e, token: user.bytes("token"), time: time, message: message)
        XCTAssertEqual(made.u, try v.bytes("u"), v.id)
        XCTAssertEqual(made.v, try v.bytes("v"), v.id)
        XCTAssertEqual(try Engine.onePassY(time: time, u: made.u, message: message), try v.bytes("y"), v.id)
        let context = try Engine.serverContext(user.bytes("serverSecret"))
        let result = Engine.onePassServer(
            context, id: id, u: made.u, v: made.v, time: time, message: message, publicKey: publicKey)
        XCTAssertEqual(result.code, try v.int("serverResult"), v.id)
    }

    private func generator(_ v: TrustVector) throws {
        var bytes = LegacyGenerator(seed: try v.bytes("seed")), pair = bytes
        XCTAssertEqual(bytes.bytes(48), try v.bytes("first48Bytes"), v.id)
        let z = pair.number(below: Modulus.r)
        XCTAssertEqual(z, try v.bytes("firstKeypairPrivate"), v.id)
        XCTAssertEqual(try Engine.publicKey(z: z), try v.bytes("firstKeypairPublic"), v.id)
    }
}
