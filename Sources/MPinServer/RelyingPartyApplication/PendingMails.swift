import MPinSecrets
import MPinService
import MPinStore

/// The mails whose links wait to be opened, so that they can be sent again. A client can always ask for a new one itself;
/// these are for people who do not see theirs do so.
struct PendingMails: Sendable {
    struct Pending: Codable, Storable {
        var link: ActivationLink
        /// Code of the language that the first one was written in.
        var language: String
    }

    /// How often a mail to an address was asked for, whether there is one or not: nobody learns from a refusal who is
    /// registering.
    private struct Asked: Codable, Storable {
        var count: Int
        var again: Moment
    }

    private let mails: Table<Pending>
    private let asked: Table<Asked>
    /// Seconds from the first mail to the second; each further time it is twice as long, up to the longest. That is short:
    /// anybody who knows an address may ask, and its owner waits with them.
    private static let firstWait = 60
    private static let longestWait = 300
    /// Seconds after which it begins anew.
    private static let memory = 3600

    init(in store: any Store) {
        mails = Table("pending_mail", in: store)
        asked = Table("asked_mail", in: store)
    }

    /// Of two registrations of one user the last is the one that somebody waits for.
    func add(_ link: ActivationLink, user: String, in language: Language, at now: Moment) async throws {
        guard let expires = Moment(link.expires) else { return }
        try await mails.update(Self.key(user), at: now) { entry in
            entry = .init(Pending(link: link, language: language.code), expires: expires)
        }
    }

    /// The mail of that registration is done with; one of another registration stays.
    func remove(id: String, user: String, at now: Moment) async throws {
        try await mails.update(Self.key(user), at: now) { entry in
            if entry?.value.link.id == id { entry = nil }
        }
    }

    /// Whether a mail to that address may be sent now, when the next one may be, and the mail, if there is one.
    func ask(for user: String, at now: Moment) async throws -> (isAllowed: Bool, again: Moment, mail: Pending?) {
        // Of all spellings that are one mailbox, as for registrations.
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
