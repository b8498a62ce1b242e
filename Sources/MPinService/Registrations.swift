import MPinSecrets
package import MPinStore

/// A registration that waits for its confirmation, or has just been completed.
package struct Registration: Codable, Storable, Equatable {
    package var id: MPinID
    package var userID: String
    /// Hex of the SHA-256 of the one-time token's hex text: the token itself is not kept.
    package var regOTTHash: String
    /// Whether the identity is confirmed.
    package var isActive = false
    /// Whether the shares were handed out; until the end of the registration they may be fetched again.
    package var isIssued = false

    package init(id: MPinID, userID: String, regOTT: String) {
        self.id = id
        self.userID = userID
        regOTTHash = Self.hash(regOTT)
    }

    /// Whether `regOTT`, in lower-case hex, is this registration's; in constant time.
    package func accepts(_ regOTT: String) -> Bool {
        let (given, kept) = (Array(Self.hash(regOTT).utf8), Array(regOTTHash.utf8))
        return constantTimeEqual(given.span, kept.span)
    }

    private static func hash(_ regOTT: String) -> String { Hex.encode(SHA256.hash(Array(regOTT.utf8))) }
}

/// The registrations of an server. An M-Pin ID has one at most.
package struct Registrations: Sendable {
    private let table: Table<Registration>

    package init(in store: any Store) { table = Table("registration", in: store) }

    /// The registration unless it has expired.
    package func find(_ id: MPinID, at now: Moment) async throws -> Registration? {
        try await table.read(id.key, at: now)
    }

    /// Keeps a new registration.
    package func create(_ registration: Registration, expires: Moment, at now: Moment) async throws {
        _ = try await table.create(registration.id.key, registration, expires: expires, at: now)
    }

    /// Begins the registration anew, unconfirmed, unless `check` throws. What it was before, for ``undoRestart(_:to:at:)``;
    /// nil when there is none or it is issued.
    func restart(
        _ id: MPinID, expires: Moment, at now: Moment, check: @escaping @Sendable (Registration) throws -> Void
    ) async throws -> Table<Registration>.Entry? {
        try await table.update(id.key, at: now, .durable) { entry in
            guard let before = entry, !before.value.isIssued else { return nil }
            try check(before.value)
            entry?.value.isActive = false
            entry?.expires = expires
            return before
        }
    }

    /// Makes a registration that was restarted until `expires` what it was before, but for a confirmation that has come
    /// meanwhile. One that was restarted again since then stays.
    func undoRestart(_ expires: Moment, to before: Table<Registration>.Entry, at now: Moment) async throws {
        try await table.update(before.value.id.key, at: now, .durable) { entry in
            guard let restarted = entry, !restarted.value.isIssued, restarted.expires == expires else { return }
            entry?.value.isActive = restarted.value.isActive || before.value.isActive
            entry?.expires = before.expires
        }
    }

    /// Hands out no share any more, where they were handed out and `regOTT` is right.
    func end(_ id: MPinID, regOTT: String, at now: Moment) async throws {
        guard let found = try await find(id, at: now), found.isIssued, found.accepts(regOTT) else { return }
        try await delete(id, at: now)
    }

    package func delete(_ id: MPinID, at now: Moment) async throws { try await table.delete(id.key, at: now) }

    /// False when there is none, or its shares were handed out meanwhile.
    func deleteUnfinished(_ id: MPinID, at now: Moment) async throws -> Bool {
        try await table.update(id.key, at: now, .durable) { entry in
            guard entry?.value.isIssued == false else { return false }
            entry = nil
            return true
        }
    }

    /// Confirms a registration that is neither issued nor expired; false when there is none.
    package func activate(_ id: MPinID, at now: Moment) async throws -> Bool {
        try await table.update(id.key, at: now, .durable) { entry in
            guard entry?.value.isIssued == false else { return false }
            entry?.value.isActive = true
            return true
        }
    }

    /// Notes that the shares were handed out and may be again until `expires`; false when the registration is no longer
    /// there and active. Only the first time sets the end of the time to fetch again: it cannot be drawn out.
    package func complete(_ id: MPinID, refetchUntil expires: Moment, at now: Moment) async throws -> Bool {
        try await table.update(id.key, at: now, .durable) { entry in
            guard entry?.value.isActive == true else { return false }
            if entry?.value.isIssued == false {
                entry?.value.isIssued = true
                entry?.expires = expires
            }
            return true
        }
    }
}
