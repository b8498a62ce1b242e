import Crypto
import Foundation
import LoopbackServer
import MPinHTTP
import MPinSecrets

/// An OpenID provider with an API, on a loopback socket. It signs its ID tokens with a real key. A test may replace the
/// answers of each path.
final class ProviderServer: Sendable {
    struct State {
        var key = P256.Signing.PrivateKey()
        /// Instead, an RSA key with this exponent. The signature of a token is its padded hash, which is right for the
        /// exponent 1.
        var everybodysExponent: [UInt8]?
        /// The nonce of the authorization request that is answered next.
        var nonce = ""
        /// The next answers by path; then the usual answers follow.
        var replies: [String: [Reply]] = [:]
        /// Members that the discovery document has in addition, or instead.
        var discovery: [String: any Sendable] = [:]
        /// Claims that ID tokens have in addition, or instead.
        var claims: [String: any Sendable] = [:]
        /// What the API answers 401.
        var refused: Set<String> = []
        var issued = 0
        /// What answers with tokens wait for.
        var hold: DispatchSemaphore?
    }

    let state = Locked(State())
    private let socket = Locked<LoopbackServer?>(nil)

    init() throws {
        let server = try LoopbackServer { [weak self] request in self?.answer(request) ?? .reset() }
        socket.withLock { $0 = server }
    }

    var url: String { socket.withLock { $0?.url ?? "" } }
    var received: [ReceivedRequest] { socket.withLock { $0?.received ?? [] } }

    func stop() { socket.withLock { $0?.stop() } }

    func reply(_ path: String, _ replies: Reply...) { state.withLock { $0.replies[path] = replies } }

    /// The requests for a path.
    func requests(_ path: String) -> [ReceivedRequest] { received.filter { $0.path == path } }

    /// The bodies of the forms that were posted to a path.
    func forms(_ path: String) -> [String] { requests(path).map { String(decoding: $0.body, as: UTF8.self) } }

    private func answer(_ request: ReceivedRequest) -> Reply {
        let replaced = state.withLock { state -> Reply? in
            guard let replies = state.replies[request.path], !replies.isEmpty else { return nil }
            return state.replies[request.path]?.removeFirst()
        }
        if let replaced { return replaced }
        switch request.path {
        case "/.well-known/openid-configuration": return .json(200, discovery)
        case "/keys": return .json(200, ["keys": [jwk]])
        case "/token": return dated(.json(200, tokens(for: String(decoding: request.body, as: UTF8.self))))
        case "/userinfo": return .json(200, ["sub": "ann", "name": "Ann"])
        case "/device": return .json(200, device)
        case "/api": return api(request)
        default: return .text(200, "")
        }
    }

    /// The reply with the time of the provider's clock.
    private func dated(_ reply: Reply) -> Reply {
        guard case .answer(let status, let headers, let body) = reply else { return reply }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return .answer(status, headers: headers + [("Date", format.string(from: Date()))], body: body)
    }

    private var discovery: [String: any Sendable] {
        let usual: [String: any Sendable] = [
            "issuer": url, "authorization_endpoint": url + "/authorize", "token_endpoint": url + "/token",
            "userinfo_endpoint": url + "/userinfo", "jwks_uri": url + "/keys", "revocation_endpoint": url + "/revoke",
            "end_session_endpoint": url + "/logout", "device_authorization_endpoint": url + "/device",
        ]
        return usual.merging(state.withLock { $0.discovery }) { $1 }
    }

    private var device: [String: any Sendable] {
        ["device_code": "d", "user_code": "AB-CD", "verification_uri": url, "expires_in": 60, "interval": 1]
    }

    private var jwk: [String: any Sendable] {
        if let exponent = state.withLock({ $0.everybodysExponent }) {
            let modulus = [UInt8](repeating: 0xff, count: 256)
            return ["kty": "RSA", "kid": "one", "n": Base64URL.encode(modulus), "e": Base64URL.encode(exponent)]
        }
        let point = Array(state.withLock { $0.key }.publicKey.x963Representation)
        return [
            "kty": "EC", "crv": "P-256", "kid": "one", "use": "sig", "x": Base64URL.encode(Array(point[1..<33])),
            "y": Base64URL.encode(Array(point[33...])),
        ]
    }

    private func tokens(for form: String) -> [String: any Sendable] {
        state.withLock { $0.hold }?.wait()
        let number = state.withLock { state in
            state.issued += 1
            return state.issued
        }
        guard !form.contains("token-exchange") else {
            return ["access_token": "narrow-\(number)", "token_type": "Bearer", "expires_in": 60]
        }
        return [
            "access_token": "access-\(number)", "token_type": "Bearer", "expires_in": 600,
            "refresh_token": "refresh-\(number)", "id_token": idToken(),
        ]
    }

    private func idToken() -> String {
        let (key, nonce, more) = state.withLock { ($0.key, $0.nonce, $0.claims) }
        let isEverybodys = state.withLock { $0.everybodysExponent != nil }
        let now = Int(Date().timeIntervalSince1970)
        let usual: [String: any Sendable] = [
            "iss": url, "sub": "ann", "aud": "app", "iat": now, "exp": now + 600, "nonce": nonce,
        ]
        let parts = [["alg": isEverybodys ? "RS256" : "ES256", "kid": "one"], usual.merging(more) { $1 }].map { part in
            Base64URL.encode(Array((try? JSONSerialization.data(withJSONObject: part)) ?? Data()))
        }
        let text = parts.joined(separator: ".")
        let own = (try? key.signature(for: Data(text.utf8)))?.rawRepresentation ?? Data()
        let signature = isEverybodys ? Self.padded(text) : Array(own)
        return "\(text).\(Base64URL.encode(signature))"
    }

    /// EMSA-PKCS1-v1_5 of SHA-256 (RFC 8017 section 9.2), for a modulus of 2048 bits.
    private static func padded(_ text: String) -> [UInt8] {
        let name: [UInt8] = [0x30, 0x31, 0x30, 0x0d, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0, 4, 0x20]
        let end = [0] + name + Array(Crypto.SHA256.hash(data: Data(text.utf8)))
        return [0, 1] + [UInt8](repeating: 0xff, count: 254 - end.count) + end
    }

    private func api(_ request: ReceivedRequest) -> Reply {
        let token = (request.header("Authorization") ?? "").split(separator: " ").last.map(String.init) ?? ""
        return state.withLock { $0.refused.contains(token) } ? .text(401, "") : .text(200, "orders")
    }
}
