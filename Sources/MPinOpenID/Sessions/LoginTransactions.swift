import MPinSecrets
package import MPinStore

/// How far a login for a client has come.
package struct LoginProgress: Sendable, Equatable, Codable {
    /// Who it would be: by the browser's session, or by a PIN that was entered for this very login.
    package var login: UserLogin?
    /// ``BrowserSession/id``; nil: there is none yet.
    package var sessionID: String?
    /// Whether the PIN was entered for this login.
    package var isFresh = false
    /// Whether a phone found the browser by a number: somebody else's may have, by mistake or on purpose.
    package var isByNumber = false
    /// Whether the person at the browser has said that the account is theirs.
    package var isConfirmed = false
    /// And that the client may have what it asks for.
    package var isConsented = false

    package init(_ session: BrowserSession? = nil) {
        login = session?.login
        sessionID = session?.id
    }

    /// A PIN was entered just now. `isByNumber`: the phone found the browser by a number.
    package init(fresh login: UserLogin, isByNumber: Bool) {
        self.login = login
        isFresh = true
        self.isByNumber = isByNumber
    }
}

/// A browser tab on its way from a client through the login and back.
package struct LoginTransaction: Sendable, Equatable, Codable, Storable {
    package let request: AuthorizationRequest
    /// ``OpaqueToken/key`` of the cookie of the browser that began it.
    fileprivate let browser: String
    package var progress: LoginProgress
    /// One-time token of the page that waits for the phone; nil: none waits.
    package var webOTT: String?
    /// Whether that page shows a number.
    package var showsNumber = false

    fileprivate init(_ request: AuthorizationRequest, _ progress: LoginProgress, browser: String) {
        self.request = request
        self.progress = progress
        self.browser = browser
    }
}

/// The logins that are under way. One is named by 32 random bytes in its pages, and is nothing to any browser but its own
/// (RFC 6749 section 10.12).
package struct LoginTransactions: Sendable {
    /// A person may take so many seconds from the first page to the last.
    package static let seconds = 1800

    private let table: Table<LoginTransaction>
    /// Logins without a page of ours.
    private let sessions: Table<AuthorizationRequest>

    package init(in store: any Store) {
        table = Table("oidc_login", in: store)
        sessions = Table("oidc_login_session", in: store)
    }

    /// `browser`: what its cookie holds.
    package func begin(
        _ request: AuthorizationRequest, _ progress: LoginProgress, in browser: OpaqueToken, at now: Moment
    ) async throws -> OpaqueToken {
        let (id, transaction) = (try OpaqueToken.random(), LoginTransaction(request, progress, browser: browser.key))
        try await table.update(id.key, at: now, .volatile) {
            $0 = .init(transaction, expires: now.adding(seconds: Self.seconds))
        }
        return id
    }

    /// nil: it is over, or another browser's.
    package func transaction(
        _ id: OpaqueToken, in browser: OpaqueToken, at now: Moment
    ) async throws -> LoginTransaction? {
        let found = try await table.read(id.key, at: now)
        return found?.browser == browser.key ? found : nil
    }

    /// Changes a living one of that browser; nil: there is none.
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

    /// A login whose code the client shows to a phone itself. `webOTT`: the one-time token that it will ask with.
    package func keep(_ request: AuthorizationRequest, webOTT: String, at now: Moment) async throws {
        _ = try await sessions.create(
            Self.key(webOTT), request, expires: now.adding(seconds: Self.seconds), at: now)
    }

    /// The same, for one taker.
    package func take(webOTT: String, at now: Moment) async throws -> AuthorizationRequest? {
        try await sessions.take(Self.key(webOTT), at: now)
    }

    private static func key(_ webOTT: String) -> String { Hex.encode(SHA256.hash(Array(webOTT.utf8))) }

    /// Ends it. False: it is over already, so nothing may come of it any more.
    package func end(_ id: OpaqueToken, at now: Moment) async throws -> Bool {
        try await table.take(id.key, at: now) != nil
    }
}
