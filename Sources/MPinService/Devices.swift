import MPinSecrets
package import MPinStore

/// A device of a user: an identity, and what the user needs to recognise it.
package struct Device: Sendable, Equatable {
    /// Hex of the SHA-256 of the M-Pin ID, the name of the identity in the audit log and for operators.
    package let identity: String
    /// The name that the client gave when it registered. Nil if it gave none.
    package let name: String?
    package let registered: Moment
    /// When a login was last begun with it. Nil if there was none.
    package let lastUsed: Moment?
    /// Whether the user or the operator has removed it, so that it can never log in again.
    package let isRevoked: Bool
    /// Whether too many wrong PINs have blocked it.
    package let isBlocked: Bool
}

/// The devices of each user: an index of the identities by user, with the devices' names.
///
/// They are not a part of the identity's record, because every login reads and writes that, and the time for it must not
/// depend on the length of a name.
package struct Devices: Sendable {
    fileprivate struct Entry: Codable, Storable {
        /// Empty if the client gave no name.
        var name: String
    }

    /// The longest name that is stored, in characters.
    package static let maxName = 64

    private let table: Table<Entry>
    private let store: any Store

    package init(in store: any Store) {
        table = Table("device", in: store)
        self.store = store
    }

    /// Stores that an identity is a device of the user. A device that is there already keeps its name.
    func add(identity: String, of userID: String, name: String, at now: Moment) async throws {
        let entry = Entry(name: Self.shown(name))
        try await table.update(Self.prefix(userID) + identity, at: now, .ordered) { if $0 == nil { $0 = .init(entry) } }
    }

    /// Returns the identities of a user with the names of the devices, in the order of the identities.
    func list(of userID: String, at now: Moment) async throws -> [(identity: String, name: String)] {
        let prefix = Self.prefix(userID)
        return try await table.all(startingWith: prefix, at: now).map {
            (String($0.key.dropFirst(prefix.count)), $0.value.name)
        }
    }

    /// Adds the identities that versions without this index have registered, once in the life of a store. A record that
    /// cannot be read is left out.
    func addAll(at now: Moment) async throws {
        let done = Table<Bool>("packed", in: store)
        guard try await !done.contains("device", at: now) else { return }
        var last: String?
        repeat {
            let page = try await store.list("identity", after: last, limit: 500, at: now)
            for (key, item) in page {
                guard let record = try? IdentityRecord(stored: item.value), !record.userID.isEmpty else { continue }
                try await add(identity: key, of: record.userID, name: "", at: now)
            }
            last = page.last?.key
        } while last != nil
        _ = try await done.create("device", true, at: now)
    }

    /// Returns the name without characters that cannot be seen or that change the direction of a text, and cut to its
    /// longest length.
    static func shown(_ name: String) -> String {
        let scalars = UserID.normal(name).unicodeScalars.filter {
            $0 == " " || UserID.hiddenCharacters(in: String($0)) == nil && !$0.properties.isWhitespace
        }
        return String(String(String.UnicodeScalarView(scalars)).prefix(maxName))
    }

    private static func prefix(_ userID: String) -> String { Hex.encode(SHA256.hash(Array(userID.utf8))) + " " }
}

extension AuthenticationService {
    /// Returns the devices of a user, the latest registered first.
    package func devices(of userID: String) async throws -> [Device] {
        let now = now
        var found: [Device] = []
        for (identity, name) in try await devices.list(of: userID, at: now) {
            guard let record = try await identities.find(key: identity, at: now), record.userID == userID else {
                continue
            }
            let isBlocked = record.blocked || record.blockedUntil.map { $0 > now } ?? false
            found.append(
                Device(
                    identity: identity, name: name.isEmpty ? nil : name, registered: record.registered,
                    lastUsed: record.lastAttempt, isRevoked: record.hasEnded, isBlocked: isBlocked))
        }
        return found.sorted { $0.registered > $1.registered }
    }

    /// Revokes a device of a user, so that it can never log in again. `identity` is its ``Device/identity``. Returns the
    /// M-Pin ID. Nil if this user has no such device; then nothing is changed.
    package func removeDevice(_ identity: String, of userID: String) async throws -> MPinID? {
        let now = now
        guard let record = try await identities.find(key: identity, at: now), record.userID == userID,
            let id = MPinID(hex: record.mpinID), try await identities.revoke(id, at: now) != nil
        else { return nil }
        return id
    }
}
