import MPinSecrets
package import MPinStore

/// The outcome of a pass 2, for who presents its one-time token.
package struct AuthToken: Codable, Sendable, Equatable {
    /// Hex of the SHA-256 of the one-time token's hex text: the token itself is not kept.
    package var key: String
    /// Key of the M-Pin ID.
    package var id: String
    /// Hex of the M-Pin ID; empty for one that was never registered.
    package var mpinID: String
    package var userID: String
    package var verdict: Verdict
    /// "0" for a login on the same device, else the access number or QR id.
    package var wid: String
    /// The six digits that the client shows; empty where none were asked for or the PIN was wrong.
    package var otp: String
    package var expires: Moment
    /// Whether the digits are to register another device.
    package var registersDevice: Bool

    package init(
        key: String, id: String, mpinID: String, userID: String, verdict: Verdict, wid: String, otp: String,
        expires: Moment, registersDevice: Bool = false
    ) {
        self.key = key
        self.id = id
        self.mpinID = mpinID
        self.userID = userID
        self.verdict = verdict
        self.wid = wid
        self.otp = otp
        self.expires = expires
        self.registersDevice = registersDevice
    }

    package var isKnown: Bool { !mpinID.isEmpty }

    /// The key of the token that belongs to `authOTT`, given in hex of either case.
    package static func key(_ authOTT: String) -> String {
        Hex.encode(SHA256.hash(Array(authOTT.lowercased().utf8)))
    }
}

/// The one-time tokens. Those of unknown IDs share a fixed number of places.
package struct Tokens: Sendable {
    private let known: Table<AuthToken>
    private let unknown: Table<AuthToken>
    private let slots: Slots

    package init(in store: any Store, slots: Slots) {
        known = Table("token", in: store)
        unknown = Table("unknown_token", in: store)
        self.slots = slots
    }

    /// Keeps the token until `end`, which may come after its expiry: a phone is told of that.
    package func save(_ token: AuthToken, until end: Moment? = nil, at now: Moment) async throws {
        let key = token.isKnown ? token.key : slots.key(Array(token.key.utf8))
        try await (token.isKnown ? known : unknown).update(key, at: now) { entry in
            entry = .init(token, expires: end ?? token.expires)
        }
    }

    /// The token, perhaps expired, unless it is unknown or used; it stays.
    package func read(_ authOTT: String, at now: Moment) async throws -> AuthToken? {
        let key = AuthToken.key(authOTT)
        let stranger = try await unknown.read(slots.key(Array(key.utf8)), at: now)
        return try await known.read(key, at: now) ?? stranger.flatMap { $0.key == key ? $0 : nil }
    }

    /// The token, for one taker; nil when it is unknown, used or expired.
    package func take(_ authOTT: String, at now: Moment) async throws -> AuthToken? {
        let key = AuthToken.key(authOTT)
        let stranger = try await unknown.update(slots.key(Array(key.utf8)), at: now) { entry -> AuthToken? in
            guard let token = entry?.value, token.key == key else { return nil }
            entry = nil
            return token
        }
        let token = try await known.take(key, at: now) ?? stranger
        return token.flatMap { now < $0.expires ? $0 : nil }
    }
}

/// A login that this server has confirmed and the relying party has not yet.
struct PendingLogin: Codable, Sendable {
    /// "0", or the name of the waiting browser.
    var wid: String
    /// What becomes of it if the RPA agrees and adds nothing.
    var outcome: WaitingBrowser.Outcome
}

/// The logins that wait for the relying party's word, by their one-time token.
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
