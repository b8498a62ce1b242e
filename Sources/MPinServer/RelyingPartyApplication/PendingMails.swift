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

    private let mails: Table<Pending>
    private let backoff: MailBackoff

    init(in store: any Store) {
        mails = Table("pending_mail", in: store)
        backoff = MailBackoff("asked_mail", in: store)
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
        let (isAllowed, again) = try await backoff.ask(for: user, at: now)
        return (isAllowed, again, isAllowed ? try await mails.read(Self.key(user), at: now) : nil)
    }

    private static func key(_ user: String) -> String {
        Hex.encode(SHA256.hash(Array(UserID.spelling(user).utf8)))
    }
}
