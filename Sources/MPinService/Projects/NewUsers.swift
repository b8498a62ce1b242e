import MPinSecrets
import MPinStore

/// Registrations that the project's back end confirms, and not a mail (TRUST wire section 6.1).
extension ProjectService {
    /// Confirms the registration of the M-Pin ID with this hash (64 hex digits) by its activation key. Returns the user
    /// and the project. Throws the same for an unknown hash, a wrong key, and a project whose users a mail verifies.
    package func activate(hash: String, activationKey key: String) async throws -> (user: String, project: Project) {
        let now = now
        guard let hash = Hex.decode(hash).map({ Hex.encode($0) }),
            let registration = try await service.registrations.find(hash: hash, at: now),
            let id = registration.id.verifyingProject, let project = try await projects.find(id, at: now),
            project.newUserURL != nil
        else { throw ProjectFault.wrongActivationToken }
        do { try await service.confirm(registration.id, activationKey: key) } catch is ServiceError {
            throw ProjectFault.wrongActivationToken
        }
        return (registration.userID, project)
    }
}
