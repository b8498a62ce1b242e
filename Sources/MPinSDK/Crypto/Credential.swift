import MPinCrypto
import MPinSecrets

/// The secret that a user proves to have: the login token, or the signing token of an identity with a key pair.
struct Credential {
    /// The M-Pin ID in lower-case hex.
    let mpinID: String
    /// The bytes that are hashed to the identity's point: the M-Pin ID and, with a key pair, the public key.
    let id: [UInt8]
    /// The point to which `id` maps, 65 bytes; nil without a key pair and in records of older versions.
    let point: [UInt8]?
    /// The login token or the signing token, a G1 point of 65 bytes.
    let token: SecretBytes
    let mapping: PINMapping
    /// The public key in hex; nil without a key pair.
    let publicKey: String?
    /// The names of the D-TAs that made the secret, in base64; nil without a key pair.
    let dtas: String?

    /// The public key, a G2 point: the last 128 bytes of `id`. Empty without a key pair.
    var publicKeyOctets: [UInt8] { publicKey == nil ? [] : Array(id.suffix(MPinSize.g2)) }

    /// Takes the login token from `record`. If the login identity has a key pair, its public key is included; old
    /// clients made such identities. Throws if the record has no token.
    init(_ record: UserRecord) throws(SDKError) {
        guard let mpinID = record.mpinID, let token = record.token?.secret, let mapping = record.mapping else {
            throw SDKError(.cryptoError, "the user has no token")
        }
        try self.init(mpinID, token, mapping, record.signing?.mpinID == mpinID ? record.signing : nil)
    }

    /// Takes the signing token from `signing`.
    init(_ signing: UserRecord.Signing) throws(SDKError) {
        try self.init(signing.mpinID, signing.token.secret, signing.mapping, signing)
    }

    /// `pair` is the identity's key pair; nil if it has none.
    private init(
        _ mpinID: String, _ token: SecretBytes, _ mapping: PINMapping, _ pair: UserRecord.Signing?
    ) throws(SDKError) {
        self.mpinID = mpinID
        self.token = token
        self.mapping = mapping
        id = if let pair { try MPinID.bytes(mpinID, publicKey: pair.publicKey) } else { try MPinID.bytes(mpinID) }
        point = pair?.point.flatMap { Hex.decode($0) }
        publicKey = pair?.publicKey
        dtas = pair?.dtas
    }
}
