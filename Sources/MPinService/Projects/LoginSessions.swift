import MPinSecrets
package import MPinStore

/// A browser of a project that waits for a phone (TRUST wire section 2.2).
package struct LoginSession: Codable, Storable, Equatable {
    package let projectID: String
    /// The user who is to log in; empty for any user.
    package let userID: String
    /// What the phone shows before it asks for the PIN: words of the project's page, which nobody has checked.
    package let description: String
    /// The longest description that is stored, in characters.
    private static let longestDescription = 256
    /// What the phone is to sign, in hex; empty if the session is for a login.
    package let hash: String
    /// Who has logged in; nil until then.
    package var login: String?
    /// The signature that the session waits for; nil until it is there.
    package var signature: Signature?
    /// When the phone's time ends.
    package var expires: Moment

    /// A signature with a right PIN.
    package struct Signature: Codable, Sendable, Equatable {
        /// What the page gets.
        package let text: String
        package let userID: String
    }

    package init(projectID: String, userID: String, description: String, hash: String = "") {
        self.projectID = projectID
        self.userID = userID
        self.description = Devices.shown(
            description.replacing(/\s+/, with: " "), longest: Self.longestDescription)
        self.hash = hash
        expires = Moment(microseconds: 0)
    }

    /// Whether an identity may log in the session: it is one of the project, and of the user that the session was opened
    /// for. `mpinID` is in hex.
    package func admits(_ mpinID: String, user: String) -> Bool {
        MPinID(hex: mpinID)?.projectID == projectID && (userID.isEmpty || userID == user)
    }
}

/// The sessions of the projects' browsers, by the name that phones read and by the browser's token.
struct LoginSessions: Sendable {
    private let table: Table<LoginSession>
    private let names: Table<String>

    init(in store: any Store) {
        table = Table("project_session", in: store)
        names = Table("project_session_name", in: store)
    }

    func add(
        _ session: LoginSession, wid: String, webOTT: String, until end: Moment, at now: Moment
    ) async throws {
        _ = try await table.create(wid, session, expires: end, at: now)
        _ = try await names.create(Self.key(webOTT), wid, expires: end, at: now)
    }

    func find(wid: String, at now: Moment) async throws -> LoginSession? { try await table.read(wid, at: now) }

    func find(webOTT: String, at now: Moment) async throws -> LoginSession? {
        guard let wid = try await names.read(Self.key(webOTT), at: now) else { return nil }
        return try await find(wid: wid, at: now)
    }

    /// Stores a signature. False if there is no such session, or it has another signature.
    func sign(_ wid: String, _ signature: LoginSession.Signature, at now: Moment) async throws -> Bool {
        try await table.update(wid, at: now, .volatile) { entry in
            guard let known = entry?.value else { return false }
            if known.signature == nil { entry?.value.signature = signature }
            return entry?.value.signature == signature
        }
    }

    func finish(webOTT: String, login: String, at now: Moment) async throws {
        guard let wid = try await names.read(Self.key(webOTT), at: now) else { return }
        try await table.update(wid, at: now, .volatile) { $0?.value.login = login }
    }

    private static func key(_ webOTT: String) -> String { Hex.encode(SHA256.hash(Array(webOTT.utf8))) }
}

extension ProjectService {
    /// How long after its end a session is remembered, so that its page still learns who has logged in.
    private static let memorySeconds = 300

    /// Opens a session: a browser of the project begins to wait for a phone. `place` is who has asked for it; nil if that is
    /// not known.
    package func openSession(
        _ session: LoginSession, from place: WaitingBrowser.Place?
    ) async throws -> AuthenticationService.OpenedBrowser {
        let browser = try await service.openBrowser(.code, place: place)
        let end = browser.begun.adding(seconds: browser.seconds + Self.memorySeconds)
        var session = session
        session.expires = browser.begun.adding(seconds: browser.seconds)
        try await sessions.add(session, wid: browser.wid, webOTT: browser.webOTT, until: end, at: browser.begun)
        return browser
    }

    /// Returns the user id that a user id on the project's wire means: it itself, if the project's back end has verified a
    /// user with it, or else that of the server's user of which it may be another spelling.
    package func userID(meant written: String, at project: Project) async throws -> String {
        let own = UserKey(UserID.normal(written), of: project.id)
        return try await service.devices.hasDevices(own, at: now)
            ? own.userID : try await service.user(meant: written)
    }

    /// Returns the session with the name `wid`. Nil if there is none, or it is not of a project.
    package func session(wid: String) async throws -> LoginSession? { try await sessions.find(wid: wid, at: now) }

    /// Returns the session of the browser with this token. Nil if there is none.
    package func session(webOTT: String) async throws -> LoginSession? {
        try await sessions.find(webOTT: webOTT, at: now)
    }

    /// Notes who has logged in to the session of the browser with this token.
    package func finishSession(webOTT: String, login: String) async throws {
        try await sessions.finish(webOTT: webOTT, login: login, at: now)
    }
}
