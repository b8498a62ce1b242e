import MPinSecrets
import MPinWire

/// A user in the list that client-js stores.
struct ClientJSUser: Codable {
    var userId: String
    /// The name of the state: STARTED, REGISTERED or REVOKED.
    var state: String
    var mpinId: String
    /// The login token, a G1 point of 65 bytes.
    var token: SecretHex?
    var curve: String?
    var projectId: String?
    /// The name of `projectId` in old lists.
    var customerId: String?
    var pinLength: Int?
    /// The public key, a G2 point of 128 bytes in hex, if the identity has a key pair.
    var publicKey: String?
    var dtas: String?
    var verificationType: String?

    private static let curve = "BN254CX"

    /// The user in the common form of all formats. Nil if the curve is not BN254CX. Nil also for an unfinished
    /// registration: client-js does not store its one-time token, so the user must register again. If `project` is not
    /// nil, the user logs in over the wire of MIRACL Trust, and `project` is the project of an entry that names none.
    func entry(project: String?) -> ImportedUser? {
        guard curve == nil || curve == Self.curve else { return nil }
        let state: UserState
        switch self.state {
        case "REGISTERED": state = .registered
        case "REVOKED": state = project == nil ? .blocked : .revoked
        default: return nil
        }
        return ImportedUser(
            userID: userId, mpinID: mpinId, state: state, mapping: .decimal6, token: token,
            customerID: projectId ?? customerId ?? project, pinLength: pinLength, verificationType: verificationType,
            publicKey: publicKey, dtas: dtas)
    }
}

extension ClientJSUser {
    /// The user for client-js. Nil if it has no token, or one that client-js does not make the same number of a PIN for.
    init?(_ record: UserRecord) {
        guard let mpinID = record.mpinID, let token = record.token, record.mapping == .decimal6 else { return nil }
        userId = record.userID
        state = record.state
        mpinId = mpinID
        self.token = token
        curve = Self.curve
        projectId = record.customerID
        pinLength = record.pinLength
        publicKey = record.signing?.publicKey
        dtas = record.signing?.dtas
        verificationType = record.verificationType
    }
}
