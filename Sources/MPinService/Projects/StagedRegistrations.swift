import MPinCrypto
import MPinSecrets
package import MPinStore

/// Registrations in two steps, as the clients before generation 4 make them (TRUST wire section 7.1): the first one takes
/// the activation token and makes the M-Pin ID, the second one hands out the shares. The service asks the first D-TA for
/// its share, as on the Milagro wire, and the client asks the second one itself.
extension ProjectService {
    /// A registration that has begun with an activation token.
    package struct StagedRegistration: Sendable {
        package let id: MPinID
        package let project: Project
        /// The token for the second step, 16 bytes in hex.
        package let registrationToken: String
        package let begun: Moment
        package let expires: Moment
        /// Whether the project's back end has verified the user.
        package let isByBackEnd: Bool
    }

    /// The first step. `project` is the id of the project that the request names; nil if it names none. `pushToken` is
    /// nil if the device takes no pushes.
    package func beginRegistration(
        user written: String, deviceName: String, activationToken: String, project named: String?,
        pushToken: String? = nil, by asker: String?
    ) async throws -> StagedRegistration {
        let now = now
        guard Devices.isPushToken(pushToken) else { throw ProjectFault.badMember("pushToken") }
        guard
            let activation = try await activation(
                activationToken, user: written, project: named, by: asker, at: now)
        else { throw ProjectFault.wrongActivationToken }
        let project = try await project(activation.projectID)
        let id = try await newID(for: activation, written: written, at: now)
        let token = Hex.encode(try randomBytes(16))
        let end = now.adding(seconds: service.limits.registrationSeconds)
        let wish = Registration(
            id: id, userID: activation.userID, regOTT: token, deviceName: Devices.shown(deviceName),
            pushToken: try await self.pushToken(pushToken, for: activation, at: now))
        try await service.addConfirmed(wish, until: end, at: now)
        return StagedRegistration(
            id: id, project: project, registrationToken: token, begun: now, expires: end,
            isByBackEnd: activation.user.project != nil)
    }

    /// The second step. `publicKey` is 128 bytes in hex; empty for an identity without a key pair. `pushToken` takes the
    /// place of that of the first step.
    package func issueShares(
        _ id: MPinID, token: String, publicKey: String, pushToken: String? = nil
    ) async throws -> AuthenticationService.IssuedShares {
        guard !publicKey.isEmpty else { return try await service.issueShares(id, token: token, pushToken: pushToken) }
        guard let key = Hex.decode(publicKey), Server.isPublicKey(key.span) else { throw ServiceError.badPublicKey }
        return try await service.issueShares(id, token: token, publicKey: key, pushToken: pushToken)
    }

    /// The M-Pin ID for an activation: the one that was made with it, or a new one.
    func newID(for activation: Activation, written: String, at now: Moment) async throws -> MPinID {
        let id =
            try activation.id
            ?? MPinID.issue(
                userID: written, project: activation.projectID, verification: activation.verification,
                isByBackEnd: activation.user.project != nil, at: now)
        if let old = activation.replaced {
            try await renewals.add(id, replacing: old, of: activation.user, at: now)
        }
        return id
    }
}

/// The renewal of secrets before generation 4: the M-Pin ID stays (TRUST wire section 7.1).
extension ProjectService {
    /// A new secret for an identity.
    package struct RenewedSecret: Sendable {
        package let id: MPinID
        package let shares: AuthenticationService.IssuedShares
    }

    /// Hands out the shares of a new secret of the identity whose login gave the token. The identity keeps its old key
    /// until it has logged in with the new one. `publicKey` is 128 bytes in hex.
    ///
    /// A token of a login with the scope `dvs-reg` registers a further identity of the user, for signatures.
    package func renewSecret(
        token: String, publicKey: String, deviceName: String
    ) async throws -> RenewedSecret {
        let now = now
        guard let key = Hex.decode(publicKey), Server.isPublicKey(key.span) else { throw ServiceError.badPublicKey }
        let keyID = try service.currentKeyID()
        guard let activation = try await activations.takeOfLogin(token, at: now) else {
            throw ProjectFault.wrongActivationToken
        }
        guard let old = activation.replaced else {
            guard let maker = activation.maker, let record = try await service.identity(maker), !record.isBarred else {
                throw ProjectFault.wrongActivationToken
            }
            return try await registerSigner(
                activation.coming(from: record), publicKey: key, deviceName: deviceName, at: now)
        }
        guard let record = try await service.identity(old), let id = MPinID(hex: record.mpinID), !record.isBarred else {
            throw ProjectFault.wrongActivationToken
        }
        let shares = try await service.shares(id, publicKey: key, keyID: keyID)
        let renewal = IdentityRecord.Renewal(publicKeyHash: SHA256.hash(key), keyID: keyID)
        guard try await service.identities.beginRenewal(id, renewal, at: now) != nil else {
            throw ProjectFault.wrongActivationToken
        }
        service.observer(
            .registered(id, user: record.user.text, keyID: keyID, secretHash: id.secretHash(publicKey: key)))
        return RenewedSecret(id: id, shares: shares)
    }

    private func registerSigner(
        _ activation: Activation, publicKey: [UInt8], deviceName: String, at now: Moment
    ) async throws -> RenewedSecret {
        let id = try MPinID.issue(
            userID: activation.userID, project: activation.projectID, verification: .renewal,
            isByBackEnd: activation.user.project != nil, scope: .signing, at: now)
        let keyID = try service.currentKeyID()
        let shares = try await service.shares(id, publicKey: publicKey, keyID: keyID)
        _ = try await service.addIdentity(
            id, user: activation.user, publicKey: publicKey, keyID: keyID, deviceName: deviceName)
        return RenewedSecret(id: id, shares: shares)
    }
}

extension AuthenticationService {
    /// Stores a registration that needs no confirmation, because its user is verified.
    fileprivate func addConfirmed(_ wish: Registration, until end: Moment, at now: Moment) async throws {
        var registration = wish
        registration.isActive = true
        try await registrations.create(registration, expires: end, at: now)
        observer(.registrationStarted(wish.id, user: wish.user.text, isRestart: false))
        observer(.registrationConfirmed(wish.id, user: wish.user.text))
    }

    /// The first D-TA's share of a client secret, and the requests for those of the others.
    fileprivate func shares(_ id: MPinID, publicKey: [UInt8], keyID: String) async throws -> IssuedShares {
        guard let first = authorities.first else { throw ServiceError.noShareFromAuthority }
        return IssuedShares(
            share: try await firstShare(of: first, id, publicKey: publicKey, keyID: keyID),
            tickets: furtherTickets(id, publicKey: publicKey, keyID: keyID), keyID: keyID)
    }
}
