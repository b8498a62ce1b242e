import MPinSDK

/// An identity: a user id at a backend, of one customer and application where the server has several.
///
/// A value of this type is a name for the identity, not a copy of it: its properties show what is known at the moment.
public struct User: Sendable, Hashable {
    let core: MPinSDK.User

    /// Where an identity stands.
    public enum State: Int32, Sendable, CaseIterable {
        /// Made, or deleted.
        case invalid = 0
        /// A verification code is on its way.
        case startedVerification = 1
        /// The server waits for the confirmation.
        case startedRegistration = 2
        /// Confirmed without a mail.
        case activated = 3
        /// Able to log in.
        case registered = 4
        /// Without a token after the last wrong PIN.
        case blocked = 5
    }

    /// The user id.
    public var id: String { core.id }
    /// The base URL of the backend.
    public var backend: String { core.backend }
    /// The customer, as the server named it at registration; may be empty.
    public var customerID: String { core.customerID }
    /// The customer's application; may be empty.
    public var appID: String { core.appID }
    /// The M-Pin ID in hex; empty before the registration has started.
    public var mpinID: String { core.mpinID }
    /// Where the identity stands.
    public var state: State { State(rawValue: core.state.rawValue) ?? .invalid }
    /// Digits of a PIN at this backend; nil where 4 to 6 will do.
    public var pinLength: Int? { core.pinLength == 0 ? nil : core.pinLength }
    /// What the server had to say to the person when the registration started, such as that it sends no mails yet; empty
    /// where it said nothing.
    public var notice: String { core.notice }
    /// How the server has verified the user id, such as `em` by mail; empty where it does not say.
    public var verificationType: String { core.verificationType }
    /// Whether the user can sign.
    public var canSign: Bool { core.canSign }
    /// Whether the last login can be ended from here.
    public var canLogOut: Bool { core.canLogout }

    /// Two values are equal when they name the same identity of the same client.
    public static func == (left: User, right: User) -> Bool { left.core === right.core }

    /// Feeds the identity to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(core)) }
}
