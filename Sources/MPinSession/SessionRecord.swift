import MPinSDK
import MPinSecrets
import MPinWire

/// What is stored about one login.
struct SessionRecord: Codable, Sendable {
    /// A random text, new with each login. By it the result of a renewal is known to belong to the session that is
    /// stored.
    var id: String
    var provider: String
    /// The user of the client core that has logged in by PIN; empty for other logins.
    var userID: String
    /// Whether the provider has refused to renew the session.
    var isRevoked = false
    var accessToken: SecretText
    var refreshToken: SecretText?
    var idToken: SecretText?
    var tokenType: String
    var scope: String
    /// When the access token expires, in milliseconds since 1970 of this device's clock; nil if the provider did not
    /// say.
    var expiry: Int64?
    var profile: Profile

    var credentials: Credentials {
        Credentials(
            accessToken: accessToken, idToken: idToken, refreshToken: refreshToken, tokenType: tokenType, scope: scope,
            expiry: (expiry ?? 0) / 1000)
    }

    /// Whether the access token is valid for `seconds` more at the time `now`, in milliseconds.
    func isValid(for seconds: Int64, now: Int64) -> Bool {
        guard !isRevoked else { return false }
        guard let expiry else { return true }
        return expiry &- now > max(0, min(seconds, 1 << 40)) &* 1000
    }

    func hasScope(_ wanted: String?) -> Bool {
        guard let wanted else { return true }
        return Self.scopes(wanted) == Self.scopes(scope)
    }

    private static func scopes(_ text: String) -> Set<String> {
        Set(text.lowercased().split(separator: " ").map(String.init))
    }
}

/// A refresh token whose session has ended here, but which the provider has not been told to end.
struct UnrevokedToken: Codable, Sendable {
    var provider: String
    var token: SecretText
}

/// What the file of a session holds.
struct SessionContent: Codable, Sendable {
    /// The provider of the last login; it stays when the session ends.
    var lastProvider = ""
    var session: SessionRecord?
    var unrevoked: [UnrevokedToken] = []
    /// How many tokens wait at most; the oldest are forgotten, and expire by themselves.
    private static let maxUnrevoked = 16

    /// Ends the session, whose refresh token is then to be revoked.
    mutating func endSession() {
        if let session { revokeLater(session.refreshToken, of: session.provider) }
        session = nil
    }

    mutating func revokeLater(_ token: SecretText?, of provider: String) {
        guard let token else { return }
        unrevoked = unrevoked.suffix(Self.maxUnrevoked - 1) + [UnrevokedToken(provider: provider, token: token)]
    }
}
