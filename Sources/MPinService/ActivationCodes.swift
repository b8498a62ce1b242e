import Foundation
import MPinSecrets
package import MPinStore

/// One-time codes that confirm a registration instead of a mail (`activateCode`, wire section 6.2). A user id has at
/// most one at a time. A user gets the code from the operator, or from another of the user's own devices.
package struct ActivationCodes: Sendable {
    private struct Code: Codable, Storable {
        /// The salt in hex.
        let salt: String
        /// SHA-256 of salt and code in hex. The code itself is not stored.
        let hash: String
        var wrongTries = 0

        init(_ code: String) throws {
            salt = Hex.encode(try randomBytes(16))
            hash = Self.hash(salt, code)
        }

        func accepts(_ code: String) -> Bool {
            let (given, kept) = (Array(Self.hash(salt, code).utf8), Array(hash.utf8))
            return constantTimeEqual(given.span, kept.span)
        }

        private static func hash(_ salt: String, _ code: String) -> String {
            Hex.encode(SHA256.hash(Array((salt + ActivationCodes.plain(code)).utf8)))
        }
    }

    /// After this many wrong tries the user's code is deleted, so that it cannot be guessed.
    private static let maxTries = 5
    private let codes: Table<Code>

    package init(in store: any Store) { codes = Table("activation_code", in: store) }

    /// Deletes all codes. This is done to a backup when it is restored, because some of its codes may have been used
    /// since the backup was made.
    package func clear(at now: Moment) async throws {
        while let (key, _) = try await codes.list(after: nil, limit: 1, at: now).first {
            try await codes.delete(key, at: now)
        }
    }

    /// Stores a code for the user id `user`, in place of an earlier one.
    package func issue(_ code: String, user: String, until expires: Moment, at now: Moment) async throws {
        let kept = try Code(code)
        try await codes.update(Self.key(user), at: now, .durable) { $0 = .init(kept, expires: expires) }
    }

    /// Redeems a code. True if it is the code of `user`, which is then deleted. False for a wrong code, which is
    /// counted.
    func redeem(_ code: String, user: String, at now: Moment) async throws -> Bool {
        try await codes.update(Self.key(user), at: now, .durable) { entry in
            guard let kept = entry?.value else { return false }
            guard !kept.accepts(code) else {
                entry = nil
                return true
            }
            entry?.value.wrongTries += 1
            if entry?.value.wrongTries ?? 0 >= Self.maxTries { entry = nil }
            return false
        }
    }

    /// Makes a code for an operator to hand out: 60 random bits as 12 letters and digits, none of which look alike.
    package static func random() throws -> String {
        let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
        let characters = try randomBytes(12).map { alphabet[Int($0) % alphabet.count] }
        return stride(from: 0, to: 12, by: 4).map { String(characters[$0..<$0 + 4]) }.joined(separator: "-")
    }

    /// The code in upper case, without hyphens and spaces, and with 1 for I and L and 0 for O, which look alike.
    private static func plain(_ code: String) -> String {
        String(
            code.uppercased().compactMap { character -> Character? in
                switch character {
                case "-", " ": nil
                case "O": "0"
                case "I", "L": "1"
                default: character
                }
            })
    }

    private static func key(_ user: String) -> String {
        Hex.encode(SHA256.hash(Array(user.precomposedStringWithCanonicalMapping.utf8)))
    }
}
