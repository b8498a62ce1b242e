/// A registration that waits for its confirmation, or has just been completed.
package struct Registration: Sendable, Equatable {
    package var id: MPinID
    package var userID: String
    /// SHA-256 of the one-time token's hex text, 32 bytes: the token itself is not kept.
    package var regOTTHash: [UInt8]
    /// Whether the identity is confirmed.
    package var isActive: Bool
    /// Whether the shares were handed out; until `expires` they may be fetched again.
    package var isIssued: Bool
    package var expires: Moment

    package init(
        id: MPinID, userID: String, regOTTHash: [UInt8], isActive: Bool, isIssued: Bool, expires: Moment
    ) {
        self.id = id
        self.userID = userID
        self.regOTTHash = regOTTHash
        self.isActive = isActive
        self.isIssued = isIssued
        self.expires = expires
    }
}

/// An identity that this server registered. No secret of it is here.
package struct RegisteredIdentity: Sendable, Equatable {
    package var id: MPinID
    package var userID: String
    /// Wrong PINs since the last right one, attempts in progress included.
    package var attempts: Int
}

/// What pass 1 leaves for pass 2.
package struct Pass1Record: Sendable, Equatable {
    /// Names the record; given by the store.
    package var number: Int64
    /// The client's commitment: UT with time permits, else U; G1 point, 65 bytes.
    package var u: [UInt8]
    /// The server's challenge: 32 bytes.
    package var y: [UInt8]
}

/// Whether a pass 2 may be judged.
package enum Reservation: Sendable, Equatable {
    /// No live pass 1.
    case noPass1
    /// The limit was reached before: nothing may be evaluated.
    case blocked
    /// One attempt is taken, the `attempt`-th since the last success; the records are the live ones, newest first.
    case granted(attempt: Int, [Pass1Record])
}

/// The outcome of a pass 2, for who presents its one-time token.
package struct AuthToken: Sendable, Equatable {
    /// SHA-256 of the token's hex text, 32 bytes.
    package var ottHash: [UInt8]
    /// Hash of the M-Pin ID, 32 bytes.
    package var idHash: [UInt8]
    /// 200 right PIN, 401 wrong PIN, 410 blocked.
    package var status: Int
    package var expires: Moment

    package init(ottHash: [UInt8], idHash: [UInt8], status: Int, expires: Moment) {
        self.ottHash = ottHash
        self.idHash = idHash
        self.status = status
        self.expires = expires
    }
}

/// The state of the RPS. Every function is one transaction: it happens whole or not at all, and no two overlap.
package protocol Store: Sendable {
    /// A value that is made once and kept: `make` runs only where there is none.
    func setting(_ name: String, orMake make: @escaping @Sendable () throws -> String) async throws -> String

    /// Inserts the registration, or replaces the one of the same M-Pin ID.
    func save(_ registration: Registration) async throws
    func registration(_ id: MPinID, at now: Moment) async throws -> Registration?
    func deleteRegistration(_ id: MPinID) async throws
    /// Confirms a registration that is neither issued nor expired; false when there is none.
    func activate(_ id: MPinID, at now: Moment) async throws -> Bool
    /// Makes the registration's identity known for good and lets its shares be fetched again until `expires`. False
    /// when it is no longer there and active.
    func complete(_ id: MPinID, at now: Moment, refetchUntil expires: Moment) async throws -> Bool

    func identity(hash: [UInt8]) async throws -> RegisteredIdentity?

    /// Keeps a pass 1 until `expires`, and at most `limit` of one identity.
    func savePass1(idHash: [UInt8], u: [UInt8], y: [UInt8], expires: Moment, limit: Int) async throws
    /// Takes one attempt before anything is evaluated. When blocked, the pass 1 records are used up.
    func reserveAttempt(idHash: [UInt8], maxAttempts: Int, at now: Moment) async throws -> Reservation
    /// A right PIN: uses the record up, clears the count and keeps the token. False, with the attempt given back, when
    /// another pass 2 has used the record already.
    func succeed(_ record: Pass1Record, token: AuthToken) async throws -> Bool
    /// A wrong PIN: uses the records up, leaves the attempt taken and keeps the token.
    func fail(_ records: [Pass1Record], token: AuthToken) async throws
    /// Gives an attempt back that was never judged.
    func refund(idHash: [UInt8]) async throws
    func saveToken(_ token: AuthToken) async throws
    /// Takes the token out; nil when it is unknown, used or expired.
    func takeToken(ottHash: [UInt8], at now: Moment) async throws -> AuthToken?

    /// Deletes what has expired; the number of items.
    func collect(at now: Moment) async throws -> Int
}
