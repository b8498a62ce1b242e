import Foundation
import MPinCrypto
import MPinSecrets
import MPinWire

/// A project of MIRACL Trust's clients, and the service token with which its users are verified.
struct TrustProject: Sendable {
    let id: String
    let token: String

    /// `file` holds the token, because others can read arguments.
    init(id: String, tokenFile file: String) throws {
        self.id = id
        token = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// A simulated phone with a client of MIRACL Trust. Only one thread may use it.
final class TrustPhone {
    private static let pin = "123456"

    private let server: Connection
    private let project: TrustProject
    /// The connections to the D-TAs, by host and port.
    private var authorities: [String: Connection] = [:]

    init(_ endpoint: Endpoint, _ project: TrustProject) {
        server = Connection(endpoint)
        self.project = project
    }

    /// Registers a user whom the project's back end has verified, and computes the commitment, which all logins of the
    /// identity use (see ``Phone/register(_:)``).
    func register(_ user: String) throws -> Identity {
        let begun = try server.send(
            "POST", "/activate/initiate", body: #"{"userId":"\#(user)"}"#, bearer: project.token
        ).decoded(TrustInitiationResponse.self, "initiate")
        var (z, key) = ([UInt8](repeating: 0, count: MPinSize.scalar), [UInt8](repeating: 0, count: MPinSize.g2))
        var zSpan = z.mutableSpan
        var keySpan = key.mutableSpan
        try KeyPair.generate(z: &zSpan, publicKey: &keySpan, random: systemRandom)
        let wish =
            #"{"userId":"\#(user)","deviceName":"phone","activationToken":"\#(begun.actToken)","publicKey":"\#(Hex.encode(key))"}"#
        let made = try server.send("POST", "/registration", body: wish)
            .decoded(TrustRegistrationResponse.self, "registration")
        return try commitment(made, key, secret: clientSecret(made, z))
    }

    /// Logs in for a token: pass 1, pass 2 and authenticate.
    func login(_ identity: Identity) throws {
        let y = try server.send("POST", "/rps/v2/pass1", body: identity.pass1).decoded(TrustPass1Response.self, "pass1").y
        let challenge = try Hex.decode(y).orFail("y")
        let v = try filled(MPinSize.g1) { v throws(MPinError) in
            try Client.pass2(x: identity.x.span, y: challenge.span, sec: identity.sec.span, into: &v)
        }
        let proof = #"{"mpin_id":"\#(identity.id)","V":"\#(Hex.encode(v))"}"#
        let token = try server.send("POST", "/rps/v2/pass2", body: proof).decoded(TrustPass2Response.self, "pass2").authOTT
        let answer = try server.send("POST", "/rps/v2/authenticate", body: #"{"authOTT":"\#(token)","wam":"dvs"}"#)
            .decoded(TrustAuthenticateResponse.self, "authenticate")
        _ = try answer.jwt.orFail("answer without jwt")
    }

    /// z (CS1 + CS2), with the shares of both D-TAs.
    private func clientSecret(_ made: TrustRegistrationResponse, _ z: [UInt8]) throws -> [UInt8] {
        let shares = try made.secretUrls.enumerated().map { index, url in
            let share = try share(url)
            return Share(index: index + 1, share)
        }
        let sum = try filled(MPinSize.g1) { sum throws(MPinError) in try Shares.assemble(shares, into: &sum) }
        return try filled(MPinSize.g1) { secret throws(MPinError) in
            try KeyPair.multiple(z: z.span, of: sum.span, into: &secret)
        }
    }

    private func share(_ url: String) throws -> SecretBytes {
        let endpoint = try Endpoint(url).orFail("secret URL")
        let target = "/" + url.dropFirst("http://".count).drop { $0 != "/" }.dropFirst()
        let place = "\(endpoint.host):\(endpoint.port)"
        let authority = authorities[place] ?? Connection(endpoint)
        authorities[place] = authority
        return try authority.send("GET", target).decoded(TrustSecretResponse.self, "share").dvsClientSecret.secret
    }

    private func commitment(_ made: TrustRegistrationResponse, _ key: [UInt8], secret: [UInt8]) throws -> Identity {
        let id = try Hex.decode(made.mpinId).orFail("M-Pin ID") + key
        let mapping = PINMapping.decimal6
        let pin = try filled(MPinSize.scalar) { scalar throws(MPinError) in
            try mapping.scalar(pin: Array(Self.pin.utf8).span, into: &scalar)
        }
        let token = try filled(MPinSize.g1) { token throws(MPinError) in
            try Client.extractPIN(
                id: id.span, pinScalar: pin.span, pinBits: mapping.bits, clientSecret: secret.span, into: &token)
        }
        let x = try filled(MPinSize.scalar) { x throws(MPinError) in
            try RandomScalar.generate(into: &x, random: systemRandom)
        }
        var (sec, u) = ([UInt8](repeating: 0, count: MPinSize.g1), [UInt8](repeating: 0, count: MPinSize.g1))
        var none: [UInt8] = []
        var secSpan = sec.mutableSpan
        var uSpan = u.mutableSpan
        var utSpan = none.mutableSpan
        try Client.pass1(
            date: 0, id: id.span, x: x.span, pinScalar: pin.span, pinBits: mapping.bits, token: token.span,
            permit: nil, sec: &secSpan, u: &uSpan, ut: &utSpan)
        let pass1 =
            #"{"scope":["jwt"],"mpin_id":"\#(made.mpinId)","dtas":"\#(made.dtas)","publicKey":"\#(Hex.encode(key))","#
            + #""UT":"","U":"\#(Hex.encode(u))"}"#
        return Identity(id: made.mpinId, x: x, sec: sec, pass1: pass1)
    }
}
