import CJose
import MPinHTTP
import MPinSDK
import MPinSecrets
import MPinWire

/// The public keys of providers. They are fetched at the first token, after an hour, and when a token does not fit the
/// known ones, at most once for each token.
final class KeySet: Sendable {
    private let known = Locked<[String: (keys: [JSONValue], until: Deadline)]>([:])
    private static let lifetimeMilliseconds: UInt32 = 3_600_000

    /// Throws unless the signature of the token is that of a key at `url`. `kid` is the name of the key in the token's
    /// header; nil if the token names none.
    func verify(
        _ token: SecretText, _ algorithm: SignatureAlgorithm, kid: String?, at url: String, _ requests: Requests
    ) throws(SDKError) {
        let known = known.withLock { $0[url] }
        if let known, known.until.remainingMilliseconds() > 0, let key = Self.key(kid, algorithm, in: known.keys) {
            // A provider may have another key under the same name now.
            do throws(SDKError) { return try algorithm.verify(token, key) } catch {
                guard error.status == .tokenInvalid else { throw error }
            }
        }
        guard let key = Self.key(kid, algorithm, in: try fetch(url, requests)) else {
            throw SDKError(.tokenInvalid, "ID token: signed with a key that the provider does not publish")
        }
        try algorithm.verify(token, key)
    }

    private func fetch(_ url: String, _ requests: Requests) throws(SDKError) -> [JSONValue] {
        guard case .array(let fetched)? = try requests.document("keys", url)["keys"] else {
            throw SDKError(.responseParseError, "keys: no list of keys")
        }
        known.withLock { $0[url] = (fetched, .after(milliseconds: Self.lifetimeMilliseconds)) }
        return fetched
    }

    /// The key with that name that suits the algorithm. A token without a name needs a provider with one such key.
    private static func key(_ kid: String?, _ algorithm: SignatureAlgorithm, in keys: [JSONValue]) -> JSONValue? {
        let fitting = keys.filter { key in
            algorithm.suits(key) && (kid == nil || key["kid"] == kid.map(JSONValue.string))
        }
        return fitting.count == 1 ? fitting[0] : nil
    }
}

/// The algorithms that a signature of a token may have (RFC 7518 section 3.1). All others are refused.
enum SignatureAlgorithm: String {
    case rs256 = "RS256"
    case es256 = "ES256"

    /// Whether a key, a JWK, is one for signatures by this algorithm.
    func suits(_ key: JSONValue) -> Bool {
        guard key["use"] == nil || key["use"] == .string("sig"),
            key["alg"] == nil || key["alg"] == .string(rawValue)
        else { return false }
        switch self {
        case .es256: return key["kty"] == .string("EC") && key["crv"] == .string("P-256")
        case .rs256:
            guard key["kty"] == .string("RSA"), let modulus = Self.number("n", of: key),
                let exponent = Self.number("e", of: key)
            else { return false }
            return Self.isStrong(modulus: modulus, exponent: exponent)
        }
    }

    /// A member of an RSA key without zeros in front, at most 16384 bits long. Nil if the key has none.
    private static func number(_ member: String, of key: JSONValue) -> ArraySlice<UInt8>? {
        guard case .string(let text)? = key[member], text.utf8.count <= 2731 else { return nil }
        return Base64URL.decode(text)?.drop { $0 == 0 }
    }

    /// Whether an RSA key has at least 2048 bits (RFC 7518 section 3.3) and an exponent that can be one: an odd number
    /// from 3 on. With the exponent 1 a signature is no more than the padded hash, and anybody can write it. libcrypto
    /// takes no exponent above 64 bits with a large modulus.
    private static func isStrong(modulus: ArraySlice<UInt8>, exponent: ArraySlice<UInt8>) -> Bool {
        guard let highest = modulus.first, let lowest = exponent.last else { return false }
        let bits = modulus.count * 8 - highest.leadingZeroBitCount
        return bits >= 2048 && lowest & 1 == 1 && Array(exponent) != [1] && exponent.count <= 8
    }

    func verify(_ token: SecretText, _ key: JSONValue) throws(SDKError) {
        guard let jwk = try? JSON.bytes(key) else { throw SDKError(.tokenInvalid, "ID token: a key that is no JSON") }
        let verdict = token.secret.span.withUnsafeBufferPointer { token in
            jwk.withUnsafeBufferPointer { jwk in
                token.withMemoryRebound(to: CChar.self) { token in
                    jwk.withMemoryRebound(to: CChar.self) { jwk in
                        mpin_jose_verify(token.baseAddress, token.count, jwk.baseAddress, jwk.count)
                    }
                }
            }
        }
        switch verdict {
        case MPIN_JOSE_VALID: return
        case MPIN_JOSE_UNAVAILABLE:
            throw SDKError(.cryptoError, "\(MPIN_JOSE_LIBRARY) is not installed: nothing can verify an ID token")
        default: throw SDKError(.tokenInvalid, "ID token: the signature is wrong")
        }
    }
}
