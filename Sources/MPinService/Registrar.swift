package import MPinCrypto
import MPinSecrets
package import MPinStore

/// The beginning of a registration.
extension AuthenticationService {
    /// What a client asks for when it registers, or when it asks for another mail.
    package struct Application: Sendable {
        /// The ID of the pending registration that is to begin again; nil for a new one.
        package let id: MPinID?
        /// The user id as the client wrote it. It goes into the M-Pin ID.
        package let writtenUserID: String
        /// The user with the user id in NFC. It has the name space of the project if the project's back end verifies the
        /// user, and not a mail.
        package let user: UserKey
        package let mobile: Int
        /// The token of the pending registration, in lower-case hex.
        package let registrationToken: String?
        /// The code that replaces a confirmation by mail.
        package let activationCode: String?
        /// The name of the device, or empty.
        package let deviceName: String
        /// Names whoever asks; nil if that is not known.
        package let asker: String?
        /// Where push messages reach the device (``Devices/isPushToken(_:)``). Nil if the client does not tell.
        package let pushToken: String?
        /// The id of the project whose user registers. Nil on the Milagro wire. A registration of a project that begins
        /// again gets a new token, and none begins again that is not pending (TRUST wire section 7.2).
        package let project: String?

        /// Makes an application. Throws for user ids that are not allowed.
        package init(
            id: MPinID?, userID written: String, mobile: Int, registrationToken: String?, activationCode: String?,
            deviceName: String = "", pushToken: String? = nil, project: String? = nil, isByBackEnd: Bool = false,
            asker: String? = nil, limits: ServiceLimits
        ) throws(ServiceError) {
            self.id = id
            self.asker = asker
            self.project = project
            writtenUserID = written
            user = UserKey(try UserID.accepted(written, limits), of: isByBackEnd ? project : nil)
            self.mobile = mobile
            self.registrationToken = registrationToken
            self.activationCode = activationCode
            self.deviceName = Devices.shown(deviceName)
            self.pushToken = pushToken
        }
    }

    /// What the relying party needs to know to decide whether a user may register.
    package struct Question: Sendable {
        package let registration: Registration
        /// Whoever presents this key confirms the registration.
        package let activationKey: String
        package let expires: Moment
        package let isRestart: Bool
    }

    /// The relying party's answer if it allows a registration. It refuses one by an error instead.
    package struct Approval: Sendable {
        /// Whether no further confirmation is needed.
        package let isConfirmed: Bool
        /// A text for the user.
        package let message: String?

        package init(isConfirmed: Bool, message: String? = nil) {
            self.isConfirmed = isConfirmed
            self.message = message
        }
    }

    package struct StartedRegistration: Sendable {
        package let id: MPinID
        package let registrationToken: String
        /// Whether the registration needs no further confirmation.
        package let isConfirmed: Bool
        package let begun: Moment
        package let expires: Moment
        package let message: String?
    }

    /// Starts or restarts a registration. `approve` asks the relying party. It is not called if the client presents an
    /// activation code.
    package func register(
        _ application: Application, approve: (Question) async throws -> Approval
    ) async throws -> StartedRegistration {
        let now = now
        let user = try await registrant(application.writtenUserID, of: application.user.project)
        let expires = now.adding(seconds: limits.registrationSeconds)
        // The registration is stored before the relying party is asked, because the user may open the link in the mail
        // before the relying party has answered.
        let again = application.project == nil ? application.registrationToken ?? "" : try newToken()
        let before = try await restart(application, token: again, expires: expires, at: now)
        guard before != nil || application.id == nil || application.project == nil else {
            throw ServiceError.noPendingRegistration
        }
        let (registration, token) =
            if let before { (before.value.under(again), again) } else {
                try await begin(application, user: user, expires: expires, at: now)
            }
        observer(.registrationStarted(registration.id, user: registration.user.text, isRestart: before != nil))
        let question = Question(
            registration: registration, activationKey: activation(registration).signature(key: activationKey),
            expires: expires, isRestart: before != nil)
        let approval: Approval
        do {
            try await requireNotSuspended(registration.user)
            approval =
                if let code = application.activationCode {
                    try await redeem(code, registration, by: application.asker, at: now)
                } else {
                    try await approve(question)
                }
        } catch {
            if let before {
                try await registrations.undoRestart(expires, to: before, at: now)
            } else {
                try await registrations.delete(registration.id, at: now)
            }
            observer(.registrationRefused(registration.id, user: registration.user.text, error))
            throw error
        }
        let isConfirmed =
            approval.isConfirmed ? try await registrations.activate(registration.id, at: now) : false
        if isConfirmed { observer(.registrationConfirmed(registration.id, user: registration.user.text)) }
        return StartedRegistration(
            id: registration.id, registrationToken: token, isConfirmed: isConfirmed, begun: now, expires: expires,
            message: isConfirmed ? nil : approval.message)
    }

    /// A one-time token of a registration: 16 random bytes in hex.
    private func newToken() throws -> String { Hex.encode(try randomBytes(16)) }

    /// Begins the pending registration of the application's ID again under `token`, and returns its earlier state. Nil if
    /// there is none.
    private func restart(
        _ application: Application, token: String, expires: Moment, at now: Moment
    ) async throws -> Table<Registration>.Entry? {
        // Whoever verifies the user now must be who the ID says has done so.
        guard let id = application.id, id.verifyingProject == application.user.project else { return nil }
        let shown = application.registrationToken
        return try await registrations.restart(
            id, from: shown ?? "", to: token, expires: expires, at: now
        ) { pending in
            // The store may run this change twice. Then the registration has the new token already.
            guard let shown, pending.accepts(shown) || pending.accepts(token) else {
                throw ServiceError.wrongRegistrationToken
            }
            // It must be the same user, because otherwise the mail for one user's identity would go to another user.
            guard pending.user.isSpelled(as: application.user) else {
                throw ServiceError.registrationOfAnotherUser
            }
        }
    }

    private func begin(
        _ application: Application, user: UserKey, expires: Moment, at now: Moment
    ) async throws -> (Registration, token: String) {
        let token = try newToken()
        let id =
            try application.project.map {
                try MPinID.issue(
                    userID: application.writtenUserID, project: $0, mobile: application.mobile,
                    isByBackEnd: user.project != nil, at: now)
            } ?? MPinID.issue(userID: application.writtenUserID, mobile: application.mobile, at: now)
        let fresh = Registration(
            id: id, userID: user.userID, regOTT: token, deviceName: application.deviceName,
            pushToken: application.pushToken, begunBy: application.asker)
        try await registrations.create(fresh, expires: expires, at: now)
        return (fresh, token)
    }

    /// Redeems an activation code, which replaces the relying party's approval and the confirmation by mail.
    private func redeem(
        _ code: String, _ registration: Registration, by asker: String?, at now: Moment
    ) async throws -> Approval {
        guard try await activationCodes.redeem(code, user: registration.user, by: asker, at: now) else {
            throw ServiceError.wrongActivationCode
        }
        return Approval(isConfirmed: true)
    }

    private func activation(_ registration: Registration) -> SignedMessage {
        .activation(id: registration.id, regOTTHash: Hex.decode(registration.regOTTHash) ?? [])
    }
}

/// The requests of the holder of the link in the mail.
extension AuthenticationService {
    package enum RegistrationStage: Sendable {
        case unknown
        case pending
        case confirmed
        case finished
    }

    /// The registration, if it waits for its confirmation. Nil if there is none that does.
    package func pendingRegistration(_ id: MPinID) async throws -> Registration? {
        try await registrations.find(id, at: now).flatMap { $0.isActive || $0.isIssued ? nil : $0 }
    }

    /// How far the registration is.
    package func stage(of id: MPinID) async throws -> RegistrationStage {
        let now = now
        return switch try await registrations.find(id, at: now) {
        case let registration? where registration.isIssued: .finished
        case let registration?: registration.isActive ? .confirmed : .pending
        case nil: try await identities.find(id, at: now) == nil ? .unknown : .finished
        }
    }

    /// Confirms the registration. The key is checked before anything is changed, so that a wrong key neither changes
    /// anything nor seems to succeed. Returns the user, whose id may have another spelling in the M-Pin ID.
    @discardableResult
    package func confirm(_ id: MPinID, activationKey key: String) async throws -> UserKey {
        let now = now
        let registration = try await unfinished(id, at: now)
        guard activation(registration).isSigned(key, key: activationKey) else {
            observer(.confirmationRefused(id, user: registration.user.text))
            throw ServiceError.wrongActivationKey
        }
        try await requireNotSuspended(registration.user)
        guard try await registrations.activate(id, at: now) else { throw ServiceError.noPendingRegistration }
        observer(.registrationConfirmed(id, user: registration.user.text))
        return registration.user
    }

    /// Deletes an unfinished registration.
    package func deleteRegistration(_ id: MPinID, activationKey key: String) async throws {
        let now = now
        let registration = try await unfinished(id, at: now)
        guard activation(registration).isSigned(key, key: activationKey) else {
            throw ServiceError.wrongActivationKey
        }
        guard try await registrations.deleteUnfinished(id, at: now) else {
            throw ServiceError.noPendingRegistration
        }
        observer(.registrationDeleted(id, user: registration.user.text))
    }

    private func unfinished(_ id: MPinID, at now: Moment) async throws -> Registration {
        guard let registration = try await registrations.find(id, at: now), !registration.isIssued else {
            throw ServiceError.noPendingRegistration
        }
        return registration
    }
}

/// The end of a registration: the client fetches its shares.
extension AuthenticationService {
    /// The client secret share of the first D-TA, and the requests for the shares of the others.
    package struct IssuedShares: Sendable {
        package let share: Share
        package let tickets: [Ticket]
        /// The master secret of the shares.
        package let keyID: String
    }

    /// Hands out the shares of a confirmed registration.
    ///
    /// For a few minutes the same token gets the same share again, so that a client that lost an answer need not
    /// register again. This ends with the first right PIN, or when the client reports that it has all shares
    /// (``finishRegistration(_:token:)``). From then on nobody gets shares with a token that was found in a log of
    /// URLs. A wrong token changes nothing.
    ///
    /// `publicKey` (128 bytes, checked) is that of a client with a key pair; nil for one without. The registration has
    /// then this key, and no other one gets shares. `pushToken` takes the place of the one with which the registration
    /// was begun.
    package func issueShares(
        _ id: MPinID, token: String, publicKey: [UInt8]? = nil, pushToken: String? = nil
    ) async throws -> IssuedShares {
        let now = now
        guard var registration = try await registrations.find(id, at: now), registration.accepts(token),
            let first = authorities.first
        else { throw ServiceError.noShares }
        guard registration.isActive else { throw ServiceError.notConfirmed }
        try await requireNotSuspended(registration.user)
        let identity = try await identities.find(id, at: now)
        guard identity?.isProven != true else { throw ServiceError.noShares }
        let keyID = identity?.keyID ?? keys.currentID
        let publicKeyHash = publicKey.map { SHA256.hash($0) } ?? IdentityRecord.noPublicKey
        guard identity == nil || identity?.publicKeyHash == publicKeyHash else { throw ServiceError.noShares }
        _ = try await keyRing.context(keyID)
        let share = try await firstShare(of: first, id, publicKey: publicKey, keyID: keyID)
        let refetch = now.adding(seconds: limits.refetchSeconds)
        guard try await registrations.complete(id, refetchUntil: refetch, at: now) else {
            throw ServiceError.noShares
        }
        registration.userID = try await devices.settled(registration.user, at: now).userID
        try await devices.add(
            identity: id.key, of: registration.user, name: registration.deviceName ?? "",
            pushToken: pushToken ?? registration.pushToken, at: now)
        // If the identity's record has another key id or public key, the share is of another secret than the record, so
        // it must not be handed out.
        let kept = try await identities.create(registration, keyID: keyID, publicKeyHash: publicKeyHash, at: now)
        guard kept.keyID == keyID, kept.publicKeyHash == publicKeyHash else { throw ServiceError.rotatedMeanwhile }
        observer(
            .registered(
                id, user: registration.user.text, keyID: keyID, secretHash: id.secretHash(publicKey: publicKey)))
        return IssuedShares(share: share, tickets: furtherTickets(id, publicKey: publicKey, keyID: keyID), keyID: keyID)
    }

    /// Asks the first D-TA for its share.
    func firstShare(
        of first: any Authority, _ id: MPinID, publicKey: [UInt8]?, keyID: String
    ) async throws -> Share {
        let octets = try await share {
            guard let publicKey else { return try await first.clientSecretShare(id, keyID: keyID) }
            return try await first.keyedSecretShare(id, publicKey: publicKey, keyID: keyID)
        }
        return Share(index: first.index, octets)
    }

    /// The requests for the shares of the other D-TAs.
    func furtherTickets(_ id: MPinID, publicKey: [UInt8]?, keyID: String) -> [Ticket] {
        authorities.dropFirst().map { authority in
            let text =
                publicKey.map { authority.keyedSecretTicket(id, publicKey: $0, keyID: keyID) }
                ?? authority.clientSecretTicket(id, keyID: keyID)
            return Ticket(index: authority.index, text: text)
        }
    }

    /// Stops handing out the shares of a finished registration if the token is right. A wrong token gives no error, so
    /// that nobody learns which registrations exist.
    package func finishRegistration(_ id: MPinID, token: String) async throws {
        try await registrations.end(id, regOTT: token, at: now)
    }
}
