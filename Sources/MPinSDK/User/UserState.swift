/// The state of an identity. The numbers are those of the C header and the MIRACL MFA core. The store keeps the names.
public enum UserState: Int32, Sendable, CaseIterable {
    /// The identity was just made, or was deleted.
    case invalid = 0
    /// The server has been asked to send a code that verifies the user id (MIRACL MFA).
    case startedVerification = 1
    /// The server waits until the user confirms the registration.
    case startedRegistration = 2
    /// The server has confirmed the registration without a mail.
    case activated = 3
    /// The user can log in.
    case registered = 4
    /// The last allowed PIN was wrong, so the server refuses logins. The token is kept: once the operator has unblocked
    /// the user, logins work again.
    case blocked = 5
    /// The server of a MIRACL Trust project no longer accepts the identity. The token is kept: if the server accepts
    /// the identity again, logins work again.
    case revoked = 6

    /// The name in the store and in the client cores of Milagro and MIRACL.
    package var name: String {
        switch self {
        case .invalid: "INVALID"
        case .startedVerification: "STARTED_VERIFICATION"
        case .startedRegistration: "STARTED_REGISTRATION"
        case .activated: "ACTIVATED"
        case .registered: "REGISTERED"
        case .blocked: "BLOCKED"
        case .revoked: "REVOKED"
        }
    }

    /// What the program can do in this state, for an error text.
    var nextStep: String {
        switch self {
        case .invalid: "the user is not registered, start a registration"
        case .startedVerification: "finish the verification, then start a registration"
        case .startedRegistration, .activated: "the registration is not finished, confirm and finish it"
        case .registered: "the user is registered, log in, or delete the user to begin anew"
        case .blocked: "the last wrong PIN has blocked the user, register anew, or ask the operator"
        case .revoked: "the server has revoked the identity, register anew, or ask the operator"
        }
    }

    /// The number in the Milagro cores, which have no STARTED_VERIFICATION.
    package var legacyNumber: Int32 {
        switch self {
        case .invalid, .startedVerification: 0
        case .startedRegistration: 1
        case .activated: 2
        case .registered: 3
        case .blocked, .revoked: 4
        }
    }

    package init?(name: String) {
        guard let state = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = state
    }
}
