import MPinOpenID
package import MPinService
package import MPinStore

/// An event that an operator may have to prove later. It contains no secret.
package struct AuditEvent: Sendable {
    /// The identity and user that an event is about.
    struct Subject: Sendable {
        /// Hex of the SHA-256 of the M-Pin ID, which tells the user's devices apart.
        let identity: String
        /// The user id, which is written plain or hashed, as configured; empty for an unknown identity.
        let user: String
    }

    let name: String
    var subject: Subject?
    /// Further members of the event's line in the log.
    var details: [(String, String)] = []
    /// Whether the event is synced to the disk before the program continues, so that a crash of the machine cannot lose
    /// it. If only the process ends, no event is lost, durable or not.
    var isDurable = false

    private init(_ name: String, _ subject: Subject? = nil, _ details: [(String, String)] = [], isDurable: Bool = false)
    {
        self.name = name
        self.subject = subject
        self.details = details
        self.isDurable = isDurable
    }
}

extension AuditEvent {
    static func started(parts: [String]) -> AuditEvent {
        AuditEvent("started", nil, [("parts", parts.joined(separator: " "))])
    }

    static let stopped = AuditEvent("stopped", isDurable: true)

    /// A registration waits for its confirmation.
    static func registrationStarted(_ id: MPinID, user: String, isRestart: Bool) -> AuditEvent {
        AuditEvent(
            "registration-started", Subject(identity: id.key, user: user), [("restart", String(isRestart))])
    }

    static func registrationConfirmed(_ id: MPinID, user: String) -> AuditEvent {
        AuditEvent("registration-confirmed", Subject(identity: id.key, user: user))
    }

    /// The owner of the link in the mail has deleted the registration.
    static func registrationDeleted(_ id: MPinID, user: String) -> AuditEvent {
        AuditEvent("registration-deleted", Subject(identity: id.key, user: user))
    }

    /// The client secret shares were handed out, so the identity is registered.
    static func registered(_ id: MPinID, user: String, keyID: String) -> AuditEvent {
        AuditEvent("registered", Subject(identity: id.key, user: user), [("key_id", keyID)])
    }

    /// A login has ended. `status`: the status of its ``Verdict``.
    static func login(_ id: MPinID, user: String, status: Int) -> AuditEvent {
        AuditEvent(
            "login", Subject(identity: id.key, user: user), [("status", String(status))])
    }

    /// The RPA refused a registration with the HTTP status `status`.
    static func registrationRefused(_ id: MPinID, user: String, status: Int) -> AuditEvent {
        AuditEvent("registration-refused", Subject(identity: id.key, user: user), [("status", String(status))])
    }

    /// Somebody presented a wrong activation key.
    static func confirmationRefused(_ id: MPinID, user: String) -> AuditEvent {
        AuditEvent("confirmation-refused", Subject(identity: id.key, user: user))
    }

    /// Sums up the time permits since `since` that have no lines of their own. `strangers`: the number of permits for
    /// unregistered IDs. `repeated`: the number of further permits of an identity with the same outcome.
    static func permits(since: Moment, strangers: Int, repeated: Int) -> AuditEvent {
        AuditEvent(
            "permits", nil,
            [("since", since.iso), ("strangers", String(strangers)), ("repeated", String(repeated))])
    }

    /// A time permit was given (status 200) or refused.
    static func permit(_ id: MPinID, user: String, status: Int) -> AuditEvent {
        AuditEvent("permit", Subject(identity: id.key, user: user), [("status", String(status))])
    }

    /// A browser was logged in at the website, or logged out.
    static func webSession(begun: Bool, identity: String, user: String) -> AuditEvent {
        AuditEvent(begun ? "session-begun" : "session-ended", Subject(identity: identity, user: user))
    }

    /// The person at the browser declined a login by access number.
    static func webSessionDeclined(identity: String, user: String) -> AuditEvent {
        AuditEvent("session-declined", Subject(identity: identity, user: user))
    }

    /// The OpenID provider has issued tokens to a client (`tokens-granted`), or revoked them because a code or a
    /// refresh token was used twice (`tokens-revoked`). `login` is the user's login. Nil if it is not known any more.
    static func tokens(_ name: String, client: String, grant: String, _ login: UserLogin?) -> AuditEvent {
        let subject = login.map { Subject(identity: MPinID(hex: $0.mpinID)?.key ?? "", user: $0.userID) }
        return AuditEvent(name, subject, [("client", client), ("grant", grant)], isDurable: name == "tokens-revoked")
    }

    /// Wrong PINs have blocked an identity. `until`: when the block ends; nil if only the operator can end it.
    static func blocked(_ id: MPinID, user: String, until: Moment?) -> AuditEvent {
        AuditEvent(
            "blocked", Subject(identity: id.key, user: user), [("until", until?.iso ?? "unblocked")], isDurable: true)
    }

    /// A new master secret is in use at the RPS.
    static func keyInUse(_ keyID: String) -> AuditEvent { AuditEvent("key-in-use", nil, [("key_id", keyID)]) }

    /// The time permits of the D-TA `authority` are wrong, or are right again.
    static func permits(of authority: String, areRight: Bool) -> AuditEvent {
        AuditEvent(areRight ? "permits-right" : "permits-wrong", nil, [("authority", authority)], isDurable: true)
    }

    /// A D-TA gave out its share of the server secret.
    static func serverSecretShare(keyID: String) -> AuditEvent {
        AuditEvent("share", nil, [("of", "server-secret"), ("key_id", keyID)])
    }

    /// A D-TA gave out its share of a client secret. `hashID`: hex of the SHA-256 of the M-Pin ID.
    static func clientSecretShare(hashID: String, keyID: String) -> AuditEvent {
        AuditEvent("share", Subject(identity: hashID, user: ""), [("of", "client-secret"), ("key_id", keyID)])
    }

    /// A D-TA had no database, so it has made one with a new master share.
    static let shareMade = AuditEvent("share-made", isDurable: true)

    /// A D-TA has got a new master share. `database`: the name of its database.
    package static func rotated(at database: String, keyID: String, oldServedUntil: Moment) -> AuditEvent {
        AuditEvent(
            "rotated", nil, [("database", database), ("key_id", keyID), ("old_served_until", oldServedUntil.iso)],
            isDurable: true)
    }

    package static func unblocked(_ id: MPinID, user: String) -> AuditEvent {
        AuditEvent("unblocked", Subject(identity: id.key, user: user), isDurable: true)
    }

    package static func revoked(_ id: MPinID, user: String) -> AuditEvent {
        AuditEvent("revoked", Subject(identity: id.key, user: user), isDurable: true)
    }

    /// An operator has run a command about a user.
    package static func command(_ name: String, user: String) -> AuditEvent {
        AuditEvent("command", Subject(identity: "", user: user), [("command", name)], isDurable: true)
    }

    /// An operator has run a command; `details` tell what it did.
    package static func command(_ name: String, _ details: [(String, String)] = []) -> AuditEvent {
        AuditEvent("command", nil, [("command", name)] + details, isDurable: true)
    }
}
