package import MPinStore

/// A browser session: the browser's user has logged in here, so the next client can log the user in without a PIN.
package struct BrowserSession: Sendable, Equatable, Codable, PackedItem {
    /// The session's name in tokens (claim `sid`): 43 characters. It stays the same when the user enters the PIN again
    /// in the same browser, because clients that were opened before know this name.
    package let id: String
    package fileprivate(set) var login: UserLogin
    /// When the user first logged in.
    package let begun: Moment
    /// When a client was last opened with the session.
    package fileprivate(set) var used: Moment
    /// When the session ends, even if it is used.
    package fileprivate(set) var ends: Moment
    /// The ids of the clients that were opened with the session, which must be told of its end.
    package fileprivate(set) var clients: [String]
    /// The hash of the secret half of the browser's cookie.
    fileprivate var secretKey: String

    /// Whether the session opens clients. If it is not used for an hour it does not, but it is remembered, because its
    /// clients must be told if the user logs out later.
    package func isLive(at now: Moment) -> Bool { now < idleEnds && now < ends }

    /// When the session ends if it is not used.
    package var idleEnds: Moment { min(ends, used.adding(seconds: BrowserSessions.idle)) }

    /// When the session is forgotten. A code that was issued at its last moment can still be redeemed before that.
    fileprivate var forgotten: Moment { ends.adding(seconds: BrowserSessions.memory) }

    fileprivate mutating func open(_ clientID: String?, at now: Moment) {
        used = now
        if let clientID, !clients.contains(clientID) { clients.append(clientID) }
    }
}

extension BrowserSession {
    package init(packed members: inout Unpacker) throws {
        id = try members.text()
        login = try members.value()
        begun = try members.moment()
        used = try members.moment()
        ends = try members.moment()
        clients = try members.texts()
        secretKey = try members.text()
    }

    package func pack(into members: inout Packer) throws {
        members.put(id)
        try members.put(login)
        for moment in [begun, used, ends] { members.put(moment) }
        members.put(clients)
        members.put(secretKey)
    }
}

/// The browser sessions.
package struct BrowserSessions: Sendable {
    /// For how many seconds a session lasts, even if it is used.
    package static let lifetime = 10 * 3600
    /// For how many seconds a session lasts without being used.
    package static let idle = 3600
    /// For how many seconds a session is remembered after its end.
    fileprivate static let memory = 3600
    /// The value under a phone's key if the phone has ended the session before it began.
    private static let endedEarly = ""

    private let table: Table<BrowserSession>
    private let ofUsers: OwnedNames
    /// The ids of sessions, by the keys with which phones end them.
    private let ofPhones: Table<String>

    package init(in store: any Store) {
        table = Table("oidc_session", in: store)
        ofUsers = OwnedNames("oidc_user_session", in: store)
        ofPhones = Table("oidc_phone_session", in: store)
    }

    func key(_ id: String) -> ItemKey { table.key(id) }

    /// Begins a session for a user who has entered a PIN, and returns it with its cookie. If the browser's cookie `old`
    /// is of a session of the same user, that session goes on. In any case the secret half of the cookie is new,
    /// because somebody else may have put the old one into the browser.
    ///
    /// `clientID` is the client that the user logs in to. Nil if it is the account page. With `phoneKey`, the phone can
    /// end the session; nil is returned if it has done so already.
    package func begin(
        _ login: UserLogin, for clientID: String? = nil, replacing old: SessionCookie? = nil, phoneKey: String? = nil,
        at now: Moment
    ) async throws -> (SessionCookie, BrowserSession)? {
        let (secret, new) = (try OpaqueToken.random(), try OpaqueToken.randomName().text)
        let (owner, table, ofUsers) = (OwnedNames.owner(ofUser: login.userID), table, ofUsers)
        let phone = phoneKey.map { ofPhones.key($0) }
        let ids = [new] + (old.map { [$0.id] } ?? [])
        let keys = ids.flatMap { [table.key($0), ofUsers.key($0, of: owner)] } + (phone.map { [$0] } ?? [])
        let begun = try await table.store.transaction(keys, at: now, .ordered) { items -> BrowserSession? in
            let kept = try old.flatMap { try Self.session($0, of: login, secret, in: &items[table.key($0.id)]) }
            var session =
                kept
                ?? BrowserSession(
                    id: new, login: login, begun: now, used: now, ends: now, clients: [], secretKey: "")
            session.login = login
            session.secretKey = secret.key
            session.ends = now.adding(seconds: Self.lifetime)
            session.open(clientID, at: now)
            if let phone, try !Self.bind(phone, to: session, in: &items) { return nil }
            let end = session.forgotten
            try OwnedNames.add(ofUsers.key(session.id, of: owner), until: end, in: &items)
            let entry = Table<BrowserSession>.Entry(session, expires: end)
            try Table<BrowserSession>.change(&items[table.key(session.id)]) { $0 = entry }
            return session
        }
        return begun.map { (SessionCookie(id: $0.id, secret: secret), $0) }
    }

    /// Returns the session of the cookie `old` if it is of the same user. If this transaction runs again, the session
    /// already has the new secret.
    private static func session(
        _ old: SessionCookie, of login: UserLogin, _ secret: OpaqueToken, in item: inout StoredItem?
    ) throws -> BrowserSession? {
        try Table<BrowserSession>.change(&item) { entry in
            guard let session = entry?.value, session.login.userID == login.userID,
                [old.secretKey, secret.key].contains(session.secretKey)
            else { return nil }
            return session
        }
    }

    /// Lets the phone with this key end the session. Returns false if it has done so already.
    private static func bind(_ phone: ItemKey, to session: BrowserSession, in items: inout Items) throws -> Bool {
        try Table<String>.change(&items[phone]) { entry in
            guard entry?.value != endedEarly else { return false }
            entry = .init(session.id, expires: session.forgotten)
            return true
        }
    }

    /// Returns the session that a browser's cookie opens clients with. Nil if there is none.
    package func session(_ cookie: SessionCookie, at now: Moment) async throws -> BrowserSession? {
        guard let session = try await remembered(cookie, at: now), session.isLive(at: now) else { return nil }
        return session
    }

    /// Returns the session of a browser's cookie, also if it has ended because nobody used it.
    package func remembered(_ cookie: SessionCookie, at now: Moment) async throws -> BrowserSession? {
        guard let session = try await find(cookie.id, at: now), session.secretKey == cookie.secretKey else {
            return nil
        }
        return session
    }

    /// Returns the session with this id, also if it has ended because nobody used it.
    package func find(_ id: String, at now: Moment) async throws -> BrowserSession? {
        try await table.read(id, at: now)
    }

    /// Returns the session with this id. Nil if it has ended.
    func live(_ id: String, at now: Moment) async throws -> BrowserSession? {
        guard let session = try await find(id, at: now), session.isLive(at: now) else { return nil }
        return session
    }

    /// Notes that a client is opened with the session: its idle time begins anew. Nil is the account page. Returns false
    /// if the session has ended; then the client must not get a code.
    package func open(_ clientID: String?, with id: String, at now: Moment) async throws -> Bool {
        try await table.update(id, at: now) { entry in
            guard var session = entry?.value, session.isLive(at: now) else { return false }
            session.open(clientID, at: now)
            entry?.value = session
            return true
        }
    }

    /// Returns the sessions of a user.
    package func sessions(of userID: String, at now: Moment) async throws -> [BrowserSession] {
        var found: [BrowserSession] = []
        for id in try await ofUsers.names(of: OwnedNames.owner(ofUser: userID), at: now) {
            if let session = try await find(id, at: now) { found.append(session) }
        }
        return found
    }

    /// Returns the sessions of all users, in the order of their ids.
    package func all(at now: Moment) async throws -> [BrowserSession] { try await table.all(at: now).map(\.value) }

    /// Returns at most `limit` of the sessions of all users, in the order of their ids, those that come after `id`.
    package func page(after id: String?, limit: Int, at now: Moment) async throws -> [BrowserSession] {
        try await table.list(after: id, limit: limit, at: now).map(\.value)
    }

    /// Returns the id of the session that the phone with this key has begun. If it has not begun yet, it never will.
    package func take(phoneKey: String, at now: Moment) async throws -> String? {
        let end = now.adding(seconds: LoginTransactions.seconds)
        return try await ofPhones.update(phoneKey, at: now, .durable) { entry in
            guard let id = entry?.value, id != Self.endedEarly else {
                entry = .init(Self.endedEarly, expires: end)
                return nil
            }
            return id
        }
    }
}
