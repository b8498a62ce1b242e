import MPinSecrets
package import MPinStore

/// The profiles of all users.
package struct Profiles: Sendable {
    /// For how many seconds the link in the mail to a new address is valid.
    package static let linkSeconds = 3600

    /// An address that somebody wants for an account, until the link in the mail to it is opened.
    package struct EmailLink: Sendable, Equatable, Codable, Storable {
        package let userID: String
        package let address: String
    }

    private let table: Table<Profile>
    private let links: Table<EmailLink>

    package init(in store: any Store) {
        table = Table("oidc_profile", in: store)
        links = Table("oidc_email_link", in: store)
    }

    /// Returns the profile of a user. A user whose profile nobody has changed yet has one without a record.
    package func profile(of userID: String, at now: Moment) async throws -> Profile {
        try await table.read(Self.key(userID), at: now) ?? Profile(userID: userID)
    }

    /// Changes the profile of a user, and returns the changed one. Throws ``ProfileFault`` if a value is refused.
    package func change(_ userID: String, _ change: ProfileChange, at now: Moment) async throws -> Profile {
        try await update(userID, at: now) { profile in
            let before = profile
            try change.apply(to: &profile)
            if profile != before { profile.updated = now }
        }
    }

    /// Notes that the user has opened the link in a mail to the user id. It has an effect only if the user id is a mail
    /// address, and if no other address was set.
    package func proveUserID(_ userID: String, at now: Moment) async throws {
        guard EmailAddress(userID) != nil else { return }
        _ = try await update(userID, at: now) { profile in
            if profile.proveUserID() { profile.updated = now }
        }
    }

    /// Deletes the profile of a user whom the operator deletes.
    package func remove(_ userID: String, at now: Moment) async throws {
        try await table.delete(Self.key(userID), at: now)
    }

    private func update(
        _ userID: String, at now: Moment, _ change: @escaping @Sendable (inout Profile) throws -> Void
    ) async throws -> Profile {
        try await table.update(Self.key(userID), at: now, .durable) { entry in
            var profile = entry?.value ?? Profile(userID: userID)
            try change(&profile)
            entry = .init(profile)
            return profile
        }
    }

    private static func key(_ userID: String) -> String { Hex.encode(SHA256.hash(Array(userID.utf8))) }
}

/// A user's change of the mail address. Until the link in the mail to the new address is opened, the old one stays.
extension Profiles {
    /// Notes that the user wants `address`, and returns the token for the link in the mail to it. The link of an earlier
    /// request of this user is no longer valid.
    package func requestEmail(_ address: String, for userID: String, at now: Moment) async throws -> OpaqueToken {
        guard let address = EmailAddress(address)?.text else { throw ProfileFault(.email, "is no mail address") }
        let (token, expires) = (try OpaqueToken.random(), now.adding(seconds: Self.linkSeconds))
        _ = try await links.create(
            token.key, EmailLink(userID: userID, address: address), expires: expires, at: now)
        _ = try await update(userID, at: now) {
            $0.pendingEmail = .init(address: address, link: token.key, expires: expires)
        }
        return token
    }

    /// Forgets the address that waits for its link.
    package func cancelEmail(for userID: String, at now: Moment) async throws {
        _ = try await update(userID, at: now) { $0.pendingEmail = nil }
    }

    /// Returns what a link is for. Nil if it has expired, was used, or was replaced by a later one.
    package func emailLink(_ token: OpaqueToken, at now: Moment) async throws -> EmailLink? {
        guard let link = try await links.read(token.key, at: now),
            try await profile(of: link.userID, at: now).pendingEmail?.link == token.key
        else { return nil }
        return link
    }

    /// Gives the user the address whose link was opened, as a verified one. Returns the address that it replaces, too.
    /// Nil if the link is not valid any more.
    package func confirmEmail(_ token: OpaqueToken, at now: Moment) async throws -> (link: EmailLink, old: String?)? {
        guard let link = try await emailLink(token, at: now) else { return nil }
        let old = try await profile(of: link.userID, at: now).email
        let profile = try await update(link.userID, at: now) { profile in
            guard profile.pendingEmail?.link == token.key else { return }
            profile.setEmail(link.address, isProven: true)
            profile.pendingEmail = nil
            profile.updated = now
        }
        try await links.delete(token.key, at: now)
        return profile.email == link.address && profile.isEmailVerified ? (link, old) : nil
    }
}
