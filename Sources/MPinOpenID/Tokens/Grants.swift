package import MPinStore

/// A refresh token of 87 characters. Its first half names the family, and is known only to the client; its second half
/// changes with each use.
package struct RefreshToken: Sendable {
    private let family: OpaqueToken
    private let own: OpaqueToken

    /// Returns the first token of a new family.
    package static func random() throws -> RefreshToken { RefreshToken(family: try .random(), own: try .random()) }

    /// Returns another token of the same family.
    func next() throws -> RefreshToken { RefreshToken(family: family, own: try .random()) }

    private init(family: OpaqueToken, own: OpaqueToken) {
        self.family = family
        self.own = own
    }

    /// Nil if `text` does not have the form of a refresh token.
    package init?(_ text: String) {
        let halves = text.split(separator: ".", omittingEmptySubsequences: false)
        guard halves.count == 2, let family = OpaqueToken(halves[0]), let own = OpaqueToken(halves[1]) else {
            return nil
        }
        self.init(family: family, own: own)
    }

    package var text: String { "\(family.text).\(own.text)" }

    /// The key of the grant in the store. Access tokens contain it, too.
    package var grantID: String { family.key }
    var key: String { own.key }
}

/// The grants. A grant stands behind the tokens that were issued for one code, and revoking it ends them. If the client
/// gets refresh tokens, they form a family: one token is valid at a time, or for 30 seconds several siblings.
package struct Grants: Sendable {
    fileprivate struct Record: Codable, Storable {
        /// Nil if the grant is revoked.
        var authorization: Authorization?
        /// Nil if the client gets no refresh tokens.
        var family: Family?
    }

    /// The refresh tokens of one grant, by their hashes.
    fileprivate struct Family: Codable {
        /// The tokens that can be used next.
        var current: [String]
        /// The tokens that were used to get those in ``current``.
        var previous: [String] = []
        var rotated: Moment
        /// When the family ends, even if its tokens are used.
        let ends: Moment

        /// Returns when the grant expires if nobody uses its tokens from now on.
        func expires(_ lifetimes: Client.Lifetimes, at now: Moment) -> Moment {
            min(ends, now.adding(seconds: lifetimes.refreshIdle))
        }
    }

    /// The seconds in which a used refresh token is accepted again, because the answer may have been lost, or two tabs
    /// refresh at once.
    package static let overlapSeconds = 30
    /// The largest number of tokens that a client can get in that time for one refresh token.
    fileprivate static let maxSiblings = 16

    private let table: Table<Record>

    package init(in store: any Store) { table = Table("oidc_grant", in: store) }

    /// Stores a new grant with its first refresh token. If the grant was already revoked, because the code was used
    /// twice at the same moment, it stays revoked. `isLasting`: whether the client gets refresh tokens.
    func begin(
        _ token: RefreshToken, _ authorization: Authorization, isLasting: Bool, _ lifetimes: Client.Lifetimes,
        at now: Moment
    ) async throws {
        let ends = now.adding(seconds: lifetimes.refreshMax)
        let family = isLasting ? Family(current: [token.key], rotated: now, ends: ends) : nil
        let expires = family?.expires(lifetimes, at: now) ?? now.adding(seconds: lifetimes.accessToken)
        let record = Record(authorization: authorization, family: family)
        // A grant with refresh tokens is written durably: if a power failure lost it, the user of the app would have to
        // log in again. Without them the tokens live for minutes, and a faster write will do.
        try await table.update(token.grantID, at: now, isLasting ? .durable : .ordered) { entry in
            if entry == nil { entry = .init(record, expires: expires) }
        }
    }

    /// Returns what was granted. Nil if the grant has expired or is revoked.
    package func authorization(_ id: String, at now: Moment) async throws -> Authorization? {
        try await table.read(id, at: now)?.authorization
    }

    /// Revokes a grant, which ends all its tokens. It also works before `begin` has stored the grant, which then stays
    /// revoked.
    package func revoke(_ id: String, at now: Moment) async throws {
        try await table.update(id, at: now, .durable) { $0 = Self.revoked(at: now) }
    }

    /// The entry of a revoked grant. It lasts as long as a code is remembered, so that a late `begin` finds it.
    fileprivate static func revoked(at now: Moment) -> Table<Record>.Entry {
        .init(Record(), expires: now.adding(seconds: Codes.memory))
    }

    package enum Outcome: Sendable, Equatable {
        case granted(Authorization)
        /// The token was used before and is too old to be used again, so the family is revoked.
        case reused(Authorization)
        /// There is no valid token of this client.
        case unknown
    }

    /// Replaces `token` by `next`. For 30 seconds after its use, `token` is accepted again and gets a sibling of
    /// `next`, unless the client has already used one of the new tokens.
    func rotate(
        _ token: RefreshToken, to next: RefreshToken, of client: Client, at now: Moment
    ) async throws -> Outcome {
        try await table.store.performOnce(
            RotateRefreshToken(
                key: table.key(token.grantID), presented: token.key, next: next.key, clientID: client.id,
                lifetimes: client.lifetimes, now: now), at: now, .durable)
    }
}

private struct RotateRefreshToken: NamedChange {
    static let name = "rotate-refresh-token"

    let key: ItemKey
    let presented: String
    let next: String
    let clientID: String
    let lifetimes: Client.Lifetimes
    let now: Moment

    var keys: [ItemKey] { [key] }

    func run(_ items: inout Items) throws -> Grants.Outcome {
        try Table<Grants.Record>.change(&items[key]) { entry in
            guard var record = entry?.value, let authorization = record.authorization, var family = record.family,
                authorization.clientID == clientID, now < family.ends
            else { return .unknown }
            if family.current.contains(next) { return .granted(authorization) }
            if family.current.contains(presented) {
                (family.previous, family.current, family.rotated) = (family.current, [next], now)
            } else if family.previous.contains(presented), isOverlap(family) {
                family.current.append(next)
            } else {
                entry = Grants.revoked(at: now)
                return .reused(authorization)
            }
            record.family = family
            entry = .init(record, expires: family.expires(lifetimes, at: now))
            return .granted(authorization)
        }
    }

    private func isOverlap(_ family: Grants.Family) -> Bool {
        now < family.rotated.adding(seconds: Grants.overlapSeconds) && family.current.count < Grants.maxSiblings
    }
}
