import MPinSecrets
package import MPinStore

/// Users whom a project's own back end verifies (TRUST wire section 6.1).
extension ProjectService {
    /// Seconds for which a code or a token of a back end is good, and the most that it may ask for.
    private static let (customSeconds, maxCustomSeconds) = (3600, 30 * 86_400)

    /// Makes a code that the back end hands to the user, in place of an earlier one. `expires` is nil for an hour.
    /// Throws ``ProjectFault/badMember(_:)`` if it is not a time of the next 30 days.
    package func startCustomVerification(
        _ wish: VerificationWish, until expires: Moment?
    ) async throws -> StartedVerification {
        let now = now
        let end = expires ?? now.adding(seconds: Self.customSeconds)
        guard now < end, end <= now.adding(seconds: Self.maxCustomSeconds) else {
            throw ProjectFault.badMember("expiration")
        }
        try await service.requireNotSuspended(wish.user)
        let code = Hex.encode(try randomBytes(32))
        try await verifications.issue(code, wish, .custom, until: end, at: now)
        return StartedVerification(code: code, method: .link, expires: end, again: now)
    }

    /// A registration that a back end has begun for its user.
    package struct InitiatedRegistration: Sendable {
        /// The M-Pin ID that the device will get.
        package let id: MPinID
        package let activationToken: String
        package let expires: Moment
    }

    /// Makes an M-Pin ID and the token with which the user's device registers with it, without a code.
    package func initiateRegistration(user written: String, project: Project) async throws -> InitiatedRegistration {
        let now = now
        let user = try await service.registrant(written, of: project.id)
        try await service.requireNotSuspended(user)
        let id = try MPinID.issue(userID: written, project: project.id, verification: .custom, at: now)
        let end = now.adding(seconds: Self.customSeconds)
        let activation = Activation(userID: user.userID, projectID: project.id, verification: .custom, id: id)
        let token = try await activations.issue(activation, until: end, at: now)
        return InitiatedRegistration(id: id, activationToken: token, expires: end)
    }
}
