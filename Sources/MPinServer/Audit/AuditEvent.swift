package import MPinOpenID
import MPinSecrets
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
        /// The project of the identity. Nil if it has none or is unknown, because anybody can invent an M-Pin ID.
        var project: String?
        /// The project whose back end has verified the user. Nil if the server itself has.
        let verifiedBy: String?

        /// `user` is ``UserKey/text``.
        init(identity: String, user: String) {
            let key = UserKey(text: user)
            self.identity = identity
            self.user = key.userID
            verifiedBy = key.project
        }

        init(_ id: MPinID, user: String) {
            self.init(identity: id.key, user: user)
            if !user.isEmpty, id.bytes.starts(with: Self.beginning) { project = id.projectID }
        }

        /// How an M-Pin ID of version 5 begins. Others have no project, and are not decoded for each line.
        private static let beginning = Array(#"{"iat":"#.utf8)
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
        self.details =
            details + (subject?.project.map { [("project", $0)] } ?? [])
            + (subject?.verifiedBy.map { [("verified_by", $0)] } ?? [])
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
            "registration-started", Subject(id, user: user), [("restart", String(isRestart))])
    }

    static func registrationConfirmed(_ id: MPinID, user: String) -> AuditEvent {
        AuditEvent("registration-confirmed", Subject(id, user: user))
    }

    /// Somebody has deleted an unfinished registration by the link in the activation mail.
    static func registrationDeleted(_ id: MPinID, user: String) -> AuditEvent {
        AuditEvent("registration-deleted", Subject(id, user: user))
    }

    /// The client secret shares were handed out, so the identity is registered. The line has the hash from which D-TAs make
    /// the shares, by which ``AuditComparison`` finds theirs.
    static func registered(_ id: MPinID, user: String, keyID: String, secretHash: [UInt8]) -> AuditEvent {
        AuditEvent(
            "registered", Subject(id, user: user), [("key_id", keyID), ("hash", Hex.encode(secretHash))])
    }

    /// A device has made a QuickCode, with which its user can register another device.
    static func quickCodeMade(_ id: MPinID, user: String) -> AuditEvent {
        AuditEvent("quickcode-made", Subject(id, user: user))
    }

    /// An identity was renewed, so it can never log in again.
    static func renewed(_ id: MPinID, user: String, by successor: MPinID) -> AuditEvent {
        AuditEvent(
            "renewed", Subject(id, user: user), [("successor", successor.key)], isDurable: true)
    }

    /// An identity that was a user's of the server was found to be of a user of a project.
    static func userMoved(_ id: MPinID, user: String, isGuess: Bool) -> AuditEvent {
        AuditEvent("user-moved", Subject(id, user: user), [("guess", String(isGuess))], isDurable: true)
    }

    /// A project's back end has verified its user.
    static func userVerified(_ user: String, project: String) -> AuditEvent {
        AuditEvent("user-verified", Subject(identity: "", user: user), [("project", project)])
    }

    /// A push asks a user to log in.
    static func pushed(_ user: String, project: String) -> AuditEvent {
        AuditEvent("pushed", Subject(identity: "", user: user), [("project", project)])
    }

    /// Somebody has called an endpoint for back ends without the credentials of a project. `route` is its path as a
    /// template, because the path itself may have an M-Pin ID.
    static func backEndRefused(_ route: String) -> AuditEvent {
        AuditEvent("back-end-refused", nil, [("route", route)])
    }

    /// A login has ended. `status`: the status of its ``Verdict``; 503 if that could not be kept.
    static func login(_ id: MPinID, user: String, status: Int) -> AuditEvent {
        AuditEvent(
            "login", Subject(id, user: user), [("status", String(status))])
    }

    /// A signature was judged. `status`: the status of its ``Verdict``.
    static func signature(_ id: MPinID, user: String, status: Int) -> AuditEvent {
        AuditEvent("signature", Subject(id, user: user), [("status", String(status))])
    }

    /// The RPA refused a registration with the HTTP status `status`.
    static func registrationRefused(_ id: MPinID, user: String, status: Int) -> AuditEvent {
        AuditEvent("registration-refused", Subject(id, user: user), [("status", String(status))])
    }

    /// Somebody presented a wrong activation key.
    static func confirmationRefused(_ id: MPinID, user: String) -> AuditEvent {
        AuditEvent("confirmation-refused", Subject(id, user: user))
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
        AuditEvent("permit", Subject(id, user: user), [("status", String(status))])
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

    /// Somebody asked the admin API for an operation without a valid token.
    static func adminRefused(_ operation: String) -> AuditEvent {
        AuditEvent("admin-refused", nil, [("operation", operation)])
    }

    /// A program asked whether the one-time password of a user is right.
    static func passwordChecked(user: String, isRight: Bool) -> AuditEvent {
        AuditEvent("otp-checked", Subject(identity: "", user: user), [("right", String(isRight))])
    }

    /// A browser session of the OpenID provider was ended (`session-ended`), or the tokens of a user that outlive sessions
    /// were revoked (`tokens-revoked`). `cause` says by whom.
    package static func loggedOut(_ notice: LogoutNotice, by cause: LogoutCause) -> AuditEvent {
        let name = notice.sessionID == nil ? "tokens-revoked" : "session-ended"
        return AuditEvent(name, subject(notice), [("by", cause.rawValue)], isDurable: notice.sessionID == nil)
    }

    /// A client has not accepted any logout token, so its users may still be logged in there.
    static func clientNotTold(_ client: String, _ notice: LogoutNotice) -> AuditEvent {
        AuditEvent("client-not-told", subject(notice), [("client", client)])
    }

    private static func subject(_ notice: LogoutNotice) -> Subject {
        Subject(identity: MPinID(hex: notice.mpinID)?.key ?? "", user: notice.userID)
    }

    /// Something has happened to the profile of a user: `profile-changed` or `email-verified`. `members`: what was
    /// changed. `by`: `user` or `operator`.
    static func profile(_ name: String, user: String, members: [String] = [], by actor: String) -> AuditEvent {
        let changed = members.isEmpty ? [] : [("members", members.joined(separator: " "))]
        return AuditEvent(name, Subject(identity: "", user: user), changed + [("by", actor)], isDurable: true)
    }

    /// The user has withdrawn the consent to a client.
    static func consentWithdrawn(user: String, client: String) -> AuditEvent {
        AuditEvent("consent-withdrawn", Subject(identity: "", user: user), [("client", client)], isDurable: true)
    }

    /// A client of the OpenID provider has revoked its tokens.
    static func tokensRevoked(by client: String, _ login: UserLogin) -> AuditEvent {
        let subject = Subject(identity: MPinID(hex: login.mpinID)?.key ?? "", user: login.userID)
        return AuditEvent("tokens-revoked", subject, [("client", client), ("by", "client")], isDurable: true)
    }

    /// A user has logged in to a client of the OpenID provider without being one of those who may use it.
    static func noAccess(to client: String, _ login: UserLogin) -> AuditEvent {
        let subject = Subject(identity: MPinID(hex: login.mpinID)?.key ?? "", user: login.userID)
        return AuditEvent("access-denied", subject, [("client", client)])
    }

    /// The OpenID provider has refused a client's request, because of a wrong secret, code or token, or because the
    /// client may not have what it asks for. `client`: its id, right or wrong; empty if the request names none.
    static func tokensRefused(client: String, error: String) -> AuditEvent {
        AuditEvent("tokens-refused", nil, [("client", client), ("error", error)])
    }

    /// Wrong PINs, or the operator, have blocked an identity. `until`: when the block ends; nil if only the operator
    /// can end it.
    static func blocked(_ id: MPinID, user: String, until: Moment?) -> AuditEvent {
        AuditEvent(
            "blocked", Subject(id, user: user), [("until", until?.iso ?? "unblocked")], isDurable: true)
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

    /// A D-TA gave out its share of a client secret. `hash` (32 bytes) is what the D-TA has multiplied. `identity`: hex of the
    /// SHA-256 of the M-Pin ID, as the RPS says.
    static func clientSecretShare(of hash: [UInt8], identity: String, keyID: String) -> AuditEvent {
        AuditEvent(
            "share", Subject(identity: identity, user: ""),
            [("of", "client-secret"), ("key_id", keyID), ("hash", Hex.encode(hash))])
    }

    /// A D-TA had no database, so it has made one with a new master share.
    static let shareMade = AuditEvent("share-made", isDurable: true)

    /// A D-TA has got a new master share. `database`: the name of its database.
    package static func rotated(at database: String, keyID: String, oldServedUntil: Moment) -> AuditEvent {
        AuditEvent(
            "rotated", nil, [("database", database), ("key_id", keyID), ("old_served_until", oldServedUntil.iso)],
            isDurable: true)
    }

    /// The operator has suspended a user. `identity`: the ``MPinID/key`` of one of the user's identities, each of which has a
    /// line; empty if there are none.
    static func suspended(identity: String, _ suspension: Suspension) -> AuditEvent {
        AuditEvent(
            "suspended", Subject(identity: identity, user: suspension.user),
            [("reason", suspension.reason), ("by", suspension.by), ("until", suspension.until?.iso ?? "resumed")],
            isDurable: true)
    }

    /// The operator has ended the suspension of a user.
    static func resumed(identity: String, user: String) -> AuditEvent {
        AuditEvent("resumed", Subject(identity: identity, user: user), isDurable: true)
    }

    package static func unblocked(_ id: MPinID, user: String) -> AuditEvent {
        AuditEvent("unblocked", Subject(id, user: user), isDurable: true)
    }

    /// The operator wants the device to renew its secret at its next login.
    package static func renewalWanted(_ id: MPinID, user: String) -> AuditEvent {
        AuditEvent("renewal-wanted", Subject(id, user: user), isDurable: true)
    }

    /// An identity can never log in again. `reason` is what a project's back end has given for it.
    package static func revoked(_ id: MPinID, user: String, reason: String? = nil) -> AuditEvent {
        AuditEvent("revoked", Subject(id, user: user), reason.map { [("reason", $0)] } ?? [], isDurable: true)
    }

    /// An identity was deleted with its user. `identity`: hex of the SHA-256 of its M-Pin ID.
    static func deleted(identity: String, user: String) -> AuditEvent {
        AuditEvent("deleted", Subject(identity: identity, user: user), isDurable: true)
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
