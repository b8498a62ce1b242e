import MPinCrypto
import MPinSecrets
import MPinWire

/// The data of one phone after its registration. `x`: the random number of pass 1. `sec`: the sum of client secret and
/// time permit, with which the phone computes its proof. With a key pair, x and sec are those of the longer id.
struct Identity: Sendable {
    let id: String
    let x: [UInt8]
    let sec: [UInt8]
    /// The body of the request for pass 1.
    let pass1: String
}

/// A simulated phone, which registers and logs in over its own connections. Only one thread may use it.
final class Phone {
    /// The server's status was not 200.
    struct Refused: Error, CustomStringConvertible {
        let step: String
        let status: Int
        let retryAfter: Double?

        var description: String { "\(step): \(status)" + (retryAfter == nil ? "" : " with Retry-After") }
    }

    private static let pin = "1234"

    private let server: Connection
    private let authority: Connection
    private let settings: ClientSettings

    init(_ endpoint: Endpoint) throws {
        server = Connection(endpoint)
        settings = try server.send("GET", "/rps/clientSettings").decoded(ClientSettings.self, "clientSettings")
        guard let second = Endpoint(settings.certivoxURL) else {
            throw Connection.Failure(description: "\(settings.certivoxURL): not a plain address")
        }
        authority = Connection(second)
    }

    /// Registers with a server that confirms at once, and computes the commitment, which is the phone's half of pass 1.
    /// All logins of an identity use this commitment and its random number x. That saves arithmetic here, but would
    /// reveal the secret of a real user.
    func register(_ user: String) throws -> Identity {
        let registration = try server.send("PUT", "/rps/user", body: "{\"mobile\":1,\"userId\":\"\(user)\"}")
            .decoded(RegisterResponse.self, "register")
        let id = try Hex.decode(registration.mpinId).orFail("M-Pin ID")
        let secret = try clientSecret(registration)
        let pin = try pinScalar()
        let token = try filled(MPinSize.g1) { token throws(MPinError) in
            try Client.extractPIN(
                id: id.span, pinScalar: pin.span, pinBits: PINMapping.decimal4.bits, clientSecret: secret.span,
                into: &token)
        }
        return try commitment(registration.mpinId, id, pin: pin, token: token)
    }

    /// Logs in: pass 1, pass 2 and authenticate. `code`: the code that a browser shows, if the browser is to be logged
    /// in; nil for a login on this device.
    func login(_ identity: Identity, code: String? = nil) throws {
        let y = try server.send("POST", "/rps/pass1", body: identity.pass1).decoded(Pass1Response.self, "pass1").y
        let challenge = try Hex.decode(y).orFail("y")
        let v = try filled(MPinSize.g1) { v throws(MPinError) in
            try Client.pass2(x: identity.x.span, y: challenge.span, sec: identity.sec.span, into: &v)
        }
        let (id, wid) = (identity.id, code ?? "0")
        let proof = "{\"pass\":2,\"mpin_id\":\"\(id)\",\"V\":\"\(Hex.encode(v))\",\"WID\":\"\(wid)\",\"OTP\":false}"
        let answer = try server.send("POST", "/rps/pass2", body: proof)
        try answer.require("pass2")
        let response = "{\"mpinResponse\":\(String(decoding: answer.body, as: UTF8.self))}"
        let forBrowser = try settings.mobileAuthenticateURL.orFail("mobileAuthenticateURL")
        let target = code == nil ? settings.authenticateURL : forBrowser
        try server.send("POST", target, body: response).require("authenticate")
    }

    private func clientSecret(_ registration: RegisterResponse) throws -> [UInt8] {
        let first = try server.send("GET", "/rps/signature/\(registration.mpinId)?regOTT=\(registration.regOTT)")
            .decoded(SignatureResponse.self, "signature")
        let second = try authority.send("GET", "/clientSecret?" + first.params)
            .decoded(ClientSecretResponse.self, "clientSecret")
        return try sum(first.clientSecretShare.secret, second.clientSecret.secret)
    }

    private func commitment(_ hex: String, _ id: [UInt8], pin: [UInt8], token: [UInt8]) throws -> Identity {
        let permit = settings.usePermits ?? true ? try timePermit(hex) : nil
        let date = permit?.date ?? 0
        let x = try filled(MPinSize.scalar) { x throws(MPinError) in
            try RandomScalar.generate(into: &x, random: systemRandom)
        }
        var sec = [UInt8](repeating: 0, count: MPinSize.g1)
        var u = sec
        var ut = [UInt8](repeating: 0, count: permit == nil ? 0 : MPinSize.g1)
        var secSpan = sec.mutableSpan
        var uSpan = u.mutableSpan
        var utSpan = ut.mutableSpan
        let share = permit?.share ?? []
        try Client.pass1(
            date: date, id: id.span, x: x.span, pinScalar: pin.span, pinBits: PINMapping.decimal4.bits,
            token: token.span, permit: permit == nil ? nil : share.span, sec: &secSpan, u: &uSpan, ut: &utSpan)
        let pass1 = "{\"pass\":1,\"mpin_id\":\"\(hex)\",\"U\":\"\(Hex.encode(u))\",\"UT\":\"\(Hex.encode(ut))\"}"
        return Identity(id: hex, x: x, sec: sec, pass1: pass1)
    }

    private func timePermit(_ id: String) throws -> (share: [UInt8], date: Int32) {
        let first = try server.send("GET", "/rps/timePermit/" + id).decoded(RPSTimePermitResponse.self, "timePermit")
        let query = "hash_mpin_id=\(first.storageId)&app_id=\(settings.appID)&mobile=1&signature=\(first.signature)"
        let second = try authority.send("GET", "/timePermit?" + query)
            .decoded(TimePermitResponse.self, "second timePermit")
        let shares = try [first.timePermit, second.timePermit].map { hex in
            try SecretBytes(hex: Array(hex.utf8).span).orFail("time permit")
        }
        return (try sum(shares[0], shares[1]), first.date)
    }

    private func sum(_ first: SecretBytes, _ second: SecretBytes) throws -> [UInt8] {
        try filled(MPinSize.g1) { sum throws(MPinError) in
            try Shares.assemble([Share(index: 1, first), Share(index: 2, second)], into: &sum)
        }
    }

    private func pinScalar() throws -> [UInt8] {
        let digits = Array(Phone.pin.utf8)
        return try filled(MPinSize.scalar) { scalar throws(MPinError) in
            try PINMapping.decimal4.scalar(pin: digits.span, into: &scalar)
        }
    }
}

extension Connection.Answer {
    func require(_ step: String) throws {
        guard status == 200 else { throw Phone.Refused(step: step, status: status, retryAfter: retryAfter) }
    }

    func decoded<T: Decodable>(_ type: T.Type, _ step: String) throws -> T {
        try require(step)
        return try JSON.decode(type, from: body.span)
    }
}

extension Optional {
    func orFail(_ what: String) throws -> Wrapped {
        guard let self else { throw Connection.Failure(description: "unusable \(what)") }
        return self
    }
}

/// A new array of `count` bytes, filled by `fill`.
func filled(
    _ count: Int, _ fill: (inout MutableSpan<UInt8>) throws(MPinError) -> Void
) throws(MPinError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    try fill(&span)
    return bytes
}
