import Foundation
import MPinCrypto
import MPinSecrets
import MPinServer
import MPinWire
import XCTest

extension TrustClient {
    /// Signs `hash` with the device: the members of a signature without its time.
    func sign(_ device: Device, _ hash: [UInt8], at time: Int64, pin: String = "1234") throws -> [String: Any] {
        let x = try output(32) { x throws(MPinError) in try RandomScalar.generate(into: &x, random: systemRandom) }
        let scalar = try Self.scalar(pin)
        var (u, v) = ([UInt8](repeating: 0, count: 65), [UInt8](repeating: 0, count: 65))
        var none: [UInt8] = []
        var uSpan = u.mutableSpan
        var vSpan = v.mutableSpan
        var utSpan = none.mutableSpan
        let id = device.keyed
        try OnePass.prove(
            date: 0, id: id.span, x: x.span, pinScalar: scalar.span, pinBits: PINMapping.decimal6.bits,
            token: device.token.span, permit: nil, time: time, message: hash.span, u: &uSpan, ut: &utSpan, v: &vSpan)
        return [
            "mpinId": device.id, "u": Hex.encode(u), "v": Hex.encode(v), "publicKey": Hex.encode(device.publicKey),
            "dtas": device.answer.dtas, "hash": Hex.encode(hash),
        ]
    }

    /// A request of a back end, which has none of the headers of a client.
    func call(
        _ method: String, _ target: String, _ body: [String: Any]? = nil, authorization: String?
    ) throws -> Answer {
        let headers = ["Content-Type": "application/json"].merging(
            authorization.map { ["Authorization": $0] } ?? [:]
        ) { $1 }
        let data = try body.map { try JSONSerialization.data(withJSONObject: $0) }
        return try backend.call(method, target, data, headers: headers)
    }

    static func basic(_ id: String, _ secret: String) -> String {
        "Basic " + Data("\(id):\(secret)".utf8).base64EncodedString()
    }

    /// The authorization of the vendor's first SDKs: an HMAC of the document's hash.
    static func hmac(_ id: String, _ secret: String, _ hash: String) -> String {
        let key = SecretBytes(utf8: secret)
        return hmac(id, tag: HMACSHA256.tag(Array(hash.utf8), key: key))
    }

    static func hmac(_ id: String, tag: [UInt8]) -> String {
        "MAAS-HMAC-SHA256 " + Data("\(id):\(Hex.encode(tag))".utf8).base64EncodedString()
    }
}

extension InProcess {
    /// Makes a service token for a project, and returns its text.
    func serviceToken(_ name: String = "backend", project: String = "proj-1", days: Int = 1) async throws -> String {
        try await projects().addToken(name, project: project, days: days).token
    }
}
