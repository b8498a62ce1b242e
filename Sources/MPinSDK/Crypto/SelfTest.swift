import MPinCrypto
import MPinSecrets

/// Computes one registration and three logins and compares them with results of Milagro's crypto library (wire section
/// 16).
enum SelfTest {
    /// Fails with CRYPTO_ERROR at the first value that differs.
    static func run() throws(SDKError) {
        let id = Array(KnownAnswers.mpinID.utf8)
        let hash = SHA256.hash(id)
        let masters = [try secret(KnownAnswers.master1), try secret(KnownAnswers.master2)]
        let clientSecret = try sum("client secret", KnownAnswers.clientSecret, masters) {
            master, share throws(MPinError) in
            try TrustAuthority.clientSecretShare(master: master.span, hashID: hash.span, into: &share)
        }
        let permit = try sum("time permit", KnownAnswers.permit, masters) { master, share throws(MPinError) in
            try TrustAuthority.timePermitShare(
                master: master.span, date: KnownAnswers.date, hashID: hash.span, into: &share)
        }
        let scalar = try pinScalar(SecretBytes(copying: Array("1234".utf8).span), .legacyHash)
        let token = try point("token", KnownAnswers.token) { token throws(MPinError) in
            try Client.extractPIN(
                id: id.span, pinScalar: scalar.span, pinBits: PINMapping.legacyHash.bits,
                clientSecret: clientSecret.span, into: &token)
        }
        let server = try serverContext(masters)
        let login = User.Login(date: KnownAnswers.date, permit: permit)
        try logIn(id, token, login, pin: "1234", expected: KnownAnswers.v, server, isRight: true)
        try logIn(id, token, login, pin: "1235", expected: KnownAnswers.vWrong, server, isRight: false)
        try logIn(
            id, token, User.Login(), pin: "1234", expected: KnownAnswers.vWithoutPermit, server, isRight: true)
    }

    private static func logIn(
        _ id: [UInt8], _ token: SecretBytes, _ login: User.Login, pin: String, expected: String,
        _ server: ServerContext, isRight: Bool
    ) throws(SDKError) {
        let scalar = try pinScalar(SecretBytes(copying: Array(pin.utf8).span), .legacyHash)
        let proof = try Proof(
            id: id, token: token, pinScalar: scalar, pinBits: PINMapping.legacyHash.bits, login: login,
            x: secret(KnownAnswers.x))
        let (u, ut) = (proof.u, proof.ut)
        if pin == "1234" {
            try expect("U", u, KnownAnswers.u)
            if login.date > 0 { try expect("UT", ut, KnownAnswers.ut) }
        }
        let y = try secret(KnownAnswers.y).plainBytes
        let v = try proof.answer(y)
        try expect("V", v, expected)
        let commitment = login.date > 0 ? ut : u
        let verdict = try cryptoStep("server") { () throws(MPinError) in
            try server.verify(id: id.span, date: login.date, u: commitment.span, y: y.span, v: v.span)
        }
        guard verdict == isRight else { throw SDKError(.cryptoError, "self test: the server's verdict is wrong") }
    }

    private static func serverContext(_ masters: [SecretBytes]) throws(SDKError) -> ServerContext {
        let (first, second) = (try serverShare(masters[0]), try serverShare(masters[1]))
        let secret = SecretBytes(count: MPinSize.g2)
        try cryptoStep("server secret") { () throws(MPinError) in
            var octets = secret.mutableSpan
            try Shares.recombineG2(first.span, second.span, into: &octets)
        }
        try expect("server secret", secret.plainBytes, KnownAnswers.serverSecret)
        return try cryptoStep("server secret") { () throws(MPinError) in try ServerContext(serverSecret: secret.span) }
    }

    private static func serverShare(_ master: SecretBytes) throws(SDKError) -> SecretBytes {
        let share = SecretBytes(count: MPinSize.g2)
        try cryptoStep("server secret") { () throws(MPinError) in
            var octets = share.mutableSpan
            try TrustAuthority.serverSecretShare(master: master.span, into: &octets)
        }
        return share
    }

    /// Computes the sum of the D-TAs' shares and compares it with the expected value.
    private static func sum(
        _ name: String, _ expected: String, _ masters: [SecretBytes],
        _ make: (SecretBytes, inout MutableSpan<UInt8>) throws(MPinError) -> Void
    ) throws(SDKError) -> SecretBytes {
        let shares = try masters.enumerated().map { index, master throws(SDKError) in
            let share = SecretBytes(count: MPinSize.g1)
            try cryptoStep(name) { () throws(MPinError) in
                var octets = share.mutableSpan
                try make(master, &octets)
            }
            return Share(index: index + 1, share)
        }
        return try point(name, expected) { sum throws(MPinError) in try Shares.assemble(shares, into: &sum) }
    }

    /// Computes a point of G1 and compares it with the expected value.
    private static func point(
        _ name: String, _ expected: String, _ body: (inout MutableSpan<UInt8>) throws(MPinError) -> Void
    ) throws(SDKError) -> SecretBytes {
        let result = SecretBytes(count: MPinSize.g1)
        try cryptoStep(name) { () throws(MPinError) in
            var octets = result.mutableSpan
            try body(&octets)
        }
        try expect(name, result.plainBytes, expected)
        return result
    }

    private static func secret(_ hex: String) throws(SDKError) -> SecretBytes {
        guard let secret = SecretBytes(hex: Array(hex.utf8).span) else {
            throw SDKError(.cryptoError, "self test: hex")
        }
        return secret
    }

    private static func expect(_ name: String, _ found: [UInt8], _ expected: String) throws(SDKError) {
        guard Hex.encode(found) == expected else { throw SDKError(.cryptoError, "self test: \(name) differs") }
    }
}

/// Results of Milagro's crypto library for invented secrets.
private enum KnownAnswers {
    static let mpinID =
        #"{"mobile": 1, "issued": "2026-11-21 02:36:19.271448", "userID": "alice@example.com", "#
        + #""salt": "00112233445566778899aabbccddeeff"}"#
    /// The day of the time permit, in days since 1970-01-01 UTC.
    static let date: Int32 = 20778
    static let master1 = "154a9c6664148b67c569ccfa9701ab172f258fa2998f5c07a3484ac6437c4a80"
    static let master2 = "0d10b00e72eba63a68a932020099185e878cf2008cfe3ec87cc40cebf45854de"
    static let clientSecret =
        "04148357288428ce8066ea1c70ff0781c64226e3d69f4578ff60c69b1e42d037652050a0c6186dd301718c3f2c8d9c94520e"
        + "a5f24ceb71f9e14dfb7505835d666b"
    static let token =
        "0421210a97ba3c2f1624a528761ce7a79b0034e635728e1f0ede9cd42b936a285b18bef6ffc45f6466206377c021e5e8537b"
        + "617277dc54bd7dd4591f374e4a43b0"
    static let permit =
        "041a247306011d16abbb1e8330539ace8ca2f6d6c726bdec4e9757d712f8f082891eff1ecaa0edc05b21ccff51b5c8105e26"
        + "b344c06e217a6d3678f2651ad38ec3"
    static let x = "108f835f499631653cf102ea40ddf26e1ec1c09f1d6038078dbf18866ce6a9b9"
    static let u =
        "041c9211587a8e3ca4c3fe001a23f247a4ffc3b77be4ad0aa7e3ff2016ecce8b4414913fdb2a756c0a2f73e5efd66e28ce1b"
        + "c6a0ee3d97d7c4ee0e19e2b359d08c"
    static let ut =
        "0414337e1a7ab1c4bc5476c5a57a8d267d02eb252537ff270ef12dde6376ad2a1601e97440f0881d74b01f405d6aeedb6467"
        + "e05fc925c55cc0d19c9fbe16c8d1ca"
    static let y = "0153b0d825036b7315acee3e5a873f12a115a153fea5cdc0de5359d8f339ca78"
    static let v =
        "040eb682bb0e64ac9b8bf7c4d52cf538124cee0d28c74bb8fa0d2a7b43a1b0d9a1088021c0b0b4e947f2913bb36b92679cbe"
        + "5009471fa06d69969e2f28d3dc8b8d"
    static let vWrong =
        "04125820a4e6da9f6bfa27dddf6fac40c5556b7075d1d9acd684170dc14eb3708109ef8f611b26ac69769970cc7ad6bf3fac"
        + "eac5273114b359b8d6aa676c28194e"
    static let vWithoutPermit =
        "0409c9a7cf4e99c5f2905ee326b7d618cd49edefb9997ae6ee97342cbb5f21f77f096c25071e23fe735f58bd55eeb9811b5b"
        + "34deb6638fc3ed46a1f8912994b479"
    static let serverSecret =
        "1cc121fa41ae03b2bca2e8e41b7a9b2a17ce8018e31b1edf4ac6c53cd3983c4006adde0c5ace68d515e3e45da15741e40a8d"
        + "b16146a1c23abf30b533e62ecb6714e38a9b614c7b06be6032de253da481911b38e82319fda10883b0adb896a5a40b5827d9"
        + "68cbb0dcd2bc15a69905dafc5c13730a36783583cd0698e70847cda7"
}
