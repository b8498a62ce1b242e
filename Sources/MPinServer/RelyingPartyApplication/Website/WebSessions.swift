import Hummingbird
import MPinSecrets
import MPinService
import MPinStore

/// Somebody who is logged in with a browser.
struct WebSession: Codable, Storable {
    var userID: String
    /// Hex of the M-Pin ID that was logged in with.
    var mpinID: String
    var since: Moment
    var expires: Moment

    /// Its name in the audit log.
    var identity: String { MPinID(hex: mpinID)?.key ?? "" }
}

/// The sessions of the website, kept by the server: a browser has nothing but a random id in a cookie, and the store has
/// nothing but the hash of it.
struct WebSessions: Sendable {
    private let sessions: Table<WebSession>
    /// Those that begin only when a person at the browser says so.
    private let proposed: Table<WebSession>
    private let key: SecretBytes
    private let isSecure: Bool
    private let seconds: Int
    private let proposalSeconds: Int
    private let audit: Audit

    /// `key` signs what is derived from an id; `isSecure`: browsers come over https.
    init(in store: any Store, key: SecretBytes, isSecure: Bool, limits: Limits, audit: Audit) {
        sessions = Table("web_session", in: store)
        proposed = Table("proposed_session", in: store)
        self.key = key
        self.isSecure = isSecure
        seconds = limits.webSessionSeconds
        proposalSeconds = limits.proposalSeconds
        self.audit = audit
    }

    /// Who is logged in with this id.
    func session(_ id: WebSessionID?, at now: Moment) async throws -> WebSession? {
        guard let id else { return nil }
        return try await sessions.read(id.key, at: now)
    }

    /// Logs a user in. The id is one that no browser had before this login.
    func start(_ id: WebSessionID, userID: String, mpinID: String, at now: Moment) async throws {
        let expires = now.adding(seconds: seconds)
        let session = WebSession(userID: userID, mpinID: mpinID, since: now, expires: expires)
        _ = try await sessions.create(id.key, session, expires: expires, at: now)
        audit.record(.webSession(begun: true, identity: session.identity, user: userID))
    }

    func end(_ id: WebSessionID, at now: Moment) async throws { try await end(id.key, at: now) }

    private func end(_ name: String, at now: Moment) async throws {
        guard let session = try await sessions.take(name, at: now) else { return }
        audit.record(.webSession(begun: false, identity: session.identity, user: session.userID))
    }

    /// What lets a phone end the session, and do nothing else with it: 128 hex digits.
    func logoutToken(_ id: WebSessionID) -> String {
        id.key + SignedMessage.logout(session: id.key).signature(key: key)
    }

    /// Ends the session that the token was made for, proposed or begun; one that is over stays so. False when this server
    /// never made the token, or the session is not that user's.
    func end(logoutToken token: String, userID: String?, at now: Moment) async throws -> Bool {
        let name = String(token.prefix(64))
        guard SignedMessage.logout(session: name).isSigned(String(token.dropFirst(64)), key: key) else { return false }
        for table in [proposed, sessions] {
            guard let session = try await table.read(name, at: now) else { continue }
            guard userID ?? session.userID == session.userID else { return false }
        }
        _ = try await proposed.take(name, at: now)
        try await end(name, at: now)
        return true
    }

    /// The token of every form that is shown to the browser with this id: 64 hex digits.
    func formToken(_ id: WebSessionID) -> String { SignedMessage.form(session: id.key).signature(key: key) }

    func isFormToken(_ token: String, of id: WebSessionID) -> Bool {
        SignedMessage.form(session: id.key).isSigned(token, key: key)
    }
}

/// Sessions that wait for a person's word.
extension WebSessions {
    /// Keeps a login until the person at the browser has said whether it is theirs. The id is one that no browser had
    /// before.
    func propose(_ id: WebSessionID, userID: String, mpinID: String, at now: Moment) async throws {
        let expires = now.adding(seconds: proposalSeconds)
        let session = WebSession(userID: userID, mpinID: mpinID, since: now, expires: expires)
        _ = try await proposed.create(id.key, session, expires: expires, at: now)
    }

    func proposal(_ id: WebSessionID, at now: Moment) async throws -> WebSession? {
        try await proposed.read(id.key, at: now)
    }

    /// Begins the session; false when nothing waits any more.
    func accept(_ id: WebSessionID, at now: Moment) async throws -> Bool {
        guard let session = try await proposed.take(id.key, at: now) else { return false }
        try await start(id, userID: session.userID, mpinID: session.mpinID, at: now)
        return true
    }

    func decline(_ id: WebSessionID, at now: Moment) async throws {
        guard let session = try await proposed.take(id.key, at: now) else { return }
        audit.record(.webSessionDeclined(identity: session.identity, user: session.userID))
    }
}

/// A browser's cookies.
extension WebSessions {
    /// Browsers take the longer name over https only, and from this host only.
    private var cookieName: String { isSecure ? "__Host-mpin" : "mpin" }
    /// Of a session that is proposed: until it begins, the browser keeps the one that it has.
    private var proposalCookieName: String { cookieName + "-login" }

    /// The id that the browser has, logged in or not.
    func id(_ request: Request) -> WebSessionID? { request.cookies[cookieName].flatMap { WebSessionID($0.value) } }

    /// Gives the browser an id: for the time of a session, or, where `seconds` is nil, until it is closed.
    func give(_ id: WebSessionID, seconds: Int?, to response: inout Response) {
        response.setCookie(
            Cookie(
                name: cookieName, value: id.text, maxAge: seconds, path: "/", secure: isSecure, httpOnly: true,
                // Not strict: who comes from the link in a mail would be a stranger, and get a new cookie.
                sameSite: .lax))
    }

    func giveSession(_ id: WebSessionID, to response: inout Response) { give(id, seconds: seconds, to: &response) }

    func forget(in response: inout Response) { forget(cookieName, .lax, in: &response) }

    /// The id of the session that is proposed to the browser.
    func proposalID(_ request: Request) -> WebSessionID? {
        request.cookies[proposalCookieName].flatMap { WebSessionID($0.value) }
    }

    func giveProposal(_ id: WebSessionID, to response: inout Response) {
        response.setCookie(
            Cookie(
                name: proposalCookieName, value: id.text, maxAge: proposalSeconds, path: "/", secure: isSecure,
                httpOnly: true, sameSite: .strict))
    }

    func forgetProposal(in response: inout Response) { forget(proposalCookieName, .strict, in: &response) }

    private func forget(_ name: String, _ sameSite: Cookie.SameSite, in response: inout Response) {
        response.setCookie(
            Cookie(
                name: name, value: "", maxAge: 0, path: "/", secure: isSecure, httpOnly: true, sameSite: sameSite))
    }
}

/// 32 random bytes that name a browser.
struct WebSessionID: Sendable {
    /// 64 lower-case hex digits.
    let text: String

    /// Hex of the SHA-256 of ``text``: what the store and the signatures see of it.
    var key: String { Hex.encode(SHA256.hash(Array(text.utf8))) }

    static func random() throws -> WebSessionID { WebSessionID(unchecked: Hex.encode(try randomBytes(32))) }

    /// Nil for anything that is no such id.
    init?(_ text: String) {
        guard Hex.decode(text)?.count == 32 else { return nil }
        self.text = text
    }

    private init(unchecked text: String) { self.text = text }
}
