import MPinSecrets
package import MPinStore
package import MPinWire

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

/// What a new grant is called, and the first refresh token of its family.
package struct NewGrant: Sendable {
    /// The key of the grant in the store. Access tokens contain it, too.
    let id: String
    /// Nil if the client can get no refresh tokens.
    let token: RefreshToken?

    /// A grant with refresh tokens is found by a hash of theirs. Others are found by an id that begins with the time,
    /// so that grants of one time lie side by side in the store: it then reads and writes less.
    init(for client: Client, at now: Moment) throws {
        token = client.grants.contains(.refreshToken) ? try .random() : nil
        let time = withUnsafeBytes(of: now.microseconds.bigEndian) { Array($0) }
        id = try token?.grantID ?? Hex.encode(time + randomBytes(16))
    }
}

/// The grants. A grant stands behind the tokens that were issued for one code, and revoking it ends them. If the client
/// gets refresh tokens, they form a family: one token is valid at a time, or for 30 seconds several siblings.
package struct Grants: Sendable {
    fileprivate struct Record: Codable, PackedItem {
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

        /// Returns whether the tokens in ``previous`` are accepted again.
        func isOverlap(at now: Moment) -> Bool {
            now < rotated.adding(seconds: Grants.overlapSeconds) && current.count < Grants.maxSiblings
        }

        /// Returns whether the token can be used now.
        func accepts(_ token: RefreshToken, at now: Moment) -> Bool {
            now < ends && (current.contains(token.key) || isOverlap(at: now) && previous.contains(token.key))
        }
    }

    /// The seconds in which a used refresh token is accepted again, because the answer may have been lost, or two tabs
    /// refresh at once.
    package static let overlapSeconds = 30
    /// The largest number of tokens that a client can get in that time for one refresh token.
    fileprivate static let maxSiblings = 16

    /// The largest number of grants that one transaction revokes.
    private static let maxRevocations = 100

    private let table: Table<Record>
    private let sessions: BrowserSessions
    /// The grants that end with a browser session, by its id.
    private let ofSessions: OwnedNames
    /// The grants with refresh tokens, by their users.
    private let ofUsers: OwnedNames
    /// The exchanged access tokens that were revoked, each by its `jti` until it expires.
    private let revokedTokens: Table<Bool>

    package init(in store: any Store) {
        table = Table("oidc_grant", in: store)
        revokedTokens = Table("oidc_revoked_token", in: store)
        sessions = BrowserSessions(in: store)
        ofSessions = OwnedNames("oidc_session_grant", in: store)
        ofUsers = OwnedNames("oidc_user_grant", in: store)
    }

    /// Returns a stored grant as JSON, for a person to read. Nil if the bytes are no grant.
    package static func json(stored bytes: [UInt8]) -> JSONValue? { Record.json(stored: bytes) }

    /// Stores a new grant with its first refresh token. If the grant was already revoked, because the code was used
    /// twice at the same moment, it stays revoked. `token` is nil if the client gets no refresh tokens. Throws
    /// ``TokenFault/invalidGrant`` if the browser session of the authorization has been ended.
    func begin(
        _ id: String, _ token: RefreshToken?, _ authorization: Authorization, _ lifetimes: Client.Lifetimes,
        at now: Moment
    ) async throws {
        let ends = now.adding(seconds: lifetimes.refreshMax)
        let (isLasting, family) = (token != nil, token.map { Family(current: [$0.key], rotated: now, ends: ends) })
        let expires = family?.expires(lifetimes, at: now) ?? now.adding(seconds: lifetimes.accessToken)
        let record = Record(authorization: authorization, family: family)
        let (key, owners) = (table.key(id), Owners(id, authorization, isLasting: isLasting, self))
        // A grant with refresh tokens is written durably: if a power failure lost it, the user of the app would have to
        // log in again. Without them the tokens live for minutes, and a faster write will do.
        try await table.store.transaction([key] + owners.keys, at: now, isLasting ? .durable : .ordered) { items in
            if let session = owners.session, items[session] == nil { throw TokenFault.invalidGrant }
            let isNew = try Table<Record>.change(&items[key]) { entry in
                guard entry == nil else { return false }
                entry = .init(record, expires: expires)
                return true
            }
            guard isNew else { return }
            // Refresh tokens that are used live until `ends`, so their grant must be found until then.
            let end = isLasting ? ends : expires
            for name in [owners.ofSession, owners.ofUser].compactMap(\.self) {
                try OwnedNames.add(name, until: end, in: &items)
            }
        }
    }

    /// The items that say whom a grant belongs to, so that it can be found when its session or all logins of its user
    /// end.
    private struct Owners {
        /// The item of the browser session. Nil if the login had none.
        let session: ItemKey?
        /// The name of the grant among those of the session. Nil if the grant outlives the session, because the client
        /// may act while the user is away: it gets refresh tokens, and has the scope `offline_access`.
        let ofSession: ItemKey?
        /// The name of the grant among those of the user. Nil if the grant ends within minutes anyway.
        let ofUser: ItemKey?

        init(_ grantID: String, _ authorization: Authorization, isLasting: Bool, _ grants: Grants) {
            let id = authorization.sessionID
            session = id.map { grants.sessions.key($0) }
            ofSession = isLasting && authorization.isOffline ? nil : id.map { grants.ofSessions.key(grantID, of: $0) }
            let owner = OwnedNames.owner(ofUser: authorization.login.userID)
            ofUser = isLasting ? grants.ofUsers.key(grantID, of: owner) : nil
        }

        var keys: [ItemKey] { [session, ofSession, ofUser].compactMap(\.self) }
    }

    /// Returns what was granted. Nil if the grant has expired or is revoked.
    package func authorization(_ id: String, at now: Moment) async throws -> Authorization? {
        try await table.read(id, at: now)?.authorization
    }

    /// Returns what was granted, if the client of `token` could use it now. Nil if the token is used up, or if its
    /// grant has expired or is revoked.
    func authorization(of token: RefreshToken, at now: Moment) async throws -> Authorization? {
        guard let record = try await table.read(token.grantID, at: now), let family = record.family,
            family.accepts(token, at: now)
        else { return nil }
        return record.authorization
    }

    /// Revokes one exchanged access token, and nothing else of its grant. `ends` is when it expires.
    func revoke(token id: String, ends: Moment, at now: Moment) async throws {
        try await revokedTokens.update(id, at: now, .durable) { $0 = .init(true, expires: ends) }
    }

    func isRevoked(token id: String, at now: Moment) async throws -> Bool {
        try await revokedTokens.contains(id, at: now)
    }

    /// Revokes a grant, which ends all its tokens. It also works before `begin` has stored the grant, which then stays
    /// revoked.
    package func revoke(_ id: String, at now: Moment) async throws {
        try await table.update(id, at: now, .durable) { $0 = Self.revoked(at: now) }
    }

    /// Revokes the grants that end with a browser session.
    func revoke(ofSession id: String, at now: Moment) async throws {
        try await revoke(try await ofSessions.names(of: id, at: now), at: now) { ofSessions.key($0, of: id) }
    }

    /// Revokes the grants of a user that have refresh tokens and that `isMeant` accepts, and returns the ids of their
    /// clients.
    func revoke(
        ofUser userID: String, at now: Moment, where isMeant: @Sendable (Authorization) -> Bool
    ) async throws -> [String] {
        let owner = OwnedNames.owner(ofUser: userID)
        var (clients, meant): (Set<String>, [String]) = ([], [])
        for name in try await ofUsers.names(of: owner, at: now) {
            guard let authorization = try await authorization(name, at: now), isMeant(authorization) else {
                continue
            }
            clients.insert(authorization.clientID)
            meant.append(name)
        }
        try await revoke(meant, at: now) { ofUsers.key($0, of: owner) }
        return clients.sorted()
    }

    /// Revokes the grants with these ids. `name` returns the key of the item by which a grant was found, which is not
    /// needed any more.
    private func revoke(_ ids: [String], at now: Moment, _ name: (String) -> ItemKey) async throws {
        for start in stride(from: 0, to: ids.count, by: Self.maxRevocations) {
            let keys = ids.dropFirst(start).prefix(Self.maxRevocations).map { (table.key($0), name($0)) }
            try await table.store.transaction(keys.flatMap { [$0, $1] }, at: now, .durable) { items in
                for (grant, name) in keys {
                    try Table<Record>.change(&items[grant]) { $0 = Self.revoked(at: now) }
                    items[name] = nil
                }
            }
        }
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
            } else if family.previous.contains(presented), family.isOverlap(at: now) {
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
}

extension Grants.Record {
    init(packed members: inout Unpacker) throws {
        authorization = try members.optionalValue()
        family = try members.optionalValue()
    }

    func pack(into members: inout Packer) throws {
        try members.put(authorization)
        try members.put(family)
    }
}

extension Grants.Family: Packable {
    init(packed members: inout Unpacker) throws {
        current = try members.texts()
        previous = try members.texts()
        rotated = try members.moment()
        ends = try members.moment()
    }

    func pack(into members: inout Packer) {
        members.put(current)
        members.put(previous)
        members.put(rotated)
        members.put(ends)
    }
}
