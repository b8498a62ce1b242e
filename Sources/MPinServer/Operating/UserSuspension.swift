import MPinService
import MPinStore

/// The suspension of users: `mpind user suspend` and `mpind user resume`. It works on the database, also while the server
/// runs.
extension UserAdministration {
    /// A suspension, as the commands and the admin API show it.
    package struct SuspensionEntry: Sendable, Encodable {
        /// ``UserKey/shown``.
        package let user: String
        package let reason: String
        /// The name of the admin token, or of the person, by whom the user was suspended.
        package let by: String
        package let since: String
        /// When it ends by itself. Nil: never.
        package let until: String?

        init(_ suspension: Suspension) {
            user = UserKey(text: suspension.user).shown
            reason = suspension.reason
            by = suspension.by
            since = suspension.since.iso
            until = suspension.until?.iso
        }
    }

    /// The most characters of a reason.
    package static let reasonCharacters = 256

    /// Suspends a user, who need not be registered, in place of an earlier suspension of the same user. `until` is a time in
    /// the form `2026-11-21T02:37:19Z`; nil: until ``resume(user:audit:)``. Throws ``SuspensionFault``.
    package func suspend(
        user named: String, reason: String, by actor: String, until: String?, audit: Audit
    ) async throws -> SuspensionEntry {
        let now = clock()
        guard (1...Self.reasonCharacters).contains(reason.count), UserID.hiddenCharacters(in: reason) == nil else {
            throw SuspensionFault.reason
        }
        let end = try until.map { text throws(SuspensionFault) in
            guard let end = Moment(text), now < end else { throw .until }
            return end
        }
        let user = try await devices(at: now).user(named: named, at: now)
        let suspension = Suspension(user: user.text, reason: reason, by: actor, since: now, until: end)
        // The suspension comes first: a device that registers from now on finds it, and others are in the list of devices.
        try await suspensions.begin(suspension, at: now)
        for identity in try await markDevices(of: user, at: now) {
            audit.record(.suspended(identity: identity, suspension))
        }
        return SuspensionEntry(suspension)
    }

    /// Ends the suspension of a user. What devices are blocked for besides stays. Nil if the user is not suspended.
    package func resume(user named: String, audit: Audit) async throws -> SuspensionEntry? {
        let now = clock()
        let user = try await devices(at: now).user(named: named, at: now)
        guard let ended = try await suspensions.end(user, at: now) else { return nil }
        for identity in try await markDevices(of: user, at: now) {
            audit.record(.resumed(identity: identity, user: user.text))
        }
        return SuspensionEntry(ended)
    }

    /// The suspension of a user. Nil if there is none.
    package func suspension(of user: String) async throws -> SuspensionEntry? {
        let now = clock()
        let user = try await devices(at: now).user(named: user, at: now)
        return try await suspensions.find(user, at: now).map(SuspensionEntry.init)
    }

    /// At most `limit` suspensions, those that come after that of `user`, in an order that does not change.
    package func listSuspensions(after user: String?, limit: Int) async throws -> [SuspensionEntry] {
        let now = clock()
        var last: UserKey?
        if let user { last = try await devices(at: now).user(named: user, at: now) }
        return try await suspensions.list(after: last, limit: limit, at: now).map(SuspensionEntry.init)
    }

    /// Makes the marks of the user's identities agree with the suspension. Returns the identities, for the audit log: one that
    /// is empty if there are none.
    private func markDevices(of user: UserKey, at now: Moment) async throws -> [String] {
        var marked: [String] = []
        for (key, _) in try await devices(at: now).list(of: user, at: now) {
            if try await suspensions.mark(key, of: user, at: now) != nil { marked.append(key) }
        }
        return marked.isEmpty ? [""] : marked
    }
}

/// Why a user cannot be suspended.
package enum SuspensionFault: Error, Equatable, CustomStringConvertible {
    case reason
    case until

    package var description: String {
        switch self {
        case .reason: "reason: expected 1 to \(UserAdministration.reasonCharacters) visible characters"
        case .until: "until: expected a time in the future, as 2026-11-21T02:37:19Z"
        }
    }
}
