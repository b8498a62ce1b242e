import MPinOpenID
package import MPinService
package import MPinStore

/// Something that an operator may have to prove later. No event holds a secret.
package struct AuditEvent: Sendable {
    /// Who it is about.
    struct Subject: Sendable {
        /// Hex of the SHA-256 of the M-Pin ID: which of the user's devices.
        let identity: String
        /// Written plain or hashed, as configured; empty for an unknown identity.
        let user: String
    }

    let name: String
    var subject: Subject?
    /// Further members of the line.
    var details: [(String, String)] = []
    /// Whether it goes to the disk before the program goes on; the end of the process loses none.
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

    /// Whoever has the mail's link has deleted it.
    static func registrationDeleted(_ id: MPinID, user: String) -> AuditEvent {
        AuditEvent("registration-deleted", Subject(identity: id.key, user: user))
    }

    /// The client secret shares were handed out.
    static func registered(_ id: MPinID, user: String, keyID: String) -> AuditEvent {
        AuditEvent("registered", Subject(identity: id.key, user: user), [("key_id", keyID)])
    }

    /// What a login came to, as the status that its one-time token stands for (``Verdict``).
    static func login(_ id: MPinID, user: String, status: Int) -> AuditEvent {
        AuditEvent(
            "login", Subject(identity: id.key, user: user), [("status", String(status))])
    }

    /// The RPA did not let the user register, as `status`.
    static func registrationRefused(_ id: MPinID, user: String, status: Int) -> AuditEvent {
        AuditEvent("registration-refused", Subject(identity: id.key, user: user), [("status", String(status))])
    }

    /// Somebody brought a wrong activation key.
    static func confirmationRefused(_ id: MPinID, user: String) -> AuditEvent {
        AuditEvent("confirmation-refused", Subject(identity: id.key, user: user))
    }

    /// Permits since then that have no line of their own: those of strangers, who get one that is good for nothing, and
    /// further ones of the same identity with the same outcome.
    static func permits(since: Moment, strangers: Int, repeated: Int) -> AuditEvent {
        AuditEvent(
            "permits", nil,
            [("since", since.iso), ("strangers", String(strangers)), ("repeated", String(repeated))])
    }

    /// Whether a time permit was given: 200, or why not.
    static func permit(_ id: MPinID, user: String, status: Int) -> AuditEvent {
        AuditEvent("permit", Subject(identity: id.key, user: user), [("status", String(status))])
    }

    /// A browser was logged in at the website, or logged out.
    static func webSession(begun: Bool, identity: String, user: String) -> AuditEvent {
        AuditEvent(begun ? "session-begun" : "session-ended", Subject(identity: identity, user: user))
    }

    /// A login by access number of which the person at the browser said that it is not theirs.
    static func webSessionDeclined(identity: String, user: String) -> AuditEvent {
        AuditEvent("session-declined", Subject(identity: identity, user: user))
    }

    /// A client got tokens for a login of that user, or lost them because a code or token was used twice.
    static func tokens(_ name: String, client: String, grant: String, _ login: UserLogin?) -> AuditEvent {
        let subject = login.map { Subject(identity: MPinID(hex: $0.mpinID)?.key ?? "", user: $0.userID) }
        return AuditEvent(name, subject, [("client", client), ("grant", grant)], isDurable: name == "tokens-revoked")
    }

    /// The wrong PIN that reached the limit; nil: for good.
    static func blocked(_ id: MPinID, user: String, until: Moment?) -> AuditEvent {
        AuditEvent(
            "blocked", Subject(identity: id.key, user: user), [("until", until?.iso ?? "unblocked")], isDurable: true)
    }

    /// A new master secret is in use at the RPS.
    static func keyInUse(_ keyID: String) -> AuditEvent { AuditEvent("key-in-use", nil, [("key_id", keyID)]) }

    /// The time permits of that D-TA open nothing, or do so again.
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

    /// A D-TA had no database and has made one, with a first master share.
    static let shareMade = AuditEvent("share-made", isDurable: true)

    /// A new master share at a D-TA: the name of its database.
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

    /// An operator has looked at a user.
    package static func command(_ name: String, user: String) -> AuditEvent {
        AuditEvent("command", Subject(identity: "", user: user), [("command", name)], isDurable: true)
    }

    /// Any other command of an operator, with what it did.
    package static func command(_ name: String, _ details: [(String, String)] = []) -> AuditEvent {
        AuditEvent("command", nil, [("command", name)] + details, isDurable: true)
    }
}
