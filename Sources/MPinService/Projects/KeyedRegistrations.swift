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
        /// The tag that the client has made for the device; nil if it tells none.
        package let deviceTag: String?
        /// Names whoever asks; nil if that is not known.
        package let asker: String?

        package init(
            userID: String, deviceName: String, activationToken: String, publicKey: String, projectID: String?,
            pushToken: String? = nil, deviceTag: String? = nil, asker: String?
        ) {
            self.deviceTag = deviceTag
            self.asker = asker
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
        let keyID = try service.currentKeyID()
        guard
            let activation = try await activation(
                wish.activationToken, user: wish.userID, project: wish.projectID, by: wish.asker, at: now)
        else { throw ProjectFault.wrongActivationToken }
        let project = try await project(activation.projectID)
        let id = try await newID(for: activation, written: wish.userID, at: now)
        let tickets = try await service.addIdentity(
            id, user: activation.user, publicKey: key, keyID: keyID, deviceName: wish.deviceName,
            pushToken: try await pushToken(wish.pushToken, for: activation, at: now), deviceTag: wish.deviceTag)
        return EnrolledDevice(
            id: id, project: project, tickets: tickets, keyID: keyID, time: now,
            isByBackEnd: activation.user.project != nil)
    }

    /// Takes the activation token or the QuickCode of a request, which names `project` and has written a user id. Nil if it
    /// is wrong, or if the identity from which it comes may no longer log in. Throws ``ServiceError/suspended`` and leaves
    /// it if the user is suspended.
    func activation(
        _ token: String, user written: String, project: String?, by asker: String?, at now: Moment
    ) async throws -> Activation? {
        let userID = try UserID.accepted(written, service.limits)
        guard !QuickCodes.isCode(token) else {
            return try await quickCodeActivation(token, user: userID, project: project, by: asker)
        }
        let meant = try await service.user(meant: userID)
        guard let found = try await activations.find(token, user: userID, meant: meant, at: now) else { return nil }
        var activation = found
        if let old = found.replaced {
            guard let record = try await service.identity(old), !record.isBarred else { return nil }
            activation = found.coming(from: record)
        }
        try await service.requireNotSuspended(activation.user)
        return try await activations.take(token, user: userID, meant: meant, at: now) == nil ? nil : activation
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
        _ id: MPinID, user: UserKey, publicKey: [UInt8], keyID: String, deviceName: String, pushToken: String? = nil,
        deviceTag: String? = nil
    ) async throws -> [Ticket] {
        let now = now
        let user = try await devices.settled(user, at: now)
        var record = IdentityRecord(mpinID: id.hex, userID: user.userID, keyID: keyID, registered: now)
        record.publicKeyHash = SHA256.hash(publicKey)
        try await devices.add(
            identity: id.key, of: user, name: deviceName, pushToken: pushToken, tag: deviceTag, at: now)
        try await identities.create(id, record, at: now)
        observer(.registered(id, user: user.text, keyID: keyID, secretHash: id.secretHash(publicKey: publicKey)))
        return authorities.map {
            Ticket(index: $0.index, text: $0.keyedSecretTicket(id, publicKey: publicKey, keyID: keyID))
        }
    }
}
