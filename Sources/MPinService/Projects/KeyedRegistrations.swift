import MPinCrypto
import MPinSecrets
package import MPinStore

/// Registrations with a key pair of the client (TRUST wire sections 1.4 and 4.6). The service never learns the client
/// secret, because its factor z stays at the client.
extension ProjectService {
    /// What a device registers with.
    package struct Enrolment: Sendable {
        package let userID: String
        package let deviceName: String
        package let activationToken: String
        /// The public key, 128 bytes in hex.
        package let publicKey: String
        /// The id of the project that the request names. Nil if it names none.
        package let projectID: String?
        /// Nil if the device takes no pushes.
        package let pushToken: String?

        package init(
            userID: String, deviceName: String, activationToken: String, publicKey: String, projectID: String?,
            pushToken: String? = nil
        ) {
            self.projectID = projectID
            self.pushToken = pushToken
            self.userID = userID
            self.deviceName = deviceName
            self.activationToken = activationToken
            self.publicKey = publicKey
        }
    }

    /// A registered device, with the requests for the D-TAs' shares of its secret.
    package struct EnrolledDevice: Sendable {
        package let id: MPinID
        package let project: Project
        /// One for each D-TA, in the order of their indices.
        package let tickets: [Ticket]
        package let keyID: String
        package let time: Moment
        /// Whether the project's back end has verified the user.
        package let isByBackEnd: Bool
    }

    /// Registers a device. The public key is checked before the token is taken, so that a client with a bad key can try
    /// again. The requests for shares are valid for a short time and for this identity and key only.
    package func enrol(_ wish: Enrolment) async throws -> EnrolledDevice {
        let now = now
        guard let key = Hex.decode(wish.publicKey), Server.isPublicKey(key.span) else {
            throw ServiceError.badPublicKey
        }
        guard Devices.isPushToken(wish.pushToken) else { throw ProjectFault.badMember("pushToken") }
        let userID = try UserID.accepted(wish.userID, service.limits)
        let keyID = try service.currentKeyID()
        guard
            let activation = try await activation(
                wish.activationToken, user: userID, project: wish.projectID, at: now)
        else { throw ProjectFault.wrongActivationToken }
        let project = try await project(activation.projectID)
        let id = try await newID(for: activation, written: wish.userID, at: now)
        let tickets = try await service.addIdentity(
            id, user: activation.user, publicKey: key, keyID: keyID, deviceName: wish.deviceName,
            pushToken: try await pushToken(wish.pushToken, for: activation, at: now))
        return EnrolledDevice(
            id: id, project: project, tickets: tickets, keyID: keyID, time: now,
            isByBackEnd: activation.user.project != nil)
    }

    /// Takes the activation token or the QuickCode of a request, which names `project`. Nil if it is wrong, or if the
    /// identity from which it comes may no longer log in.
    func activation(_ token: String, user: String, project: String?, at now: Moment) async throws -> Activation? {
        guard !QuickCodes.isCode(token) else {
            return try await quickCodeActivation(token, user: user, project: project)
        }
        guard let found = try await activations.take(token, user: user, at: now) else { return nil }
        guard let old = found.replaced else { return found }
        return try await service.identity(old).flatMap { $0.isBarred ? nil : found.coming(from: $0) }
    }
}

extension AuthenticationService {
    /// The master secret for new registrations. Throws while a D-TA has another share of it.
    func currentKeyID() throws -> String {
        let keys = keys
        _ = try keys.context(keys.currentID)
        return keys.currentID
    }

    /// Stores an identity with a key pair, and returns the requests for its shares. `publicKey` has 128 bytes.
    func addIdentity(
        _ id: MPinID, user: UserKey, publicKey: [UInt8], keyID: String, deviceName: String, pushToken: String? = nil
    ) async throws -> [Ticket] {
        let now = now
        var record = IdentityRecord(mpinID: id.hex, userID: user.userID, keyID: keyID, registered: now)
        record.publicKeyHash = SHA256.hash(publicKey)
        try await devices.add(identity: id.key, of: user, name: deviceName, pushToken: pushToken, at: now)
        try await identities.create(id, record, at: now)
        observer(.registered(id, user: user.text, keyID: keyID))
        return authorities.map {
            Ticket(index: $0.index, text: $0.keyedSecretTicket(id, publicKey: publicKey, keyID: keyID))
        }
    }
}
