import CryptoExtras
import Dispatch
import Foundation
import Glibc
import JWTKit
import MPinSecrets
package import MPinWire

/// The algorithms that sign tokens: RS256 for ID tokens, because every client can verify it, and ES256 for access
/// tokens, because it takes less time.
package enum SigningAlgorithm: String, Sendable, Codable, CaseIterable {
    case rs256 = "RS256"
    case es256 = "ES256"

    private static let rsaBits = _RSA.Signing.KeySize.bits2048

    /// Returns a new private key as PEM text. It is made on another thread, because finding the primes of an RSA key
    /// takes long.
    func newKey() async -> Result<SecretBytes, any Error> {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: Result { try makeKey() }) }
        }
    }

    private func makeKey() throws -> SecretBytes {
        switch self {
        case .rs256: SecretBytes(utf8: try _RSA.Signing.PrivateKey(keySize: Self.rsaBits).pemRepresentation)
        case .es256: SecretBytes(utf8: ES256PrivateKey().pemRepresentation)
        }
    }

    /// Returns the signer for a private key in PEM. `kid` is the name of the key in tokens and in the published list.
    func signer(_ pem: SecretBytes, kid: String, _ observer: @escaping SignatureObserver) async throws -> Signer {
        let (keys, name) = (JWTKeyCollection(), JWKIdentifier(string: kid))
        var members: [String: JSONValue] = ["use": .string("sig"), "alg": .string(rawValue), "kid": .string(kid)]
        switch self {
        case .rs256:
            let key = try Insecure.RSA.PrivateKey(pem: pem.plainText)
            let (modulus, exponent) = try key.publicKey.getKeyPrimitives()
            members["kty"] = .string("RSA")
            members["n"] = .string(Base64URL.encode(Array(modulus)))
            members["e"] = .string(Base64URL.encode(Array(exponent)))
            await keys.add(rsa: key, digestAlgorithm: .sha256, kid: name)
        case .es256:
            let key = try ES256PrivateKey(pem: pem.plainText)
            guard let point = key.parameters, let x = Data(base64Encoded: point.x), let y = Data(base64Encoded: point.y)
            else { throw JWTFault.unusableKey }
            members["kty"] = .string("EC")
            members["crv"] = .string("P-256")
            members["x"] = .string(Base64URL.encode(Array(x)))
            members["y"] = .string(Base64URL.encode(Array(y)))
            await keys.add(ecdsa: key, kid: name)
        }
        return Signer(
            kid: kid, algorithm: self, key: try await keys.getKey(for: name), publicMembers: members, observer: observer
        )
    }
}

/// Is told the processor time of each signature, in seconds.
package typealias SignatureObserver = @Sendable (SigningAlgorithm, Double) -> Void

/// A private key that signs, with its name. It is a class because each token copies it.
package final class Signer: Sendable {
    package let kid: String
    package let algorithm: SigningAlgorithm
    fileprivate let key: any JWTAlgorithm
    /// The public key as a JWK (RFC 7517). It has no private members.
    package let publicMembers: [String: JSONValue]
    private let observer: SignatureObserver

    fileprivate init(
        kid: String, algorithm: SigningAlgorithm, key: any JWTAlgorithm, publicMembers: [String: JSONValue],
        observer: @escaping SignatureObserver
    ) {
        self.kid = kid
        self.algorithm = algorithm
        self.key = key
        self.publicMembers = publicMembers
        self.observer = observer
    }

    /// Returns the first part of every token of a type that this key signs. No value in it needs an escape in JSON.
    fileprivate func header(_ type: String) -> [UInt8] {
        var header: [UInt8] = []
        Base64URL.append(
            Array(#"{"alg":"\#(algorithm.rawValue)","kid":"\#(kid)","typ":"\#(type)"}"#.utf8), to: &header)
        return header
    }

    fileprivate func sign(_ text: [UInt8]) throws -> [UInt8] {
        let start = Self.threadSeconds
        defer { observer(algorithm, Self.threadSeconds - start) }
        return try key.sign(text)
    }

    /// The processor time of this thread.
    private static var threadSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    fileprivate func admits(_ signature: [UInt8], of text: [UInt8]) -> Bool {
        (try? key.verify(signature, signs: text)) ?? false
    }
}

/// The reason why a JWT cannot be signed or verified. No client is told which it was.
package enum JWTFault: Error {
    case unusableKey
    case notOurs
}

/// A signed token (RFC 7519) in the compact serialisation.
package enum JWT {
    package typealias Claims = [String: JSONValue]

    private static let dot = UInt8(ascii: ".")

    /// Returns a signed token with these claims. `type` is the value of its header `typ`.
    package static func sign(_ claims: Claims, type: String, by signer: Signer) throws -> String {
        var token = signer.header(type) + [dot]
        Base64URL.append(try JSON.bytes(JSONValue.object(claims)), to: &token)
        let signature = try signer.sign(token)
        token.append(dot)
        Base64URL.append(signature, to: &token)
        return String(decoding: token, as: UTF8.self)
    }

    /// Returns the claims of a token if it has this algorithm and type, and one of `signers` signed it; otherwise
    /// throws. The header must be, byte for byte, the one that the signer writes, so nothing in it is ever read.
    /// Callers must check expiry, issuer and audience.
    package static func verified(
        _ token: String, _ algorithm: SigningAlgorithm, type: String, by signers: [Signer]
    ) throws -> Claims {
        let text = Array(token.utf8)
        let parts = text.split(separator: dot, omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64URL.decode(ascii: parts[2]),
            let signer = signers.first(where: { $0.algorithm == algorithm && $0.header(type)[...] == parts[0] }),
            signer.admits(signature, of: Array(text[..<parts[1].endIndex])), let claims = object(parts[1])
        else { throw JWTFault.notOurs }
        return claims
    }

    private static func object(_ part: ArraySlice<UInt8>) -> Claims? {
        guard let bytes = Base64URL.decode(ascii: part),
            case .object(let members)? = try? JSON.decode(
                JSONValue.self, from: bytes.span)
        else { return nil }
        return members
    }
}
