import Hummingbird
import MPinSecrets
import MPinService
import MPinStore

/// The session of a user who is logged in with a browser.
struct WebSession: Codable, Storable {
    var userID: String
    /// Hex of the M-Pin ID of the login.
    var mpinID: String
    var since: Moment
    var expires: Moment

    /// The identity's name in the audit log.
    var identity: String { MPinID(hex: mpinID)?.key ?? "" }
}

/// The sessions of the website, which the server keeps. A browser has only a random id in a cookie, and the store only
/// the hash of that id.
struct WebSessions: Sendable {
    private let sessions: Table<WebSession>
    /// Sessions that begin only if the person at the browser accepts the login.
    private let proposed: Table<WebSession>
    private let key: SecretBytes
    private let isSecure: Bool
    private let seconds: Int
    private let proposalSeconds: Int
    private let audit: Audit

    /// Makes the sessions of a website. `key` signs the tokens that are derived from an id. `isSecure`: whether
    /// browsers use https.
    init(in store: any Store, key: SecretBytes, isSecure: Bool, limits: Limits, audit: Audit) {
        sessions = Table("web_session", in: store)
        proposed = Table("proposed_session", in: store)
        self.key = key
        self.isSecure = isSecure
        seconds = limits.webSessionSeconds
        proposalSeconds = limits.proposalSeconds
        self.audit = audit
    }

    /// The session with this id; nil if there is none.
    func session(_ id: WebSessionID?, at now: Moment) async throws -> WebSession? {
        guard let id else { return nil }
        return try await sessions.read(id.key, at: now)
    }

    /// Logs a user in. The id must be new.
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

    /// The token with which a phone can end the session, and do nothing else: 128 hex digits.
    func logoutToken(_ id: WebSessionID) -> String {
        id.key + SignedMessage.logout(session: id.key).signature(key: key)
    }

    /// Ends the session that the token is for, whether it has begun or is only proposed. True also if it no longer
    /// exists. False if this server did not make the token, or the session is another user's.
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

    /// The token that this site puts into each form for the browser with this id: 64 hex digits. A form that another
    /// site has made does not contain it and is refused.
    func formToken(_ id: WebSessionID) -> String { SignedMessage.form(session: id.key).signature(key: key) }

    func isFormToken(_ token: String, of id: WebSessionID) -> Bool {
        SignedMessage.form(session: id.key).isSigned(token, key: key)
    }
}

/// Sessions that wait for a person's answer.
extension WebSessions {
    /// Stores a login until the person at the browser has accepted or declined it. The id must be new.
    func propose(_ id: WebSessionID, userID: String, mpinID: String, at now: Moment) async throws {
        let expires = now.adding(seconds: proposalSeconds)
        let session = WebSession(userID: userID, mpinID: mpinID, since: now, expires: expires)
        _ = try await proposed.create(id.key, session, expires: expires, at: now)
    }

    func proposal(_ id: WebSessionID, at now: Moment) async throws -> WebSession? {
        try await proposed.read(id.key, at: now)
    }

    /// Begins the proposed session. False if it does not exist any more.
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

/// The cookies of the browsers.
extension WebSessions {
    /// The name of the cookie with the session's id. Browsers accept a name that begins with `__Host-` only over https,
    /// and only from this host.
    private var cookieName: String { isSecure ? "__Host-mpin" : "mpin" }
    /// The name of the cookie with the id of a proposed session. Until that session begins, the browser keeps the
    /// cookie of its current one.
    private var proposalCookieName: String { cookieName + "-login" }

    /// The id in the browser's cookie. A browser that is not logged in may have one, too.
    func id(_ request: Request) -> WebSessionID? { request.cookies[cookieName].flatMap { WebSessionID($0.value) } }

    /// Gives the browser an id in a cookie that lasts for `seconds`, or, if that is nil, until the browser is closed.
    func give(_ id: WebSessionID, seconds: Int?, to response: inout Response) {
        response.setCookie(
            Cookie(
                name: cookieName, value: id.text, maxAge: seconds, path: "/", secure: isSecure, httpOnly: true,
                // With `strict`, a browser that follows the link in a mail would not send its cookie and would get a
                // new one.
                sameSite: .lax))
    }

    func giveSession(_ id: WebSessionID, to response: inout Response) { give(id, seconds: seconds, to: &response) }

    func forget(in response: inout Response) { forget(cookieName, .lax, in: &response) }

    /// The id of the session that is proposed to this browser, from its cookie. Nil if there is none.
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

/// 32 random bytes that identify a browser.
struct WebSessionID: Sendable {
    /// The id in 64 lower-case hex digits.
    let text: String

    /// Hex of the SHA-256 of ``text``. The store and the signatures contain only this.
    var key: String { Hex.encode(SHA256.hash(Array(text.utf8))) }

    static func random() throws -> WebSessionID { WebSessionID(unchecked: Hex.encode(try randomBytes(32))) }

    /// Reads an id; nil if the text is not 64 hex digits.
    init?(_ text: String) {
        guard Hex.decode(text)?.count == 32 else { return nil }
        self.text = text
    }

    private init(unchecked text: String) { self.text = text }
}
