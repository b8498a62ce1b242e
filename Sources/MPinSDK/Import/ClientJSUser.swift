import MPinWire

/// A user in the list that client-js stores.
struct ClientJSUser: Decodable {
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

    /// The user in the common form of all formats. Nil if the curve is not BN254CX. Nil also for an unfinished
    /// registration: client-js does not store its one-time token, so the user must register again.
    var entry: ImportedUser? {
        guard curve == nil || curve == "BN254CX" else { return nil }
        let state: UserState
        switch self.state {
        case "REGISTERED": state = .registered
        case "REVOKED": state = .blocked
        default: return nil
        }
        return ImportedUser(
            userID: userId, mpinID: mpinId, state: state, mapping: .decimal6, token: token,
            customerID: projectId ?? customerId, pinLength: pinLength, verificationType: verificationType,
            publicKey: publicKey, dtas: dtas)
    }
}
