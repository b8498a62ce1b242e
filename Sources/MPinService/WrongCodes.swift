import MPinSecrets
import MPinStore

/// How many wrong codes of six digits were tried for each mailbox: those of mails, QuickCodes and activation codes of
/// logins together, of all users with that mailbox at all projects. Each code by itself can hardly be guessed; whoever
/// has many codes made, one after the other, must not be able to try them all. The users of a project's back end have
/// counts of their own, so that it cannot use up those of the mailboxes that it names.
struct WrongCodes: Sendable {
    private struct Count: Codable, Storable {
        var wrong: Int
    }

    /// A day begins with the first wrong code.
    private static let seconds = 86_400
    private let table: Table<Count>
    private let limit: Int

    /// `limit`: how many wrong codes there may be in a day.
    init(in store: any Store, limit: Int) {
        table = Table("wrong_code", in: store)
        self.limit = limit
    }

    /// Whether a code has the form of those that can be guessed. Links and the operator's codes are longer.
    static func isShort(_ code: String) -> Bool { code.utf8.count <= 8 }

    /// Whether no code for the mailbox of `user` is looked at any more today.
    func isUsedUp(_ user: UserKey, at now: Moment) async throws -> Bool {
        try await table.read(Self.key(user), at: now)?.wrong ?? 0 >= limit
    }

    /// Runs `judge`, which compares a code of `user`, and counts a wrong one. If there were too many, it is not run. The
    /// try is counted first, so that many at once are not judged, either.
    func counting(
        _ user: UserKey, at now: Moment, _ judge: () async throws -> UserCodes.Outcome
    ) async throws -> UserCodes.Outcome {
        let (key, limit) = (Self.key(user), limit)
        let isAllowed = try await table.update(key, at: now, .volatile) { entry in
            guard entry?.value.wrong ?? 0 < limit else { return false }
            let end = entry?.expires ?? now.adding(seconds: Self.seconds)
            entry = .init(Count(wrong: (entry?.value.wrong ?? 0) + 1), expires: end)
            return true
        }
        guard isAllowed else { return .unjudged }
        let outcome = try await judge()
        if case .wrong = outcome { return outcome }
        try await table.update(key, at: now, .volatile) { entry in
            guard let wrong = entry?.value.wrong else { return }
            if wrong > 1 { entry?.value.wrong = wrong - 1 } else { entry = nil }
        }
        return outcome
    }

    private static func key(_ user: UserKey) -> String { Hex.encode(SHA256.hash(Array(user.mailbox.text.utf8))) }
}
