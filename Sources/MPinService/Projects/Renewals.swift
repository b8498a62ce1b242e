import MPinSecrets
import MPinStore

/// Identities that were made to take the place of others, and have not logged in yet.
struct Renewals: Sendable {
    private struct Entry: Codable, Storable {
        /// The key of the identity whose place is taken.
        let replaced: String
        /// The user (``UserKey/text``), with whom the entry is exported and deleted.
        let userID: String
    }

    private let table: Table<Entry>

    init(in store: any Store) { table = Table("renewal", in: store) }

    func add(_ id: MPinID, replacing old: String, of user: UserKey, at now: Moment) async throws {
        _ = try await table.create(id.key, Entry(replaced: old, userID: user.text), at: now)
    }

    /// Returns the key of the identity whose place the one with this key takes. Nil if it takes none, or has done so.
    func replaced(by key: String, at now: Moment) async throws -> String? {
        try await table.read(key, at: now)?.replaced
    }

    func end(_ key: String, at now: Moment) async throws { try await table.delete(key, at: now) }
}

/// The renewal of client secrets without the user (TRUST wire section 4.11): after a right PIN the device registers
/// again, and its old identity ends when the new one has logged in.
extension ProjectService {
    /// A token with which the device of a login registers again.
    package struct RenewalToken: Sendable {
        package let token: String
    }

    /// Seconds for which a device may register again. It does so at once.
    private static let renewalSeconds = 120

    /// Returns a token for the identity of a login with a right PIN, if its secret must be renewed: the D-TAs have a new
    /// master secret, the identity has no key pair, or the operator wants it. `fallback` is the project for an identity of
    /// none. Nil if there is nothing to renew, or no project to register with.
    func renewal(_ record: IdentityRecord, fallback: String?) async throws -> RenewalToken? {
        // An identity for signatures stays one. If its secret is too old, the user makes another one.
        guard service.needsRenewal(record), let id = MPinID(hex: record.mpinID), !id.isForSignatures else { return nil }
        let now = now
        guard let wanted = id.projectID ?? fallback, let project = try await projects.find(wanted, at: now) else {
            return nil
        }
        // An identity that was made by a QuickCode stays one, so that a renewal lifts no limit of the project.
        let verification = id.verification == .quickCode ? VerificationType.quickCode : .renewal
        let activation = Activation(
            userID: record.user.userID, projectID: project.id, verification: verification, replaced: id.key)
        let end = now.adding(seconds: Self.renewalSeconds)
        return RenewalToken(token: try await activations.issue(activation, until: end, at: now))
    }

    /// Returns a token with which the device of a login registers a further identity, for signatures. Nil if there is no
    /// project to register with.
    func signingRegistration(_ record: IdentityRecord, fallback: String?) async throws -> RenewalToken? {
        guard let id = MPinID(hex: record.mpinID), let wanted = id.projectID ?? fallback,
            let project = try await projects.find(wanted, at: now)
        else { return nil }
        let activation = Activation(
            userID: record.user.userID, projectID: project.id, verification: .renewal, maker: id.key)
        let end = now.adding(seconds: Self.renewalSeconds)
        return RenewalToken(token: try await activations.issue(activation, until: end, at: now))
    }

    /// Ends the identity whose place this one of `user` has taken, because this one has logged in.
    func endRenewed(by id: MPinID, of user: UserKey) async throws {
        let verification = id.verification
        guard verification == .renewal || verification == .quickCode,
            let old = try await renewals.replaced(by: id.key, at: now)
        else { return }
        if let ended = try await service.identities.replace(old, by: id.key, at: now) {
            service.observer(.renewed(ended, user: user.text, by: id))
        }
        try await renewals.end(id.key, at: now)
    }
}

extension AuthenticationService {
    /// Whether the secret of an identity must be renewed. A master secret that cannot be used now is no reason.
    fileprivate func needsRenewal(_ record: IdentityRecord) -> Bool {
        let keys = keys
        return record.mustRenew || record.publicKeyHash == IdentityRecord.noPublicKey
            || record.keyID != keys.currentID && keys.isUsable
    }
}
