import MPinOpenID
import MPinService
package import MPinStore

/// The commands of `mpind session`: they list and end the browser sessions of the OpenID provider in the database, also
/// while a server uses it. That server tells the clients of the ended sessions; if none runs, the next one does.
package struct SessionAdministration: Sendable {
    /// A browser session, as the commands print it.
    package struct Entry: Sendable, Encodable {
        /// The session's id, also in tokens (claim `sid`).
        package let id: String
        package let user: String
        /// Hex of the SHA-256 of the M-Pin ID of the login, as in the audit log.
        package let identity: String
        package let begun: String
        /// When a client was last opened with the session.
        package let used: String
        /// When it ends if it is not used until then.
        package let ends: String
        /// `active`, or `idle`: nobody has used it for so long that it opens no more clients. Its clients may still have
        /// sessions of their own.
        package let state: String
        /// The clients that were opened with the session.
        package let clients: [String]

        init(_ session: BrowserSession, at now: Moment) {
            id = session.id
            user = session.login.user.shown
            identity = MPinID(hex: session.login.mpinID)?.key ?? ""
            begun = session.begun.iso
            used = session.used.iso
            ends = session.idleEnds.iso
            state = session.isLive(at: now) ? "active" : "idle"
            clients = session.clients
        }
    }

    /// A logout, as the commands print it.
    package struct Ended: Sendable, Encodable {
        /// The id of the session. Nil if refresh tokens that outlive sessions were revoked.
        package let session: String?
        package let user: String
        /// The clients that are told, if they have a `backchannel-logout-uri`.
        package let clients: [String]
    }

    private let sessions: BrowserSessions
    private let logouts: Logouts
    private let devices: Devices
    private let audit: Audit
    private let clock: Clock

    package init(database: ServiceDatabase, audit: Audit, clock: @escaping Clock = Moment.now) async throws {
        self.init(in: try await database.open(), audit: audit, clock: clock)
    }

    init(in store: any Store, audit: Audit, clock: @escaping Clock) {
        sessions = BrowserSessions(in: store)
        logouts = Logouts(in: store)
        devices = Devices(in: store)
        self.audit = audit
        self.clock = clock
    }

    /// Returns all sessions, or those of one user, the newest first.
    package func list(user: String?) async throws -> [Entry] {
        audit.record(user.map { .command("session list", user: $0) } ?? .command("session list"))
        let now = clock()
        var found: [BrowserSession] = []
        if let user {
            found = try await sessions.sessions(of: devices.user(named: user, at: now).text, at: now)
        } else {
            found = try await sessions.all(at: now)
        }
        return found.sorted { $0.begun > $1.begun }.map { Entry($0, at: now) }
    }

    /// Returns at most `limit` sessions of all users, in the order of their ids, those that come after `id`.
    func page(after id: String?, limit: Int) async throws -> [Entry] {
        audit.record(.command("session list"))
        let now = clock()
        return try await sessions.page(after: id, limit: limit, at: now).map { Entry($0, at: now) }
    }

    /// Ends one session. Nil if there is no session with this id.
    package func end(_ id: String) async throws -> Ended? {
        audit.record(.command("session end", [("session", id)]))
        return try await logouts.end(id, at: clock()).map(ended)
    }

    /// Ends all sessions of a user. `isEverywhere`: also revokes the tokens that outlive sessions.
    package func end(user: String, isEverywhere: Bool) async throws -> [Ended] {
        audit.record(.command("session end", user: user))
        let key = try await devices.user(named: user, at: clock()).text
        return try await logouts.end(ofUser: key, isEverywhere: isEverywhere, at: clock()).map(ended)
    }

    /// Ends the sessions of all users.
    package func endAll() async throws -> [Ended] {
        audit.record(.command("session end", [("sessions", "all")]))
        var all: [Ended] = []
        for session in try await sessions.all(at: clock()) {
            if let notice = try await logouts.end(session.id, at: clock()) { all.append(ended(notice)) }
        }
        return all
    }

    private func ended(_ notice: LogoutNotice) -> Ended {
        audit.record(.loggedOut(notice, by: .anOperator))
        return Ended(session: notice.sessionID, user: UserKey(text: notice.userID).shown, clients: notice.clients)
    }
}
