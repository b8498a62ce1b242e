import Foundation
import MPinSecrets
import MPinStore

/// What a client sends to prove its identity at the endpoints that it calls directly (RFC 6749 section 2.3.1).
package struct ClientCredentials {
    let id: String
    let method: Client.AuthMethod
    /// Empty if the method has no secret.
    let secret: String

    /// `header` is the value of the header `Authorization`. Nil if the request has none.
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

    /// Returns the id of the client that a request names, right or wrong, for counting and for the audit log. Nil if
    /// the request names none, or something that cannot be the id of a client.
    package static func clientID(header: String?, _ parameters: RequestParameters) -> String? {
        guard let credentials = try? ClientCredentials(header: header, parameters) else { return nil }
        return Client.isID(credentials.id) ? credentials.id : nil
    }

    /// Returns id and secret from a `Basic` header. Each was form-encoded before the two were joined. Nil if the header
    /// is malformed.
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

    /// Returns whether these are the credentials of `client`, sent by the method that it is registered for. If there is
    /// no such client, the secret is compared with one that nobody has, so that the time does not tell whether the
    /// client exists.
    func areRight(for client: Client?, at now: Moment) -> Bool {
        let digest = SecretHash(of: secret).digest
        let stranger = ClientSecret(hash: .comparedOnly([]), created: now)
        let secrets = client.map(\.secrets).flatMap { $0.isEmpty ? nil : $0 } ?? [stranger]
        var isRight = false
        for known in secrets where known.matches(digest: digest, at: now) { isRight = true }
        guard let client, !client.isDisabled, client.authMethod == method else { return false }
        return client.isPublic || isRight
    }
}
