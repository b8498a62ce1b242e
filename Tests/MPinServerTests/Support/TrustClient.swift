import Foundation
import MPinCrypto
import MPinSecrets
import MPinServer
import MPinWire
import XCTest

/// A client of MIRACL Trust made from the functions of MPinCrypto, with the headers and members of client-js.
struct TrustClient {
    let backend: Backend
    var project = "proj-1"

    /// A registered device: what the client stores, and the registration's answer.
    struct Device {
        let answer: TrustRegistrationResponse
        var publicKey: [UInt8]
        let token: [UInt8]

        var id: String { answer.mpinId }
        /// Hex of the SHA-256 of the M-Pin ID, as operators see it.
        var key: String { Hex.encode(SHA256.hash(Hex.decode(id) ?? [])) }
        /// What is hashed to the point of the identity.
        var keyed: [UInt8] { (Hex.decode(id) ?? []) + publicKey }
    }

    struct KeyPair {
        let z: [UInt8]
        let publicKey: [UInt8]

        init() throws {
            var (z, key) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 128))
            var zSpan = z.mutableSpan
            var keySpan = key.mutableSpan
            try MPinCrypto.KeyPair.generate(z: &zSpan, publicKey: &keySpan, random: systemRandom)
            (self.z, publicKey) = (z, key)
        }
    }

    func post(_ target: String, _ body: [String: Any], headers more: [String: String] = [:]) throws -> Answer {
        let headers = [
            "X-MIRACL-CID": project, "X-MIRACL-CLIENT": "MIRACL Client.js/8.8.0 accept/1",
            "Content-Type": "application/json",
        ]
        return try backend.call(
            "POST", target, JSONSerialization.data(withJSONObject: body), headers: headers.merging(more) { $1 })
    }

    // Registration

    func verify(_ user: String, _ more: [String: Any] = [:]) throws -> Answer {
        let body: [String: Any] = ["userId": user, "projectId": project, "deviceName": "phone", "scope": [String]()]
        return try post("/verification/email", body.merging(more) { $1 })
    }

    /// Returns the code in the newest mail to the user: that in its link, or its six digits.
    func code(_ user: String) throws -> String {
        let mail = try newestMail(user)
        if let digits = mail.components(separatedBy: "\r\n").first(where: { $0.wholeMatch(of: /[0-9]{6}/) != nil }) {
            return digits
        }
        return try XCTUnwrap(backend.link(to: user).components(separatedBy: "code=").last)
    }

    private func newestMail(_ user: String) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: backend.mailFolder)
        for name in names.filter({ $0.hasSuffix(".eml") }).sorted().reversed() {
            let text = try String(contentsOfFile: backend.mailFolder + "/" + name, encoding: .utf8)
            if text.contains("To: <\(user)>") { return text }
        }
        throw Sockets.Failure(text: "no mail to \(user)")
    }

    func confirm(_ user: String, _ code: String) throws -> Answer {
        try post("/verification/confirmation", ["userId": user, "code": code])
    }

    /// Verifies the user by mail, and returns the activation token.
    func activationToken(_ user: String, _ more: [String: Any] = [:]) throws -> String {
        let sent = try verify(user, more)
        guard sent.status == 200 else { throw Sockets.Failure(text: "verify: \(sent.status) \(sent.text)") }
        return try XCTUnwrap(confirm(user, code(user)).object["actToken"] as? String)
    }

    func enrol(_ user: String, _ activationToken: String, _ publicKey: [UInt8]) throws -> Answer {
        try post(
            "/registration",
            [
                "userId": user, "deviceName": "phone", "activationToken": activationToken,
                "publicKey": Hex.encode(publicKey),
            ])
    }

    func get(_ url: String, headers: [String: String] = [:]) throws -> Answer {
        let parts = try XCTUnwrap(URLComponents(string: url))
        let target = parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
        return try backend.call("GET", target, headers: headers, port: parts.port)
    }

    /// Fetches both shares and makes the token: z (CS1 + CS2) - pin A.
    func finish(_ answer: TrustRegistrationResponse, _ keys: KeyPair, pin: String) throws -> Device {
        let shares = try answer.secretUrls.enumerated().map { index, url in
            let share: TrustSecretResponse = try get(url).json()
            return Share(index: index + 1, share.dvsClientSecret.secret)
        }
        let sum = try output(65) { sum throws(MPinError) in try Shares.assemble(shares, into: &sum) }
        let secret = try output(65) { secret throws(MPinError) in
            try MPinCrypto.KeyPair.multiple(z: keys.z.span, of: sum.span, into: &secret)
        }
        let id = (Hex.decode(answer.mpinId) ?? []) + keys.publicKey
        let scalar = try Self.scalar(pin)
        let token = try output(65) { token throws(MPinError) in
            try Client.extractPIN(
                id: id.span, pinScalar: scalar.span, pinBits: PINMapping.decimal6.bits, clientSecret: secret.span,
                into: &token)
        }
        return Device(answer: answer, publicKey: keys.publicKey, token: token)
    }

    func register(_ user: String, pin: String = "1234", _ more: [String: Any] = [:]) throws -> Device {
        let keys = try KeyPair()
        let answer: TrustRegistrationResponse = try enrol(user, activationToken(user, more), keys.publicKey).json()
        return try finish(answer, keys, pin: pin)
    }

    /// Registers with a QuickCode, or another token that came without a mail.
    func register(_ user: String, token: String, pin: String = "1234") throws -> Device {
        let keys = try KeyPair()
        let answer = try enrol(user, token, keys.publicKey)
        guard answer.status == 200 else { throw Sockets.Failure(text: "registration: \(answer.status) \(answer.text)") }
        return try finish(answer.json(), keys, pin: pin)
    }

    /// Makes a QuickCode with a login of the device.
    func quickCode(_ device: Device, pin: String = "1234") throws -> Answer {
        let login = try login(device, pin: pin, scope: "reg-code")
        return try quickCode(jwt: XCTUnwrap(login.object["jwt"] as? String, login.text))
    }

    func quickCode(jwt: String) throws -> Answer {
        try post("/verification/quickcode", ["projectId": project, "jwt": jwt, "deviceName": "phone"])
    }

    // Logins

    /// What the client keeps between its passes.
    struct Begun {
        let x: [UInt8]
        let sec: [UInt8]
        let body: [String: Any]
    }

    func begin(_ device: Device, pin: String, scope: String) throws -> Begun {
        let x = try output(32) { x throws(MPinError) in try RandomScalar.generate(into: &x, random: systemRandom) }
        let scalar = try Self.scalar(pin)
        var (sec, u) = ([UInt8](repeating: 0, count: 65), [UInt8](repeating: 0, count: 65))
        var none: [UInt8] = []
        var secSpan = sec.mutableSpan
        var uSpan = u.mutableSpan
        var utSpan = none.mutableSpan
        let id = device.keyed
        try Client.pass1(
            date: 0, id: id.span, x: x.span, pinScalar: scalar.span, pinBits: PINMapping.decimal6.bits,
            token: device.token.span, permit: nil, sec: &secSpan, u: &uSpan, ut: &utSpan)
        let body: [String: Any] = [
            "scope": [scope], "mpin_id": device.id, "dtas": device.answer.dtas,
            "publicKey": Hex.encode(device.publicKey), "UT": "", "U": Hex.encode(u),
        ]
        return Begun(x: x, sec: sec, body: body)
    }

    /// Returns the body of pass 2 after this answer to pass 1.
    func pass2Body(_ begun: Begun, _ pass1: Answer, wid: String?) throws -> [String: Any] {
        guard let y = (pass1.object["y"] as? String).flatMap({ Hex.decode($0) }) else {
            throw Sockets.Failure(text: "pass1: \(pass1.status) \(pass1.text)")
        }
        let v = try output(65) { v throws(MPinError) in
            try Client.pass2(x: begun.x.span, y: y.span, sec: begun.sec.span, into: &v)
        }
        let body: [String: Any] = ["mpin_id": begun.body["mpin_id"] ?? "", "V": Hex.encode(v)]
        return wid.map { body.merging(["WID": $0]) { $1 } } ?? body
    }

    /// Makes both passes, and returns the body of the last request.
    func prove(
        _ device: Device, pin: String = "1234", scope: String = "jwt", wid: String? = nil
    ) throws -> [String: Any] {
        let begun = try begin(device, pin: pin, scope: scope)
        let pass2 = try post("/rps/v2/pass2", pass2Body(begun, post("/rps/v2/pass1", begun.body), wid: wid))
        guard let authOTT = pass2.object["authOTT"] as? String else {
            throw Sockets.Failure(text: "pass2: \(pass2.status) \(pass2.text)")
        }
        return ["authOTT": authOTT, "wam": "dvs"]
    }

    func login(_ device: Device, pin: String = "1234", scope: String = "jwt", wid: String? = nil) throws -> Answer {
        try post("/rps/v2/authenticate", prove(device, pin: pin, scope: scope, wid: wid))
    }

    static func scalar(_ pin: String) throws -> [UInt8] {
        try output(32) { scalar throws(MPinError) in
            try PINMapping.decimal6.scalar(pin: Array(pin.utf8).span, into: &scalar)
        }
    }
}

extension Answer {
    /// The code of an error.
    var code: String? { object["error"] as? String }
    /// The token with which the device must register again.
    var renewalToken: String? { (object["dvsRegister"] as? [String: Any])?["token"] as? String }
    /// The context of an error, whose values must all be texts.
    var context: [String: String] { object["context"] as? [String: String] ?? [:] }
}

extension InProcess {
    /// A server for clients of MIRACL Trust, with a project. `clients` are those of the OpenID provider.
    static func trust(
        _ test: XCTestCase, project: String = "proj-1", clients: String = "[]",
        change: (inout AllInOne) -> Void = { _ in }, changeRPS: (inout RelyingPartyServiceConfig) -> Void = { _ in },
        _ members: (inout ProjectChange) -> Void = { _ in }
    ) async throws -> InProcess {
        let server = try InProcess(change: change, changeRPS: changeRPS, clients: clients, isTrust: true).keep(in: test)
        var wanted = ProjectChange()
        members(&wanted)
        _ = try await server.projects().add(project, wanted)
        return server
    }

    func projects() async throws -> ProjectAdministration {
        try await ProjectAdministration(database: ServiceDatabase(backend.stateFolder + "/rps.sqlite"), audit: .off) {
            self.now
        }
    }

    func users() async throws -> UserAdministration {
        try await UserAdministration(database: ServiceDatabase(backend.stateFolder + "/rps.sqlite")) { self.now }
    }
}
