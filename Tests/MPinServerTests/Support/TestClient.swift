import Foundation
import MPinCrypto
import MPinSecrets
import MPinWire
import XCTest

/// A client made from the functions of MPinCrypto. It does what a phone does, request by request.
struct TestClient {
    let backend: Backend

    /// A registered identity and its token.
    struct User {
        let id: String
        let token: [UInt8]

        var bytes: [UInt8] { Hex.decode(id) ?? [] }
        var hash: [UInt8] { SHA256.hash(bytes) }

        /// A user that no server has registered.
        static func invented(token: [UInt8]) throws -> User {
            let salt = Hex.encode(try randomBytes(16))
            let text = #"{"mobile": 1, "issued": "2026-01-01 00:00:00.000000", "userID": "root", "salt": "\#(salt)"}"#
            return User(id: Hex.encode(Array(text.utf8)), token: token)
        }
    }

    /// What a phone keeps between pass 1 and pass 2: its random scalar x, the sum of client secret and permit (sec),
    /// and the server's challenge y.
    struct Login {
        let user: User
        let x: [UInt8]
        let sec: [UInt8]
        let y: [UInt8]
    }

    func settings() throws -> ClientSettings { try backend.call("GET", "/rps/clientSettings").json() }

    func startRegistration(_ user: String) throws -> RegisterResponse {
        let answer = try backend.call("PUT", "/rps/user", "{\n\t\"mobile\":\t1,\n\t\"userId\":\t\(user.quoted)\n}")
        guard answer.status == 200 else { throw Sockets.Failure(text: "register: \(answer.status) \(answer.text)") }
        return try answer.json()
    }

    func confirm(_ user: String) throws {
        let answer = try backend.call("POST", backend.link(to: user), "")
        guard answer.status == 200 else { throw Sockets.Failure(text: "activate: \(answer.status) \(answer.text)") }
    }

    func signature(_ registration: RegisterResponse) throws -> Answer {
        try backend.call("GET", "/rps/signature/\(registration.mpinId)?regOTT=\(registration.regOTT)")
    }

    /// Fetches both client secret shares and returns their sum.
    func clientSecret(_ registration: RegisterResponse) throws -> [UInt8] {
        let answer = try signature(registration)
        guard answer.status == 200 else { throw Sockets.Failure(text: "signature: \(answer.status) \(answer.text)") }
        let first: SignatureResponse = try answer.json()
        let second: ClientSecretResponse = try backend.call(
            "GET", "/clientSecret?" + first.params, port: backend.dta2Port
        ).json()
        return try sum(first.clientSecretShare.secret, second.clientSecret.secret)
    }

    func finishRegistration(_ registration: RegisterResponse, pin: String) throws -> User {
        let secret = try clientSecret(registration)
        let id = try XCTUnwrap(Hex.decode(registration.mpinId))
        let scalar = try Self.scalar(pin)
        let token = try output(MPinSize.g1) { token throws(MPinError) in
            try Client.extractPIN(
                id: id.span, pinScalar: scalar.span, pinBits: PINMapping.decimal4.bits,
                clientSecret: secret.span, into: &token)
        }
        return User(id: registration.mpinId, token: token)
    }

    /// Makes a whole registration, including mail and link.
    func register(_ user: String, pin: String) throws -> User {
        let registration = try startRegistration(user)
        if !registration.active { try confirm(user) }
        return try finishRegistration(registration, pin: pin)
    }

    /// Fetches both shares of today's permit. Returns their sum and the date.
    func timePermit(_ user: User) throws -> (permit: [UInt8], date: Int32) {
        let answer = try backend.call("GET", "/rps/timePermit/" + user.id)
        guard answer.status == 200 else { throw Sockets.Failure(text: "permit: \(answer.status) \(answer.text)") }
        let first: RPSTimePermitResponse = try answer.json()
        let query = "hash_mpin_id=\(first.storageId)&app_id=x&mobile=1&signature=\(first.signature)"
        let second: TimePermitResponse = try backend.call("GET", "/timePermit?" + query, port: backend.dta2Port).json()
        let shares = [first.timePermit, second.timePermit].map { SecretBytes(hex: Array($0.utf8).span) }
        return (try sum(XCTUnwrap(shares[0]), XCTUnwrap(shares[1])), first.date)
    }

    /// Sends pass 1 for this PIN. Returns the values that the proof needs. If `permit` is nil, the login uses no
    /// permit.
    func pass1(_ user: User, pin: String, permit: (permit: [UInt8], date: Int32)?) throws -> Login {
        let (x, sec, u, ut) = try commitment(user, pin: pin, permit: permit)
        let body = "{\"pass\":1,\"mpin_id\":\"\(user.id)\",\"U\":\"\(Hex.encode(u))\",\"UT\":\"\(Hex.encode(ut))\"}"
        let answer = try backend.call("POST", "/rps/pass1", body)
        guard answer.status == 200 else { throw Sockets.Failure(text: "pass1: \(answer.status) \(answer.text)") }
        let response: Pass1Response = try answer.json()
        return Login(user: user, x: x, sec: sec, y: try XCTUnwrap(Hex.decode(response.y)))
    }

    func commitment(
        _ user: User, pin: String, permit: (permit: [UInt8], date: Int32)?
    ) throws -> (x: [UInt8], sec: [UInt8], u: [UInt8], ut: [UInt8]) {
        let x = try output(MPinSize.scalar) { x throws(MPinError) in
            try RandomScalar.generate(into: &x, random: systemRandom)
        }
        let scalar = try Self.scalar(pin)
        var (sec, u) = ([UInt8](repeating: 0, count: 65), [UInt8](repeating: 0, count: 65))
        var ut = [UInt8](repeating: 0, count: permit == nil ? 0 : 65)
        var secSpan = sec.mutableSpan
        var uSpan = u.mutableSpan
        var utSpan = ut.mutableSpan
        if let permit {
            try Client.pass1(
                date: permit.date, id: user.bytes.span, x: x.span, pinScalar: scalar.span,
                pinBits: PINMapping.decimal4.bits, token: user.token.span, permit: permit.permit.span, sec: &secSpan,
                u: &uSpan, ut: &utSpan)
        } else {
            try Client.pass1(
                date: 0, id: user.bytes.span, x: x.span, pinScalar: scalar.span, pinBits: PINMapping.decimal4.bits,
                token: user.token.span, permit: nil, sec: &secSpan, u: &uSpan, ut: &utSpan)
        }
        return (x, sec, u, ut)
    }

    /// Computes the proof V, in hex.
    func proof(_ login: Login) throws -> String {
        Hex.encode(
            try output(MPinSize.g1) { v throws(MPinError) in
                try Client.pass2(x: login.x.span, y: login.y.span, sec: login.sec.span, into: &v)
            })
    }

    /// Returns the body of pass 2; `wid`: an access number, the id in a QR code, or "0" for a login on this device.
    func pass2Body(_ login: Login, wid: String = "0", otp: Bool = false) throws -> String {
        let v = try proof(login)
        return "{\"pass\":2,\"OTP\":\(otp),\"WID\":\"\(wid)\",\"V\":\"\(v)\",\"mpin_id\":\"\(login.user.id)\"}"
    }

    func pass2(_ login: Login, wid: String = "0", otp: Bool = false) throws -> Answer {
        try backend.call("POST", "/rps/pass2", pass2Body(login, wid: wid, otp: otp))
    }

    func authenticate(_ pass2: Answer) throws -> Answer {
        try backend.call("POST", "/mpinAuthenticate", "{\"mpinResponse\":\(pass2.text)}")
    }

    /// Makes a whole login: permit, pass 1, pass 2, and the request that redeems the token. Returns the answer to the
    /// last one.
    func login(_ user: User, pin: String, permit: (permit: [UInt8], date: Int32)? = nil) throws -> Answer {
        let permit = try permit ?? timePermit(user)
        return try authenticate(pass2(pass1(user, pin: pin, permit: permit)))
    }

    static func scalar(_ pin: String) throws -> [UInt8] {
        try output(MPinSize.scalar) { scalar throws(MPinError) in
            try PINMapping.decimal4.scalar(pin: Array(pin.utf8).span, into: &scalar)
        }
    }

    private func sum(_ first: SecretBytes, _ second: SecretBytes) throws -> [UInt8] {
        try output(MPinSize.g1) { sum throws(MPinError) in
            try Shares.assemble([Share(index: 1, first), Share(index: 2, second)], into: &sum)
        }
    }
}

/// Returns `count` bytes that `fill` has written.
func output(_ count: Int, _ fill: (inout MutableSpan<UInt8>) throws(MPinError) -> Void) throws(MPinError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    try fill(&span)
    return bytes
}
