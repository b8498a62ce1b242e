import Crypto
import MPinOpenID
import MPinSecrets
import MPinStore
import MPinWire
import XCTest

/// Tokens that look like access tokens, at each endpoint that takes one (RFC 8725).
final class ForgedTokenTests: XCTestCase {
    /// Returns the forms of an attack, by name, made of an access token and an ID token of the same client.
    private func forgeries(_ test: ProviderUnderTest, _ answer: TokenAnswer) async throws -> [(String, String)] {
        let parts = answer.accessToken.split(separator: ".").map(String.init)
        let (header, claims) = (parts[0], parts[1])
        let es256 = try test.provider.keys.signer(.es256, at: test.now)
        let rs256 = try test.provider.keys.signer(.rs256, at: test.now)
        var wider = try decoded(answer.accessToken).claims
        wider["scope"] = .string("openid email profile admin")
        let stranger = try await ProviderUnderTest { $0.audiences = [ProviderUnderTest.api] }
        let theirs = try await stranger.redeem(try await stranger.code())
        var forged = [
            ("an ID token", try XCTUnwrap(answer.idToken)), ("of another provider", theirs.accessToken),
            ("no signature", "\(header).\(claims)."), ("two parts", "\(header).\(claims)"),
            ("five parts", "\(answer.accessToken).x.y"), ("other claims", "\(header).\(try part(wider)).\(parts[2])"),
            ("signed by RS256", try JWT.sign(wider, type: "at+jwt", by: rs256)),
            ("of another type", try JWT.sign(wider, type: "JWT", by: es256)),
        ]
        // The attacker chooses the header, and signs with what everybody knows.
        for key in [es256, rs256] {
            let jwk = JSONValue.object(key.publicMembers)
            for secret in try Self.secrets(jwk) {
                let alg = try part(["alg": .string("HS256"), "typ": .string("at+jwt"), "kid": .string(key.kid)])
                let text = "\(alg).\(try part(wider))"
                let tag = HMACSHA256.tag(Array(text.utf8), key: SecretBytes(copying: secret.span))
                forged.append(("HS256 with the public key", "\(text).\(Base64URL.encode(tag))"))
            }
            let none = try part(["alg": .string("none"), "typ": .string("at+jwt"), "kid": .string(key.kid)])
            forged.append(("alg none", "\(none).\(try part(wider))."))
        }
        let own = P256.Signing.PrivateKey()
        for kid in [
            "", "own", "../../../dev/null", "' OR 1=1 --", es256.kid, es256.kid + "\u{0}", rs256.kid,
            "https://evil.example/k",
        ] {
            forged.append(("kid \(kid)", try signed(wider, by: own, ["kid": .string(kid)])))
        }
        let point = Array(own.publicKey.x963Representation.dropFirst())
        let jwk: JSONValue = .object([
            "kty": .string("EC"), "crv": .string("P-256"), "kid": .string(es256.kid),
            "x": .string(Base64URL.encode(Array(point.prefix(32)))),
            "y": .string(Base64URL.encode(Array(point.suffix(32)))),
        ])
        let injected: [String: JSONValue] = [
            "kid": .string(es256.kid), "jwk": jwk, "jku": .string("https://evil.example/jwks"),
            "x5u": .string("https://evil.example/cert"),
        ]
        forged.append(("a key in the header", try signed(wider, by: own, injected)))
        return forged
    }

    /// Returns a part of a token. Its members are in the order of their names, as in the headers that the server writes.
    private func part(_ members: [String: JSONValue]) throws -> String {
        let texts = try members.sorted { $0.key < $1.key }.map { name, value in
            "\"\(name)\":" + String(decoding: try JSON.bytes(value), as: UTF8.self)
        }
        return Base64URL.encode(Array("{\(texts.joined(separator: ","))}".utf8))
    }

    /// Returns the forms of a public key that a careless program would take for the secret of HS256.
    private static func secrets(_ jwk: JSONValue) throws -> [[UInt8]] {
        var secrets = [try JSON.bytes(jwk)]
        for name in ["x", "n"] {
            guard case .string(let text)? = jwk[name] else { continue }
            secrets += [Array(text.utf8), try XCTUnwrap(Base64URL.decode(text))]
        }
        return secrets
    }

    /// Returns a token with these claims and header members, with a right signature by an attacker's key.
    private func signed(
        _ claims: [String: JSONValue], by key: P256.Signing.PrivateKey, _ header: [String: JSONValue]
    ) throws -> String {
        let members = header.merging(["alg": .string("ES256"), "typ": .string("at+jwt")]) { own, _ in own }
        let text = "\(try part(members)).\(try part(claims))"
        let signature = try key.signature(for: Array(text.utf8))
        return "\(text).\(Base64URL.encode(Array(signature.rawRepresentation)))"
    }

    /// Returns the private key that signs access tokens, opened as only the server can.
    private func ownKey(_ test: ProviderUnderTest) async throws -> P256.Signing.PrivateKey {
        struct Records: Decodable {
            struct Key: Decodable { let kid, box: String }
            let keys: [Key]
        }
        let kid = try test.provider.keys.signer(.es256, at: test.now).kid
        let item = try await test.store.read(ItemKey("oidc_keys", "all"), at: test.now)
        let stored = try XCTUnwrap(item).value
        let records = try JSON.decode(Records.self, from: stored.span, fromAny: true)
        let box = try XCTUnwrap(Hex.decode(try XCTUnwrap(records.keys.first { $0.kid == kid }).box))
        let pem = try SealedBox.open(
            box, key: test.sealKey, associatedData: Array("OpenID signing key \(kid)".utf8))
        return try P256.Signing.PrivateKey(pemRepresentation: pem.plainText)
    }

    /// A token with our own signature is refused if its header demands something that this server does not know (`crit`,
    /// RFC 7515 section 4.1.11). Without that member the same token is taken.
    func testAHeaderThatDemandsMore() async throws {
        let test = try await ProviderUnderTest()
        let answer = try await test.redeem(try await test.code())
        let (header, claims) = try decoded(answer.accessToken)
        let key = try await ownKey(test)
        let plain = try await test.bearerFault(try signed(claims, by: key, header))
        XCTAssertNil(plain)
        for critical in [JSONValue.array([.string("exp")]), .array([]), .string("exp"), .bool(false)] {
            let more = header.merging(["crit": critical]) { own, _ in own }
            let fault = try await test.bearerFault(try signed(claims, by: key, more))
            XCTAssertEqual(fault, .invalidToken, "\(critical)")
        }
    }

    func testNoForgedTokenIsTaken() async throws {
        let test = try await ProviderUnderTest {
            $0.grants.insert(.tokenExchange)
            $0.audiences = [ProviderUnderTest.api]
        }
        let answer = try await test.redeem(try await test.code())
        let forged = try await forgeries(test, answer)
        XCTAssertGreaterThan(forged.count, 20)
        for (name, token) in forged {
            for id in ["app", "api"] {
                let isActive = try await test.isActive(token, by: id)
                XCTAssertFalse(isActive, name)
                let exchange = try await test.fault { try await test.exchange(token, by: id) }
                XCTAssertEqual(exchange, .invalidRequest, name)
            }
            let bearer = try await test.bearerFault(token)
            XCTAssertEqual(bearer, .invalidToken, name)
            try await test.revoke(token)
        }
        // None of them has ended the real token.
        let real = try await test.isActive(answer.accessToken, by: "api")
        XCTAssertTrue(real)
        _ = try await test.exchange(answer.accessToken)
    }

    /// The last tokens are known without a look at their signatures, but not after their key was withdrawn.
    func testATokenOfAWithdrawnKeyIsRefused() async throws {
        let test = try await ProviderUnderTest()
        let answers = [
            try await test.redeem(try await test.code()), try await test.redeem(try await test.code("bob")),
        ]
        for answer in answers {
            let fault = try await test.bearerFault(answer.accessToken)
            XCTAssertNil(fault)
        }
        let leaked = try test.provider.keys.signer(.es256, at: test.now).kid
        let isDone = try await test.provider.keys.withdraw(leaked, at: test.now)
        XCTAssertTrue(isDone)
        for answer in answers {
            let fault = try await test.bearerFault(answer.accessToken)
            XCTAssertEqual(fault, .invalidToken)
        }
        let next = try await test.bearerFault(try await test.redeem(try await test.code()).accessToken)
        XCTAssertNil(next)
    }

    /// A token is valid until it expires, however many were issued after it.
    func testATokenOutlivesManyOthers() async throws {
        let test = try await ProviderUnderTest()
        let first = try await test.redeem(try await test.code()).accessToken
        var last = first
        for _ in 0..<300 { last = try await test.redeem(try await test.code()).accessToken }
        for token in [first, last, first] {
            let fault = try await test.bearerFault(token)
            XCTAssertNil(fault)
        }
        test.pass(seconds: 900)
        let fault = try await test.bearerFault(last)
        XCTAssertEqual(fault, .invalidToken)
    }
}
