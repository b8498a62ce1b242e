import MPinSecrets
import MPinService
import MPinStore

/// The mails of registrations that are not confirmed yet, so that they can be sent again. Clients can ask for a new
/// mail themselves; this is for people whose client does not offer it.
struct PendingMails: Sendable {
    struct Pending: Codable, Storable {
        var link: ActivationLink
        /// The language code of the first mail.
        var language: String
    }

    /// How often a mail to an address was asked for, and when one may be sent again. All addresses are counted, so that
    /// a refusal does not reveal who is registering.
    private struct Asked: Codable, Storable {
        var count: Int
        var again: Moment
    }

    private let mails: Table<Pending>
    private let asked: Table<Asked>
    /// Seconds between the first mail and the second. Each further wait is twice as long, up to `longestWait`. Even the
    /// longest wait is short, because anybody who knows an address can ask, and then its owner has to wait, too.
    private static let firstWait = 60
    private static let longestWait = 300
    /// Seconds after the end of a wait. If nobody asks for a mail in this time, the count begins again at 0.
    private static let memory = 3600

    init(in store: any Store) {
        mails = Table("pending_mail", in: store)
        asked = Table("asked_mail", in: store)
    }

    /// Stores the mail of a registration. It replaces the mail of an earlier registration of the same user, who waits
    /// only for the last one.
    func add(_ link: ActivationLink, user: String, in language: Language, at now: Moment) async throws {
        guard let expires = Moment(link.expires) else { return }
        try await mails.update(Self.key(user), at: now) { entry in
            entry = .init(Pending(link: link, language: language.code), expires: expires)
        }
    }

    /// Deletes the mail of the registration `id`. A mail of another registration of the user stays.
    func remove(id: String, user: String, at now: Moment) async throws {
        try await mails.update(Self.key(user), at: now) { entry in
            if entry?.value.link.id == id { entry = nil }
        }
    }

    /// Notes that a mail to the address `user` was asked for. `isAllowed`: whether it may be sent now. `again`: when
    /// the next one may be sent. `mail`: the mail, if it may be sent and there is one.
    func ask(for user: String, at now: Moment) async throws -> (isAllowed: Bool, again: Moment, mail: Pending?) {
        // All spellings of one mailbox count together, as for registrations.
        let mailbox = Self.hash(UserID.mailbox(user))
        let (isAllowed, again) = try await asked.update(mailbox, at: now) { entry -> (Bool, Moment) in
            if let again = entry?.value.again, now < again { return (false, again) }
            let count = min(entry?.value.count ?? 0, 16)
            let again = now.adding(seconds: min(Self.firstWait << count, Self.longestWait))
            entry = .init(Asked(count: count + 1, again: again), expires: again.adding(seconds: Self.memory))
            return (true, again)
        }
        return (isAllowed, again, isAllowed ? try await mails.read(Self.key(user), at: now) : nil)
    }

    private static func key(_ user: String) -> String { hash(UserID.normal(user).lowercased()) }

    private static func hash(_ text: String) -> String { Hex.encode(SHA256.hash(Array(text.utf8))) }
}
