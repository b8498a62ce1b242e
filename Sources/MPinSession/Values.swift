package import MPinSecrets
package import MPinWire

/// What the session of an app is in. The numbers are those of the C header.
public enum SessionState: Int32, Sendable {
    /// Nobody is logged in.
    case signedOut = 0
    /// A login is under way in this process.
    case signingIn = 1
    /// Somebody is logged in. The access token may have expired, if it can be renewed.
    case signedIn = 2
    /// The access token has expired, and there is no refresh token to renew it with.
    case expired = 3
    /// The provider has refused to renew the session: a login is needed. The profile is still there.
    case revoked = 4
}

/// The tokens of a session. A description never shows them.
package struct Credentials: Sendable {
    package let accessToken: SecretText
    /// Nil if the provider does not support OpenID Connect.
    package let idToken: SecretText?
    package let refreshToken: SecretText?
    /// The type of the access token, such as `Bearer`.
    package let tokenType: String
    /// The scopes, separated by spaces.
    package let scope: String
    /// When the access token expires, in seconds since 1970 of this device's clock; 0 if the provider does not say.
    package let expiry: Int64
}

/// What the provider says about the user. Each text is empty if the provider does not say it.
public struct Profile: Codable, Sendable, Equatable {
    /// The provider's id of the user.
    public var sub = ""
    /// The user's whole name.
    public var name = ""
    /// A mail address.
    public var email = ""
    /// `true` if the provider has verified the address.
    public var emailVerified = ""
    /// The URL of a picture.
    public var picture = ""
    /// When the user has changed these claims, as a rule in seconds since 1970.
    public var updatedAt = ""

    /// Makes a profile without claims.
    public init() {}

    /// The claim with that name in OpenID Connect; empty for an unknown name.
    public subscript(claim: String) -> String {
        switch claim {
        case "sub": sub
        case "name": name
        case "email": email
        case "email_verified": emailVerified
        case "picture": picture
        case "updated_at": updatedAt
        default: ""
        }
    }

}

/// What an app passes to a smaller app: who the user is, and an access token that can do less and cannot be renewed.
package struct Handover: Sendable {
    package let profile: Profile
    package let accessToken: SecretText
    /// When the token expires, in seconds since 1970 of this device's clock; 0 if the provider does not say.
    package let expiry: Int64
}

/// What the program does for a session. Callbacks run in the thread of the call. While one runs, no lock is held that
/// another process could wait for.
package struct SessionCallbacks: Sendable {
    /// Asks the user for the PIN. Nil means that the user has cancelled.
    package var pin: (@Sendable (PINRequest) -> SecretBytes?)?
    /// Opens the system's browser at a URL. False if that is not possible.
    package var openBrowser: (@Sendable (String) -> Bool)?
    /// Shows the code of a device without a browser.
    package var showCode: (@Sendable (DeviceCode) -> Void)?
    /// Is told of a new state, and the provider's name.
    package var event: (@Sendable (SessionState, String) -> Void)?

    package init() {}
}

/// A question for a PIN.
public struct PINRequest: Sendable {
    /// The name of the provider.
    public let provider: String
    /// The user whose PIN it is.
    public let userID: String
    /// How many more wrong PINs the server accepts; nil at the first question, and if the server does not say.
    public let attemptsLeft: Int32?
}

/// What a device without a browser shows to its user (RFC 8628 section 3.2).
public struct DeviceCode: Sendable {
    /// The code that the user types.
    public let userCode: String
    /// Where the user types it.
    public let url: String
    /// The URL with the code in it, for a QR code; empty if the provider gives none.
    public let completeURL: String
    /// How long the code is valid, in seconds.
    public let expiresIn: Int64
}
