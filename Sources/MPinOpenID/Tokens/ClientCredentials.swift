import Foundation
import MPinSecrets
import MPinStore

/// How a client says at the token endpoint who it is (RFC 6749 section 2.3.1).
struct ClientCredentials {
    let id: String
    let method: Client.AuthMethod
    /// Empty where the method has none.
    let secret: String

    /// `header`: that of the name `Authorization`.
    init(header: String?, _ parameters: RequestParameters) throws(TokenFault) {
        guard let header else {
            guard let id = parameters["client_id"] else {
                throw TokenFault(.invalidClient, "the client does not say who it is")
            }
            self.id = id
            let posted = parameters["client_secret"]
            (method, secret) = posted.map { (.post, $0) } ?? (.none, "")
            return
        }
        guard parameters["client_secret"] == nil else {
            throw TokenFault(.invalidRequest, "two ways to say who the client is")
        }
        guard let halves = Self.basic(header) else { throw .wrongClient }
        guard (parameters["client_id"] ?? halves.id) == halves.id else {
            throw TokenFault(.invalidRequest, "two clients are named")
        }
        (id, method, secret) = (halves.id, .basic, halves.secret)
    }

    /// The halves of `Basic`, each form-encoded.
    private static func basic(_ header: String) -> (id: String, secret: String)? {
        let words = header.split(separator: " ")
        guard words.count == 2, words.first?.lowercased() == "basic",
            let bytes = words.last.flatMap({
                Data(base64Encoded: String($0))
            })
        else { return nil }
        let halves = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, let id = halves.first.flatMap(RequestParameters.decoded),
            let secret = halves.last.flatMap(RequestParameters.decoded)
        else { return nil }
        return (id, secret)
    }

    /// Whether they are those of `client`, in the way it is registered for. An unknown one is compared with a secret that
    /// nobody has, so that it takes the same time.
    func areRight(for client: Client?, at now: Moment) -> Bool {
        let hash = Array(Hex.encode(SHA256.hash(Array(secret.utf8))).utf8)
        let stranger = ClientSecret(hash: String(repeating: "0", count: 2 * SHA256.size), created: now)
        let secrets = client.map(\.secrets).flatMap { $0.isEmpty ? nil : $0 } ?? [stranger]
        var isRight = false
        for known in secrets where known.matches(hash, at: now) { isRight = true }
        guard let client, !client.isDisabled, client.authMethod == method else { return false }
        return client.isPublic || isRight
    }
}
