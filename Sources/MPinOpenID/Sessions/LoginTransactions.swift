import MPinSecrets
package import MPinStore

/// How far the login for a client has come in one browser tab.
package struct LoginProgress: Sendable, Equatable, Codable {
    /// The user that the client would get, from the browser session or from a PIN that was entered for this login. Nil
    /// if there is none yet.
    package var login: UserLogin?
    /// The ``BrowserSession/id`` of the browser session, if `login` is from one. Otherwise nil.
    package var sessionID: String?
    /// The key with which the phone can end the session that begins after this login. Nil if `login` is from a browser
    /// session.
    package var phoneKey: String?
    /// Whether the user entered the PIN for this very login.
    package var isFresh = false
    /// Whether a phone found the browser by an access number. Then the phone may be somebody else's, who typed the
    /// number by mistake or to deceive.
    package var isByNumber = false
    /// Whether the person at the browser has confirmed the account.
    package var isConfirmed = false
    /// Whether the user has allowed the client what it asks for.
    package var isConsented = false

    package init(_ session: BrowserSession? = nil) {
        login = session?.login
        sessionID = session?.id
    }

    /// After a phone has logged the browser in. `isByNumber`: whether it found the browser by an access number.
    package init(fresh login: UserLogin, isByNumber: Bool, phoneKey: String? = nil) {
        self.login = login
        self.phoneKey = phoneKey
        isFresh = true
        self.isByNumber = isByNumber
    }
}

/// A login transaction: one browser tab between a client's authorization request and the answer to it.
package struct LoginTransaction: Sendable, Equatable, PackedItem {
    package let request: AuthorizationRequest
    /// The ``OpaqueToken/key`` of the cookie of the browser in which the login began.
    fileprivate let browser: String
    package var progress: LoginProgress
    /// The token by which the login page asks whether a phone has logged in. Nil if no login page is open.
    package var webOTT: String?
    /// Whether the login page shows an access number, and not a QR code.
    package var showsNumber = false

    fileprivate init(_ request: AuthorizationRequest, _ progress: LoginProgress, browser: String) {
        self.request = request
        self.progress = progress
        self.browser = browser
    }
}

extension LoginTransaction {
    package init(packed members: inout Unpacker) throws {
        request = try members.value()
        browser = try members.text()
        progress = try members.value()
        webOTT = try members.optionalText()
        showsNumber = try members.flag()
    }

    package func pack(into members: inout Packer) throws {
        try members.put(request)
        members.put(browser)
        try members.put(progress)
        members.put(webOTT)
        members.put(showsNumber)
    }
}

extension LoginProgress: Packable {
    package init(packed members: inout Unpacker) throws {
        login = try members.optionalValue()
        sessionID = try members.optionalText()
        phoneKey = try members.optionalText()
        isFresh = try members.flag()
        isByNumber = try members.flag()
        isConfirmed = try members.flag()
        isConsented = try members.flag()
    }

    package func pack(into members: inout Packer) throws {
        try members.put(login)
        members.put(sessionID)
        members.put(phoneKey)
        for flag in [isFresh, isByNumber, isConfirmed, isConsented] { members.put(flag) }
    }
}

/// The login transactions. The pages name theirs by 32 random bytes, which have no effect in any other browser than the
/// one that began the login (RFC 6749 section 10.12).
package struct LoginTransactions: Sendable {
    /// The seconds that a person has from the first page to the last.
    package static let seconds = 1800

    private let table: Table<LoginTransaction>
    /// The requests of clients that show the QR code themselves, without a page of the provider.
    private let sessions: Table<AuthorizationRequest>
    /// The keys of ``sessions`` by the names under which phones find them.
    private let sessionKeys: Table<String>

    package init(in store: any Store) {
        table = Table("oidc_login", in: store)
        sessions = Table("oidc_login_session", in: store)
        sessionKeys = Table("oidc_login_session_key", in: store)
    }

    /// Begins a login, and returns its name. `browser` is the value of the browser's cookie.
    package func begin(
        _ request: AuthorizationRequest, _ progress: LoginProgress, in browser: OpaqueToken, at now: Moment
    ) async throws -> OpaqueToken {
        let (id, transaction) = (try OpaqueToken.random(), LoginTransaction(request, progress, browser: browser.key))
        try await table.update(id.key, at: now, .volatile) {
            $0 = .init(transaction, expires: now.adding(seconds: Self.seconds))
        }
        return id
    }

    /// Returns the login with this name. Nil if it has ended, or if it began in another browser.
    package func transaction(
        _ id: OpaqueToken, in browser: OpaqueToken, at now: Moment
    ) async throws -> LoginTransaction? {
        let found = try await table.read(id.key, at: now)
        return found?.browser == browser.key ? found : nil
    }

    /// Changes the login with this name. Nil if it has ended, or if it began in another browser.
    package func change(
        _ id: OpaqueToken, in browser: OpaqueToken, at now: Moment,
        _ change: @escaping @Sendable (inout LoginTransaction) -> Void
    ) async throws -> LoginTransaction? {
        try await table.update(id.key, at: now, .volatile) { entry in
            guard var transaction = entry?.value, transaction.browser == browser.key else { return nil }
            change(&transaction)
            entry?.value = transaction
            return transaction
        }
    }

    /// Keeps the request of a client that shows the QR code itself. `webOTT` is the token by which the client asks
    /// whether a phone has logged in, and `wid` the name in the QR code.
    package func keep(_ request: AuthorizationRequest, webOTT: String, wid: String, at now: Moment) async throws {
        let (key, expires) = (Self.key(webOTT), now.adding(seconds: Self.seconds))
        let (session, name) = (sessions.key(key), sessionKeys.key(Self.key(wid)))
        try await sessions.store.transaction([session, name], at: now, .durable) { items in
            try Table<AuthorizationRequest>.change(&items[session]) { $0 = .init(request, expires: expires) }
            try Table<String>.change(&items[name]) { $0 = .init(key, expires: expires) }
        }
    }

    /// Returns the request that was kept for the session `wid`, and removes it, as ``take(webOTT:at:)`` does. Of both
    /// functions' callers only one gets it.
    package func take(wid: String, at now: Moment) async throws -> AuthorizationRequest? {
        guard let key = try await sessionKeys.take(Self.key(wid), at: now) else { return nil }
        return try await sessions.take(key, at: now)
    }

    /// Returns the request that was kept under `webOTT`, and removes it. Of several callers only one gets it; the
    /// others get nil.
    package func take(webOTT: String, at now: Moment) async throws -> AuthorizationRequest? {
        try await sessions.take(Self.key(webOTT), at: now)
    }

    private static func key(_ webOTT: String) -> String { Hex.encode(SHA256.hash(Array(webOTT.utf8))) }

    /// Ends the login. Returns false if it has already ended; then the caller must not issue a code, because another
    /// request has done so.
    package func end(_ id: OpaqueToken, at now: Moment) async throws -> Bool {
        try await table.take(id.key, at: now) != nil
    }
}
