import MPinSecrets
package import MPinStore

/// A registration that waits for its confirmation, or whose shares may still be fetched.
package struct Registration: Codable, Storable, Equatable {
    package var id: MPinID
    package var userID: String
    /// Hex of the SHA-256 of the one-time token's hex text. The token itself is not stored.
    package var regOTTHash: String
    /// Whether the registration is confirmed.
    package var isActive = false
    /// Whether the shares were handed out. They may be fetched again until the registration expires.
    package var isIssued = false
    /// The name of the device. Nil if the client gave none.
    package var deviceName: String?
    /// Where push messages reach the device. Nil if the client did not tell it at the beginning.
    package var pushToken: String?
    /// The address from which it was begun, for the person who confirms it. Nil if that is not known.
    package var begunBy: String?

    package var user: UserKey { UserKey(userID, ofIdentity: id.hex) }

    /// `deviceName` is empty or nil if the client gave none.
    package init(
        id: MPinID, userID: String, regOTT: String, deviceName: String? = nil, pushToken: String? = nil,
        begunBy: String? = nil
    ) {
        self.begunBy = begunBy
        self.id = id
        self.userID = userID
        self.deviceName = deviceName.flatMap { $0.isEmpty ? nil : $0 }
        self.pushToken = pushToken
        regOTTHash = Self.hash(regOTT)
    }

    /// Whether `regOTT`, in lower-case hex, is the token of this registration. Compares in constant time.
    package func accepts(_ regOTT: String) -> Bool {
        let (given, kept) = (Array(Self.hash(regOTT).utf8), Array(regOTTHash.utf8))
        return constantTimeEqual(given.span, kept.span)
    }

    /// The registration as it is with another token.
    func under(_ regOTT: String) -> Registration {
        var other = self
        other.regOTTHash = Self.hash(regOTT)
        return other
    }

    fileprivate static func hash(_ regOTT: String) -> String { Hex.encode(SHA256.hash(Array(regOTT.utf8))) }
}

/// The registrations of a server. An M-Pin ID has at most one.
package struct Registrations: Sendable {
    private let table: Table<Registration>

    package init(in store: any Store) { table = Table("registration", in: store) }

    /// The registration; nil if there is none or it has expired.
    package func find(_ id: MPinID, at now: Moment) async throws -> Registration? {
        try await find(hash: id.key, at: now)
    }

    /// The registration of the M-Pin ID with this hash (``MPinID/key``); nil if there is none or it has expired.
    func find(hash: String, at now: Moment) async throws -> Registration? { try await table.read(hash, at: now) }

    /// Stores a new registration.
    package func create(_ registration: Registration, expires: Moment, at now: Moment) async throws {
        _ = try await table.create(registration.id.key, registration, expires: expires, at: now)
    }

    /// Begins the registration with the token `old` again, unconfirmed, under the token `new`, unless `check` throws.
    /// Returns its earlier state for ``undoRestart(_:to:at:)``. Nil if there is none or its shares were handed out.
    func restart(
        _ id: MPinID, from old: String, to new: String, expires: Moment, at now: Moment,
        check: @escaping @Sendable (Registration) throws -> Void
    ) async throws -> Table<Registration>.Entry? {
        try await table.update(id.key, at: now, .durable) { entry in
            guard var before = entry, !before.value.isIssued else { return nil }
            try check(before.value)
            before.value.regOTTHash = Registration.hash(old)
            entry?.value.regOTTHash = Registration.hash(new)
            entry?.value.isActive = false
            entry?.expires = expires
            return before
        }
    }

    /// Undoes the restart that set the expiry `expires`, to the state `before`. If the registration was confirmed in
    /// the meantime, it stays confirmed. Nothing changes if it was restarted again.
    func undoRestart(_ expires: Moment, to before: Table<Registration>.Entry, at now: Moment) async throws {
        try await table.update(before.value.id.key, at: now, .durable) { entry in
            guard let restarted = entry, !restarted.value.isIssued, restarted.expires == expires else { return }
            entry?.value.regOTTHash = before.value.regOTTHash
            entry?.value.isActive = restarted.value.isActive || before.value.isActive
            entry?.expires = before.expires
        }
    }

    /// Deletes the registration if its shares were handed out and `regOTT` is right.
    func end(_ id: MPinID, regOTT: String, at now: Moment) async throws {
        guard let found = try await find(id, at: now), found.isIssued, found.accepts(regOTT) else { return }
        try await delete(id, at: now)
    }

    package func delete(_ id: MPinID, at now: Moment) async throws { try await table.delete(id.key, at: now) }

    /// Deletes a registration. False if there is none, or if its shares were handed out.
    func deleteUnfinished(_ id: MPinID, at now: Moment) async throws -> Bool {
        try await table.update(id.key, at: now, .durable) { entry in
            guard entry?.value.isIssued == false else { return false }
            entry = nil
            return true
        }
    }

    /// Confirms a registration. False if there is none, or if its shares were handed out.
    package func activate(_ id: MPinID, at now: Moment) async throws -> Bool {
        try await table.update(id.key, at: now, .durable) { entry in
            guard entry?.value.isIssued == false else { return false }
            entry?.value.isActive = true
            return true
        }
    }

    /// Notes that the shares are handed out, and may be fetched again until `expires`. False if there is no confirmed
    /// registration. Only the first call sets the expiry, so that further calls cannot prolong it.
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
