import Foundation
import MPinSecrets
import MPinStore

/// Short codes that users type in. A user id has at most one at a time. A code is good once, and after five wrong tries
/// it is deleted, so that it cannot be guessed.
struct UserCodes: Sendable {
    /// A code as the store has it.
    struct Code: Codable, Storable {
        /// The salt in hex.
        let salt: String
        /// SHA-256 of salt and code in hex. The code itself is not stored.
        let hash: String
        var wrongTries = 0
        /// Hex of the M-Pin ID of the login that made the code. Nil if no login did.
        let mpinID: String?
        /// What whoever issued the code wants back with it. Nil: nothing.
        let note: String?

        fileprivate init(_ code: String, mpinID: String?, note: String?) throws {
            salt = Hex.encode(try randomBytes(16))
            hash = Self.hash(salt, code)
            self.mpinID = mpinID
            self.note = note
        }

        fileprivate func accepts(_ code: String) -> Bool {
            let (given, kept) = (Array(Self.hash(salt, code).utf8), Array(hash.utf8))
            return constantTimeEqual(given.span, kept.span)
        }

        private static func hash(_ salt: String, _ code: String) -> String {
            Hex.encode(SHA256.hash(Array((salt + code).utf8)))
        }
    }

    private static let maxTries = 5
    private let table: Table<Code>

    /// `name` is the name of the table in the store.
    init(_ name: String, in store: any Store) { table = Table(name, in: store) }

    func clear(at now: Moment) async throws {
        while let (key, _) = try await table.list(after: nil, limit: 1, at: now).first {
            try await table.delete(key, at: now)
        }
    }

    /// Stores a code for the user id `user`, in place of an earlier one.
    func issue(
        _ code: String, user: String, mpinID: String? = nil, note: String? = nil, until expires: Moment, at now: Moment
    ) async throws {
        let kept = try Code(code, mpinID: mpinID, note: note)
        try await table.update(Self.key(user), at: now, .durable) { $0 = .init(kept, expires: expires) }
    }

    /// Redeems a code. If it is the code of `user`, the code is deleted and returned. Nil for a wrong code, which is
    /// counted.
    func redeem(_ code: String, user: String, at now: Moment) async throws -> Code? {
        try await table.update(Self.key(user), at: now, .durable) { entry in
            guard let kept = entry?.value else { return nil }
            guard !kept.accepts(code) else {
                entry = nil
                return kept
            }
            entry?.value.wrongTries += 1
            if entry?.value.wrongTries ?? 0 >= Self.maxTries { entry = nil }
            return nil
        }
    }

    /// Whether `code` is the code of `user`. This is not counted as a try.
    func contains(_ code: String, user: String, at now: Moment) async throws -> Bool {
        try await table.read(Self.key(user), at: now)?.accepts(code) ?? false
    }

    /// Whether `user` has a code.
    func hasCode(_ user: String, at now: Moment) async throws -> Bool {
        try await table.read(Self.key(user), at: now) != nil
    }

    /// Deletes the code of `user`, if there is one.
    func delete(user: String, at now: Moment) async throws { try await table.delete(Self.key(user), at: now) }

    private static func key(_ user: String) -> String {
        Hex.encode(SHA256.hash(Array(user.precomposedStringWithCanonicalMapping.utf8)))
    }
}
