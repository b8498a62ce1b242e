import MPinSecrets
package import MPinStore

/// The pauses between the mails to one user. All users are counted, so that a refusal does not reveal who is registering.
package struct MailBackoff: Sendable {
    /// How often a mail to an address was asked for, and when one may be sent again.
    private struct Asked: Codable, Storable {
        var count: Int
        var again: Moment
    }

    private let asked: Table<Asked>
    /// Seconds between the first mail and the second. Each further wait is twice as long, up to `longestWait`. Even the
    /// longest wait is short, because anybody who knows an address can ask, and then its owner has to wait, too.
    private static let firstWait = 60
    private static let longestWait = 300
    /// Seconds after the end of a wait. If nobody asks for a mail in this time, the count begins again at 0.
    private static let memory = 3600

    /// Whether all users with one mailbox count together, as for registrations.
    private let isByMailbox: Bool

    /// `name` is the name of the table in the store. `byMailbox`: whether all users with one mailbox count together.
    package init(_ name: String, byMailbox: Bool = true, in store: any Store) {
        asked = Table(name, in: store)
        isByMailbox = byMailbox
    }

    /// Notes that a mail to `user` was asked for. `isAllowed`: whether it may be sent now. `again`: when
    /// the next one may be sent.
    package func ask(for user: String, at now: Moment) async throws -> (isAllowed: Bool, again: Moment) {
        try await asked.update(key(user), at: now) { entry in
            if let again = entry?.value.again, now < again { return (false, again) }
            let count = min(entry?.value.count ?? 0, 16)
            let again = now.adding(seconds: min(Self.firstWait << count, Self.longestWait))
            entry = .init(Asked(count: count + 1, again: again), expires: again.adding(seconds: Self.memory))
            return (true, again)
        }
    }

    /// Ends the wait of `user`, who has just read the mail: whoever asks for the next one bothers nobody else.
    func forget(_ user: String, at now: Moment) async throws { try await asked.delete(key(user), at: now) }

    private func key(_ user: String) -> String {
        Hex.encode(SHA256.hash(Array((isByMailbox ? UserID.mailbox(user) : UserID.spelling(user)).utf8)))
    }
}
