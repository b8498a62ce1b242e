public import MPinSDK

/// An identity: a user id at a backend and, if the server has several, at a customer and an application.
///
/// A value of this type refers to the identity and is not a copy of it. Its properties show the current values.
public struct User: Sendable, Hashable {
    let core: MPinSDK.User

    /// The state of an identity.
    public typealias State = UserState

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
    /// The state of the identity.
    public var state: State { core.state }
    /// The number of digits of the user's PIN; nil if 4 to 6 are allowed.
    public var pinLength: Int? { core.pinLength == 0 ? nil : core.pinLength }
    /// The number of digits of the PIN to choose at the end of the registration that is under way; nil if 4 to 6 are
    /// allowed. It may differ from ``pinLength`` while the user still has an identity, which the registration will
    /// replace.
    public var registrationPINLength: Int? { core.registrationPINLength == 0 ? nil : core.registrationPINLength }
    /// What the server tells the user when the registration starts, for example that it sends no mails yet; may be
    /// empty.
    public var notice: String { core.notice }
    /// How the server has verified the user id, for example `em` for mail; empty if it does not say.
    public var verificationType: String { core.verificationType }
    /// Whether the user can sign.
    public var canSign: Bool { core.canSign }
    /// Whether the session of the last login can be ended from this device.
    public var canLogOut: Bool { core.canLogout }

    /// Whether both values refer to the same identity of the same client.
    public static func == (left: User, right: User) -> Bool { left.core === right.core }

    /// Hashes the reference to the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(core)) }
}
