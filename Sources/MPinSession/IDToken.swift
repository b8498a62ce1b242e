import MPinSDK
import MPinSecrets
import MPinWire

/// An ID token that was verified (OpenID Connect Core section 3.1.3.7).
struct IDToken {
    let claims: JSONValue
    let subject: String

    /// The largest token that is read, in bytes.
    private static let maxBytes = 16 << 10
    /// How far the clocks of provider and device may differ, in seconds.
    private static let leeway = 60.0

    /// What a token must say.
    struct Expectation {
        var issuer: String
        var clientID: String
        /// Nil after a renewal: a renewed token need not repeat the nonce.
        var nonce: String?
        var accessToken: SecretText
        /// The time of the provider's clock, in seconds since 1970.
        var now: Int64
        /// The user, after a renewal.
        var subject: String?
    }

    init(
        _ token: SecretText, _ expected: Expectation, keys: KeySet, at url: String, _ requests: Requests
    ) throws(SDKError) {
        guard token.count <= Self.maxBytes else { throw Self.refusal("larger than \(Self.maxBytes) bytes") }
        let parts = Self.parts(token)
        guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]) else {
            throw Self.refusal("not a signed token")
        }
        guard case .string(let name)? = header["alg"], let algorithm = SignatureAlgorithm(rawValue: name),
            header["crit"] == nil
        else { throw Self.refusal("an algorithm or extension that is not allowed") }
        var kid: String?
        if case .string(let text)? = header["kid"] { kid = text }
        try Self.check(claims, expected)
        try keys.verify(token, algorithm, kid: kid, at: url, requests)
        self.claims = claims
        guard case .string(let subject)? = claims["sub"] else { throw Self.refusal("no sub") }
        self.subject = subject
    }

    private static func check(_ claims: JSONValue, _ expected: Expectation) throws(SDKError) {
        guard claims["iss"] == .string(expected.issuer) else { throw refusal("of another issuer") }
        guard case .string(let subject)? = claims["sub"], !subject.isEmpty else { throw refusal("no sub") }
        if let known = expected.subject, known != subject { throw refusal("of another user") }
        try checkAudience(claims, expected.clientID)
        try checkTimes(claims, now: Double(expected.now))
        if let nonce = expected.nonce, claims["nonce"] != .string(nonce) { throw refusal("not for this login (nonce)") }
        if let hash = claims["at_hash"], hash != .string(half(expected.accessToken)) {
            throw refusal("not of this access token (at_hash)")
        }
    }

    private static func checkTimes(_ claims: JSONValue, now: Double) throws(SDKError) {
        guard let expiry = seconds(claims["exp"]), expiry > now - leeway else {
            throw refusal("expired, or without exp")
        }
        guard let issued = seconds(claims["iat"]), issued <= now + leeway else {
            throw refusal("issued in the future, or without iat")
        }
        guard let claim = claims["nbf"], claim != .null else { return }
        guard let begin = seconds(claim), begin <= now + leeway else { throw refusal("not valid yet (nbf)") }
    }

    /// A time in seconds since 1970, which may have a fraction (NumericDate, RFC 7519 section 2). Nil if the claim is no
    /// number.
    private static func seconds(_ claim: JSONValue?) -> Double? {
        switch claim {
        case .int(let seconds)?: Double(seconds)
        case .double(let seconds)?: seconds
        default: nil
        }
    }

    private static func checkAudience(_ claims: JSONValue, _ clientID: String) throws(SDKError) {
        var others = 0
        switch claims["aud"] {
        case .string(clientID): break
        case .array(let audiences) where audiences.contains(.string(clientID)): others = audiences.count - 1
        default: throw refusal("for another client (aud)")
        }
        let party = claims["azp"]
        guard party == nil && others == 0 || party == .string(clientID) else {
            throw refusal("issued to another client (azp)")
        }
    }

    /// The left half of the SHA-256 of an access token, in base64 (OpenID Connect Core section 3.1.3.6).
    private static func half(_ token: SecretText) -> String {
        var digest = [UInt8](repeating: 0, count: SHA256.size)
        var span = digest.mutableSpan
        SHA256.hash(token.secret.span, into: &span)
        return Base64URL.encode(Array(digest.prefix(SHA256.size / 2)))
    }

    private static func parts(_ token: SecretText) -> [ArraySlice<UInt8>] {
        token.secret.plainBytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    }

    private static func json(_ part: ArraySlice<UInt8>) -> JSONValue? {
        guard let text = Base64URL.decode(ascii: part),
            let value = try? JSON.decode(JSONValue.self, from: text.span), case .object = value
        else { return nil }
        return value
    }

    private static func refusal(_ reason: String) -> SDKError { SDKError(.tokenInvalid, "ID token: \(reason)") }
}
