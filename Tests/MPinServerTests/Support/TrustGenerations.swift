import Foundation
import MPinCrypto
import MPinSecrets
import MPinServer
import MPinWire
import XCTest

/// The requests of the generations before 4.
extension TrustClient {
    /// Generation 3, first step: returns the answer to PUT /rps/v2/user.
    func startUser(_ user: String, _ token: String) throws -> Answer {
        try put("/rps/v2/user", ["userId": user, "mobile": 0, "deviceName": "phone", "activateCode": token])
    }

    func put(_ target: String, _ body: [String: Any], headers: [String: String] = [:]) throws -> Answer {
        let headers = ["X-MIRACL-CID": project, "Content-Type": "application/json"].merging(headers) { $1 }
        return try backend.call("PUT", target, JSONSerialization.data(withJSONObject: body), headers: headers)
    }

    /// Generation 3, second step. `publicKey` is nil for an identity without a key pair.
    func firstShare(_ begun: Answer, regOTT: String? = nil, publicKey: [UInt8]? = nil) throws -> Answer {
        let id = try XCTUnwrap(begun.object["mpinId"] as? String, begun.text)
        let token = try regOTT ?? XCTUnwrap(begun.object["regOTT"] as? String)
        let key = publicKey.map { "&publicKey=" + Hex.encode($0) } ?? ""
        return try backend.call(
            "GET", "/rps/v2/signature/\(id)?regOTT=\(token)\(key)", headers: ["X-MIRACL-CID": project])
    }

    /// Fetches the second share, and makes the token. Without `keys` the identity has no key pair.
    func finish(_ id: String, _ first: Answer, _ keys: KeyPair?, pin: String = "1234") throws -> Device {
        guard first.status == 200 else { throw Sockets.Failure(text: "shares: \(first.status) \(first.text)") }
        let share: TrustShareResponse = try first.json()
        let second = try get(share.cs2url)
        let shares =
            keys == nil
            ? [share.clientSecretShare?.secret, (try second.json() as ClientSecretResponse).clientSecret.secret]
            : [share.dvsClientSecretShare?.secret, (try second.json() as TrustSecretResponse).dvsClientSecret.secret]
        let known = try shares.map { try XCTUnwrap($0) }
        return try device(id, known, keys, pin: pin, dtas: share.dtas)
    }

    /// Makes the token of an identity from its shares.
    func device(
        _ id: String, _ secrets: [SecretBytes], _ keys: KeyPair?, pin: String = "1234", dtas: String = ""
    ) throws -> Device {
        let shares = secrets.enumerated().map { Share(index: $0.offset + 1, $0.element) }
        var secret = try output(65) { sum throws(MPinError) in try Shares.assemble(shares, into: &sum) }
        if let keys {
            let sum = secret
            secret = try output(65) { secret throws(MPinError) in
                try MPinCrypto.KeyPair.multiple(z: keys.z.span, of: sum.span, into: &secret)
            }
        }
        let (whole, hashed) = (secret, (Hex.decode(id) ?? []) + (keys?.publicKey ?? []))
        let scalar = try Self.scalar(pin)
        let token = try output(65) { token throws(MPinError) in
            try Client.extractPIN(
                id: hashed.span, pinScalar: scalar.span, pinBits: PINMapping.decimal6.bits, clientSecret: whole.span,
                into: &token)
        }
        let answer = TrustRegistrationResponse(
            mpinId: id, projectId: project, dtas: dtas, secretUrls: [], pinLength: 4, verificationType: "",
            nowTime: "")
        return Device(answer: answer, publicKey: keys?.publicKey ?? [], token: token)
    }

    /// Registers as generation 3 does, with a key pair or without one.
    func registerEarlier(_ user: String, isPlain: Bool = false, pin: String = "1234") throws -> Device {
        let begun = try startUser(user, activationToken(user))
        let keys = isPlain ? nil : try KeyPair()
        let id = begun.object["mpinId"] as? String ?? ""
        return try finish(id, firstShare(begun, publicKey: keys?.publicKey), keys, pin: pin)
    }

    func renew(_ device: Device, _ token: String, _ keys: KeyPair) throws -> Device {
        try finish(device.id, renewal(token, keys.publicKey), keys)
    }

    func renewal(_ token: String, _ publicKey: [UInt8]) throws -> Answer {
        try post("/rps/v2/dvsregister", ["publicKey": Hex.encode(publicKey), "dvsRegisterToken": token])
    }
}
