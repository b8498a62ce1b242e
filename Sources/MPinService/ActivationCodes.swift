import Foundation
import MPinSecrets
package import MPinStore

/// One-time codes that confirm a registration in the place of a mail (`activateCode`, wire section 6.2). A user id has one
/// at a time: of the operator, who hands it over on a way of his own, or of another device of the same user.
package struct ActivationCodes: Sendable {
    private struct Code: Codable, Storable {
        /// Hex.
        let salt: String
        /// SHA-256 of salt and code in hex: the code itself is not kept.
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

    /// Wrong ones of which the last voids the code.
    private static let maxTries = 5
    private let codes: Table<Code>

    package init(in store: any Store) { codes = Table("activation_code", in: store) }

    /// Voids all, in a backup that takes the place of a database: some may have been used since.
    package func clear(at now: Moment) async throws {
        while let (key, _) = try await codes.list(after: nil, limit: 1, at: now).first {
            try await codes.delete(key, at: now)
        }
    }

    /// Keeps the code, in the place of an earlier one of that user.
    package func issue(_ code: String, user: String, until expires: Moment, at now: Moment) async throws {
        let kept = try Code(code)
        try await codes.update(Self.key(user), at: now, .durable) { $0 = .init(kept, expires: expires) }
    }

    /// Whether it is the user's code, which is used up then. A wrong one is counted.
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

    /// A new code for an operator: 60 random bits in 12 letters and digits that nobody mistakes for each other.
    package static func random() throws -> String {
        let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
        let characters = try randomBytes(12).map { alphabet[Int($0) % alphabet.count] }
        return stride(from: 0, to: 12, by: 4).map { String(characters[$0..<$0 + 4]) }.joined(separator: "-")
    }

    /// Without what people add or change when they type a code.
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
