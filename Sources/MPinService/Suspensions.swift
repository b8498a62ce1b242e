import MPinSecrets
package import MPinStore

/// The operator's decision that a user may neither log in nor register. It is about the user, and not about the devices
/// that the user has now: a block of devices (``IdentityRecord/blockByOperator()``) does not keep a person from
/// registering another one.
package struct Suspension: Codable, Storable, Equatable {
    /// The ``UserKey/text`` of the user.
    package let user: String
    package let reason: String
    /// Who has suspended the user: the name of an admin token, or of a person.
    package let by: String
    package let since: Moment
    /// When the suspension ends by itself. Nil: never.
    package let until: Moment?

    package init(user: String, reason: String, by: String, since: Moment, until: Moment?) {
        self.user = user
        self.reason = reason
        self.by = by
        self.since = since
        self.until = until
    }

    fileprivate var key: UserKey { UserKey(text: user) }
}

/// The suspended users. The record of each of their identities has a mark (``IdentityRecord/isSuspended``), so that a login
/// finds the suspension in what it reads anyway. Where mark and suspension differ, the suspension counts.
package struct Suspensions: Sendable {
    private let table: Table<Suspension>
    private let identities: Table<IdentityRecord>

    package init(in store: any Store) {
        table = Table("suspension", in: store)
        identities = Table("identity", in: store)
    }

    /// The suspension of exactly this user. Nil if there is none, or it is over.
    package func find(_ user: UserKey, at now: Moment) async throws -> Suspension? {
        try await table.read(Self.key(user), at: now)
    }

    /// The suspension of a user whose mail goes to the same mailbox (``UserID/mailbox(_:)``), in the same name space. Nil if
    /// there is none. Whoever is suspended must not register with another spelling of the address.
    package func find(atMailboxOf user: UserKey, at now: Moment) async throws -> Suspension? {
        try await table.all(startingWith: Self.prefix(user), at: now).first?.value
    }

    /// At most `limit` suspensions in the order of their keys, beginning after that of `user`, or with the first if it is nil.
    package func list(after user: UserKey?, limit: Int, at now: Moment) async throws -> [Suspension] {
        try await table.list(after: user.map(Self.key), limit: limit, at: now).map(\.value)
    }

    /// Stores a suspension in place of an earlier one. The identities of the user get their marks by ``mark(_:of:at:)``.
    package func begin(_ suspension: Suspension, at now: Moment) async throws {
        try await table.update(Self.key(suspension.key), at: now, .durable) {
            $0 = .init(suspension, expires: suspension.until)
        }
    }

    /// Ends the suspension of exactly this user. Nil if there is none.
    package func end(_ user: UserKey, at now: Moment) async throws -> Suspension? {
        try await table.take(Self.key(user), at: now)
    }

    /// Makes the mark of an identity agree with the suspension of its user, in one step. `key` is its ``MPinID/key``.
    /// Returns the record. Nil if there is no such identity.
    package func mark(_ key: String, of user: UserKey, at now: Moment) async throws -> IdentityRecord? {
        let (place, reason) = (identities.key(key), table.key(Self.key(user)))
        return try await identities.store.transaction([place, reason], at: now, .durable) { items in
            let isSuspended = items[reason] != nil
            return try Table<IdentityRecord>.change(&items[place]) { entry in
                guard entry != nil else { return nil }
                if isSuspended { entry?.value.suspend() } else { entry?.value.resume() }
                return entry?.value
            }
        }
    }

    /// Marks the identities of all suspended users. A version that knows no suspensions may have registered some.
    func markAll(_ devices: Devices, at now: Moment) async throws {
        for suspension in try await table.all(at: now).map(\.value) {
            for (key, _) in try await devices.list(of: suspension.key, at: now) {
                _ = try await mark(key, of: suspension.key, at: now)
            }
        }
    }

    /// Takes over the suspensions of another store. Of two for one user the one that ends later stays.
    package func add(allOf other: Suspensions, at now: Moment) async throws {
        for suspension in try await other.table.all(at: now).map(\.value) {
            let own = try await find(suspension.key, at: now)
            guard own.map({ Self.ends($0, before: suspension) }) ?? true else { continue }
            try await begin(suspension, at: now)
        }
    }

    private static func ends(_ first: Suspension, before second: Suspension) -> Bool {
        guard let end = first.until else { return false }
        return second.until.map { end < $0 } ?? true
    }

    private static func key(_ user: UserKey) -> String { prefix(user) + hash(user) }

    /// How the keys of all users with one mailbox begin.
    private static func prefix(_ user: UserKey) -> String { hash(user.mailbox) + " " }

    private static func hash(_ user: UserKey) -> String { Hex.encode(SHA256.hash(Array(user.text.utf8))) }
}

extension Identities {
    /// The record of an identity, without the mark of a suspension that is over. `key` is its ``MPinID/key``. Nil if it has
    /// been deleted meanwhile.
    func current(_ record: IdentityRecord, _ key: String, at now: Moment) async throws -> IdentityRecord? {
        guard record.isSuspended, try await suspensions.find(record.user, at: now) == nil else { return record }
        return try await suspensions.mark(key, of: record.user, at: now)
    }

    /// What a login of a marked identity comes to. Nil if the suspension of its user is over.
    func verdict(onSuspended record: IdentityRecord, at now: Moment) async throws -> Verdict? {
        guard let suspension = try await suspensions.find(record.user, at: now) else { return nil }
        return .blocked(until: record.end(ofSuspension: suspension.until))
    }
}

extension AuthenticationService {
    /// Throws ``ServiceError/suspended`` if the operator has suspended the user, or another spelling of the same mailbox.
    func requireNotSuspended(_ user: UserKey) async throws {
        guard try await identities.suspensions.find(atMailboxOf: user, at: now) == nil else {
            throw ServiceError.suspended
        }
    }
}
