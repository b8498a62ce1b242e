package import MPinStore

/// A refresh token: the name of its family, which nobody else knows, and a part that changes with each use; 87 characters.
package struct RefreshToken: Sendable {
    private let family: OpaqueToken
    private let own: OpaqueToken

    /// The first of a new family.
    package static func random() throws -> RefreshToken { RefreshToken(family: try .random(), own: try .random()) }

    /// Another of the same family.
    func next() throws -> RefreshToken { RefreshToken(family: family, own: try .random()) }

    private init(family: OpaqueToken, own: OpaqueToken) {
        self.family = family
        self.own = own
    }

    /// nil for what no refresh token looks like.
    package init?(_ text: String) {
        let halves = text.split(separator: ".", omittingEmptySubsequences: false)
        guard halves.count == 2, let family = OpaqueToken(halves[0]), let own = OpaqueToken(halves[1]) else {
            return nil
        }
        self.init(family: family, own: own)
    }

    package var text: String { "\(family.text).\(own.text)" }

    /// What its grant is kept under; access tokens name it, too.
    package var grantID: String { family.key }
    var key: String { own.key }
}

/// The grants behind living tokens. A client that gets refresh tokens has a family of them for each login: one token at a
/// time, and for a moment its siblings.
package struct Grants: Sendable {
    fileprivate struct Record: Codable, Storable {
        /// nil: revoked.
        var authorization: Authorization?
        /// nil: there are no refresh tokens.
        var family: Family?
    }

    /// The tokens of a family by their hashes.
    fileprivate struct Family: Codable {
        /// Any of these may be used next.
        var current: [String]
        /// Those that ``current`` were got for.
        var previous: [String] = []
        var rotated: Moment
        /// However often they are used.
        let ends: Moment

        /// The end of a family whose tokens nobody uses.
        func expires(_ lifetimes: Client.Lifetimes, at now: Moment) -> Moment {
            min(ends, now.adding(seconds: lifetimes.refreshIdle))
        }
    }

    /// Seconds in which a token may be used again by who has not got what came of it: lost answers, two tabs at once.
    package static let overlapSeconds = 30
    /// Tokens that one can become in that time.
    fileprivate static let maxSiblings = 16

    private let table: Table<Record>

    package init(in store: any Store) { table = Table("oidc_grant", in: store) }

    /// Begins a grant with its first token. One that has been revoked meanwhile stays so. `isLasting`: whether there are
    /// refresh tokens.
    func begin(
        _ token: RefreshToken, _ authorization: Authorization, isLasting: Bool, _ lifetimes: Client.Lifetimes,
        at now: Moment
    ) async throws {
        let ends = now.adding(seconds: lifetimes.refreshMax)
        let family = isLasting ? Family(current: [token.key], rotated: now, ends: ends) : nil
        let expires = family?.expires(lifetimes, at: now) ?? now.adding(seconds: lifetimes.accessToken)
        let record = Record(authorization: authorization, family: family)
        // Who has to log in again after a power failure loses a minute; an app that was to stay logged in, a user.
        try await table.update(token.grantID, at: now, isLasting ? .durable : .ordered) { entry in
            if entry == nil { entry = .init(record, expires: expires) }
        }
    }

    /// nil: it is over, or revoked.
    package func authorization(_ id: String, at now: Moment) async throws -> Authorization? {
        try await table.read(id, at: now)?.authorization
    }

    /// Ends all its tokens, those of a grant that is only about to begin, too.
    package func revoke(_ id: String, at now: Moment) async throws {
        try await table.update(id, at: now, .durable) { $0 = Self.revoked(at: now) }
    }

    /// Known as long as somebody may try to begin it.
    fileprivate static func revoked(at now: Moment) -> Table<Record>.Entry {
        .init(Record(), expires: now.adding(seconds: Codes.memory))
    }

    package enum Outcome: Sendable, Equatable {
        case granted(Authorization)
        /// Somebody has used it before, and not just now: the family is revoked.
        case reused(Authorization)
        /// No living token of that client.
        case unknown
    }

    /// Lets `token` become `next`, once; and for 30 seconds again, as long as nobody has used what came of it.
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
