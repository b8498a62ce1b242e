package import MPinOpenID
import MPinService
package import MPinStore

/// The commands of `mpind user profile`: they show and change what the OpenID provider tells clients about a user, also
/// while a server uses the database.
package struct ProfileAdministration: Sendable {
    private let profiles: Profiles
    private let users: UserAdministration
    private let audit: Audit
    private let clock: Clock

    package init(database: ServiceDatabase, audit: Audit, clock: @escaping Clock = Moment.now) async throws {
        let store = try await database.open()
        users = UserAdministration(in: store, clock: clock)
        profiles = Profiles(in: store)
        self.audit = audit
        self.clock = clock
    }

    /// Returns the profile of `user`. Nil if nobody is registered with this user id.
    package func show(_ user: String) async throws -> ProfileEntry? {
        audit.record(.command("user profile show", user: user))
        guard let key = try await registered(user) else { return nil }
        return ProfileEntry(try await profiles.profile(of: key.text, at: clock()))
    }

    /// Changes the profile of `user`, and returns the changed one. Nil if nobody is registered with this user id. Throws
    /// ``ProfileFault`` if a value is refused.
    package func set(_ user: String, _ change: ProfileChange) async throws -> ProfileEntry? {
        guard let key = try await registered(user) else { return nil }
        let changed = try await profiles.change(key.text, change, at: clock())
        audit.record(.profile("profile-changed", user: key.text, members: change.names, by: "operator"))
        return ProfileEntry(changed)
    }

    private func registered(_ user: String) async throws -> UserKey? {
        let now = clock()
        guard let found = try await users.matching(user, nil, at: now).first else { return nil }
        return found.value.user
    }
}

/// A profile as operators see it.
package struct ProfileEntry: Sendable, Encodable {
    private let profile: Profile

    package init(_ profile: Profile) { self.profile = profile }

    /// One line `name: text` for each member that is set. `groups` has a line for each group.
    package var lines: [String] {
        var lines = ["user: \(profile.user.shown)"]
        if let name = profile.name { lines.append("name: \(name)") }
        if let email = profile.email {
            lines += ["email: \(email)", "email-verified: \(profile.isEmailVerified)"]
        }
        if let pending = profile.pendingEmail { lines.append("email-pending: \(pending.address)") }
        if let picture = profile.picture { lines.append("picture: \(picture)") }
        if let locale = profile.locale { lines.append("locale: \(locale)") }
        lines += profile.groups.map { "groups: \($0)" }
        return lines + (profile.updated.map { ["updated: \($0.iso)"] } ?? [])
    }

    private enum Name: String, CodingKey {
        case user, name, email, picture, locale, groups, updated
        case isVerified = "email-verified"
        case pending = "email-pending"
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Name.self)
        try members.encode(profile.user.shown, forKey: .user)
        try members.encodeIfPresent(profile.name, forKey: .name)
        try members.encodeIfPresent(profile.email, forKey: .email)
        if profile.email != nil { try members.encode(profile.isEmailVerified, forKey: .isVerified) }
        try members.encodeIfPresent(profile.pendingEmail?.address, forKey: .pending)
        try members.encodeIfPresent(profile.picture, forKey: .picture)
        try members.encodeIfPresent(profile.locale, forKey: .locale)
        try members.encode(profile.groups, forKey: .groups)
        try members.encodeIfPresent(profile.updated?.iso, forKey: .updated)
    }
}
