import Foundation
import MPinSecrets
import MPinStore

/// Short codes that users type in. A user id has at most one at a time. A code is good once, and after five wrong tries
/// it is deleted, so that it cannot be guessed. Three of one asker are enough that this asker's tries are not looked at
/// any more, so that a stranger does not take the code away from its user. What does not have the length of the code is no
/// try, and neither is one for the code of a link, which nobody can guess.
struct UserCodes: Sendable {
    /// A code as the store has it.
    struct Code: Codable, Storable {
        /// The salt in hex.
        let salt: String
        /// SHA-256 of salt and code in hex. The code itself is not stored.
        let hash: String
        var wrongTries = 0
        /// The wrong tries of each asker, whose name is hashed with the salt. Nil: none.
        var wrongTriesBy: [String: Int]?
        /// The length of the code in bytes. Nil: it was issued by a version that did not store it.
        let length: Int?
        /// Hex of the M-Pin ID of the login that made the code. Nil if no login did.
        let mpinID: String?
        /// What whoever issued the code wants back with it. Nil: nothing.
        let note: String?

        fileprivate init(_ code: String, mpinID: String?, note: String?) throws {
            salt = Hex.encode(try randomBytes(16))
            hash = Self.hash(salt, code)
            self.mpinID = mpinID
            self.note = note
            length = code.utf8.count
        }

        fileprivate func isTry(_ code: String, by asker: String?) -> Bool {
            let tries = asker.flatMap { wrongTriesBy?[name($0)] } ?? 0
            return (length ?? code.utf8.count) == code.utf8.count && tries < UserCodes.maxTriesOfAsker
        }

        /// Notes a wrong try. Returns whether there were too many.
        fileprivate mutating func noteWrongTry(by asker: String?) -> Bool {
            guard length ?? 0 < UserCodes.unguessable else { return false }
            wrongTries += 1
            if let asker { wrongTriesBy = (wrongTriesBy ?? [:]).merging([name(asker): 1], uniquingKeysWith: +) }
            return wrongTries >= UserCodes.maxTries
        }

        private func name(_ asker: String) -> String { String(Self.hash(salt, asker).prefix(16)) }

        fileprivate func accepts(_ code: String) -> Bool {
            let (given, kept) = (Array(Self.hash(salt, code).utf8), Array(hash.utf8))
            return constantTimeEqual(given.span, kept.span)
        }

        private static func hash(_ salt: String, _ code: String) -> String {
            Hex.encode(SHA256.hash(Array((salt + code).utf8)))
        }
    }

    /// What came of a try.
    enum Outcome: Sendable {
        case right(Code)
        case wrong
        /// There is no code, or the try was not compared with it.
        case unjudged

        var code: Code? {
            if case .right(let code) = self { code } else { nil }
        }
    }

    private static let (maxTries, maxTriesOfAsker) = (5, 3)
    /// Codes of so many bytes cannot be guessed.
    private static let unguessable = 32
    private let table: Table<Code>
    private let wrongCodes: WrongCodes?

    /// `name` is the name of the table in the store. `wrongCodes` counts the wrong short codes of all tables; nil if these
    /// have no limit in common with others.
    init(_ name: String, in store: any Store, counting wrongCodes: WrongCodes? = nil) {
        table = Table(name, in: store)
        self.wrongCodes = wrongCodes
    }

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
    /// counted. `owner`: whose mailbox has a budget of wrong codes. `asker` names whoever tries; nil if that is not known,
    /// or a program that asks for everybody.
    func redeem(
        _ code: String, user: String, of owner: UserKey, by asker: String?, at now: Moment
    ) async throws -> Code? {
        guard let wrongCodes, WrongCodes.isShort(code) else {
            return try await judge(code, user: user, by: asker, at: now).code
        }
        return try await wrongCodes.counting(owner, at: now) {
            try await judge(code, user: user, by: asker, at: now)
        }.code
    }

    private func judge(_ code: String, user: String, by asker: String?, at now: Moment) async throws -> Outcome {
        try await table.update(Self.key(user), at: now, .durable) { entry in
            guard let kept = entry?.value, kept.isTry(code, by: asker) else { return .unjudged }
            guard !kept.accepts(code) else {
                entry = nil
                return .right(kept)
            }
            if entry?.value.noteWrongTry(by: asker) == true { entry = nil }
            return .wrong
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
