import MPinStore
import MPinWire

/// A login that the RPS has confirmed and the RPA has not yet.
struct PendingLogin: Codable, Sendable {
    /// "0", or the name of the browser session.
    var wid: String
    /// What becomes of it if the RPA agrees and adds nothing.
    var outcome: BrowserSession.Outcome
}

/// The logins that wait for the RPA's verdict, by their one-time token.
struct PendingLogins: Sendable {
    private let table: Table<PendingLogin>
    private let seconds: Int

    init(in store: any Store, seconds: Int) {
        table = Table("login", in: store)
        self.seconds = seconds
    }

    func add(_ login: PendingLogin, authOTT: String, at now: Moment) async throws -> Bool {
        try await table.create(AuthToken.key(authOTT), login, expires: now.adding(seconds: seconds), at: now)
    }

    /// The login, for one taker.
    func take(authOTT: String, at now: Moment) async throws -> PendingLogin? {
        try await table.take(AuthToken.key(authOTT), at: now)
    }
}
