import MPinWire

/// A user in client-js's list.
struct ClientJSUser: Decodable {
    var userId: String
    /// STARTED, REGISTERED or REVOKED.
    var state: String
    var mpinId: String
    /// G1 point, 65 bytes.
    var token: SecretHex?
    var curve: String?
    var projectId: String?
    /// The project in old lists.
    var customerId: String?
    var pinLength: Int?
    /// G2 point, 128 bytes in hex, of an identity with a key pair.
    var publicKey: String?
    var dtas: String?
    var verificationType: String?

    /// Nil for a curve that is not ours, and for one whose registration has not ended: its one-time token is never
    /// written, so it has to be begun again.
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
