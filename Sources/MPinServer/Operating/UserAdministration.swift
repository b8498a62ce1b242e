import MPinOpenID
import MPinSecrets
import MPinService
package import MPinStore

/// The operator's commands for the identities of an RPS. They work on its database, also while the server runs.
package struct UserAdministration: Sendable {
    /// An identity. A user has one for each device.
    package struct Entry: Sendable, Encodable {
        /// Hex of the SHA-256 of the M-Pin ID, as in the audit log.
        package let identity: String
        /// ``UserKey/shown``.
        package let user: String
        /// The id of the master secret that its client secret comes from.
        package let keyID: String
        package let registered: String
        /// The state: `active`, `suspended` as its user is, `blocked`, `blocked until <time>`, `revoked`, or `renewed` if
        /// another identity of the same device has taken its place.
        package let state: String
        /// Wrong PINs since the last right one.
        package let wrongPINs: Int

        init(_ identity: String, _ record: IdentityRecord, at now: Moment) {
            self.identity = identity
            user = record.user.shown
            keyID = record.keyID
            registered = record.registered.iso
            wrongPINs = record.failuresSinceSuccess
            state = Self.state(record, at: now)
        }

        private static func state(_ record: IdentityRecord, at now: Moment) -> String {
            if record.revoked { return "revoked" }
            if record.isReplaced { return "renewed" }
            if record.isSuspended { return "suspended" }
            if record.blocked { return "blocked" }
            guard let until = record.blockedUntil, until > now else { return "active" }
            return "blocked until \(until.iso)"
        }
    }

    package enum Change: Sendable {
        case block
        case unblock
        case revoke
        /// The devices renew their secrets at their next logins.
        case renew
    }

    let store: any Store
    let records: Table<IdentityRecord>
    let suspensions: Suspensions
    private let logouts: Logouts
    let clock: Clock

    package init(database: ServiceDatabase, clock: @escaping Clock = Moment.now) async throws {
        self.init(in: try await database.open(), clock: clock)
    }

    package init(in store: any Store, clock: @escaping Clock) {
        self.store = store
        records = Table("identity", in: store)
        suspensions = Suspensions(in: store)
        logouts = Logouts(in: store)
        self.clock = clock
    }

    /// The identities of `user`, or only `identity` if given, in the order of their hashes.
    package func find(user: String, identity: String? = nil) async throws -> [Entry] {
        let now = clock()
        return try await matching(user, identity, at: now).map { Entry($0.key, $0.value, at: now) }
    }

    /// Passes all identities to `page`, page by page, in the order of their hashes.
    package func list(_ page: ([Entry]) throws -> Void) async throws {
        let now = clock()
        var last: String?
        while true {
            let found = try await records.list(after: last, limit: 500, at: now)
            var entries: [Entry] = []
            for (key, record) in found where !record.userID.isEmpty {
                entries.append(Entry(key, try await standing(record, at: now), at: now))
            }
            try page(entries)
            guard let end = found.last else { return }
            last = end.key
        }
    }

    /// Makes a change to the identities, to each in one step, and returns their new state.
    package func change(
        _ change: Change, user: String, identity: String?, audit: Audit
    ) async throws -> [Entry] {
        let now = clock()
        var entries: [Entry] = []
        for (key, record) in try await matching(user, identity, at: now) {
            guard let id = MPinID(hex: record.mpinID) else { continue }
            let changed = try await records.update(key, at: now, .durable) { entry -> IdentityRecord? in
                switch change {
                case .block: entry?.value.blockByOperator()
                case .unblock: entry?.value.unblock(at: now)
                case .revoke: entry?.value.revoked = true
                case .renew: entry?.value.mustRenew = true
                }
                return entry?.value
            }
            guard let changed else { continue }
            audit.record(Self.event(change, id, user: record.user.text))
            if change == .revoke { try await endLogins(of: record, audit, at: now) }
            entries.append(Entry(key, changed, at: now))
        }
        return entries
    }

    /// Revokes one identity. Returns false if there is none with this ID.
    func revoke(_ id: MPinID, reason: String, audit: Audit) async throws -> Bool {
        let now = clock()
        let changed = try await records.update(id.key, at: now, .durable) { entry -> IdentityRecord? in
            entry?.value.revoked = true
            return entry?.value
        }
        guard let changed else { return false }
        audit.record(.revoked(id, user: changed.user.text, reason: reason))
        try await endLogins(of: changed, audit, at: now)
        return true
    }

    private static func event(_ change: Change, _ id: MPinID, user: String) -> AuditEvent {
        switch change {
        case .block: .blocked(id, user: user, until: nil)
        case .unblock: .unblocked(id, user: user)
        case .revoke: .revoked(id, user: user)
        case .renew: .renewalWanted(id, user: user)
        }
    }

    /// Ends the browser sessions that a revoked identity has begun at the OpenID provider, and revokes the tokens that
    /// outlive them. A running server tells the clients.
    private func endLogins(of record: IdentityRecord, _ audit: Audit, at now: Moment) async throws {
        let notices = try await logouts.end(ofUser: record.user.text, isEverywhere: true, at: now) {
            $0.mpinID == record.mpinID
        }
        for notice in notices { audit.record(.loggedOut(notice, by: .anOperator)) }
    }

    /// Makes a one-time code with which `user` can register a device. It replaces an earlier code of this user.
    package func issueCode(user: String, seconds: Int, audit: Audit) async throws -> String {
        let (code, now) = (try ActivationCodes.random(), clock())
        audit.record(.command("user code", user: user))
        let codes = ActivationCodes(in: store)
        let meant = try await devices(at: now).user(meantBy: user, at: now)
        try await codes.issue(code, user: meant, until: now.adding(seconds: seconds), at: now)
        return code
    }

    /// Deletes expired items and returns their number.
    package func collect() async throws -> Int { try await store.collectAll(at: clock()) }

    /// Returns the identities of a user, or only `identity` if given, in the order of their hashes.
    func matching(
        _ user: String, _ identity: String?, at now: Moment
    ) async throws -> [(key: String, value: IdentityRecord)] {
        let devices = try await devices(at: now)
        let user = try await devices.user(named: user, at: now)
        var found: [(key: String, value: IdentityRecord)] = []
        for (key, _) in try await devices.list(of: user, at: now) where identity == nil || identity == key {
            guard let record = try await records.read(key, at: now), record.user == user else { continue }
            found.append((key, try await standing(record, at: now)))
        }
        return found
    }

    /// The record without the mark of a suspension that is over, which goes with the next login.
    private func standing(_ record: IdentityRecord, at now: Moment) async throws -> IdentityRecord {
        guard record.isSuspended, try await suspensions.find(record.user, at: now) == nil else { return record }
        var standing = record
        standing.resume()
        return standing
    }

    /// The indexes of devices and users. They are made here if only an older version has used the database.
    func devices(at now: Moment) async throws -> Devices {
        let devices = Devices(in: store)
        try await devices.addAll(at: now)
        return devices
    }
}
