import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

/// What the RPS asks of one D-TA.
struct TrustAuthorityClient: Sendable {
    let name: String
    let peer: Peer
    /// Where clients ask it for their permit shares; nil: the RPS does that for them.
    let clientPeer: Peer?
    let requestKey: SecretBytes
    let appID: String
    /// Not nil: an old D-TA, which has one master secret and understands the old signatures only.
    let legacy: LegacyCredentials?

    init(
        _ name: String, _ link: TrustAuthorityLink, clientURL: String? = nil, appID: String,
        legacy: LegacyCredentials?, seconds: Int
    ) {
        self.name = name
        self.appID = legacy?.appID ?? appID
        self.legacy = legacy
        peer = Peer(url: link.url, seconds: seconds)
        clientPeer = clientURL.map { Peer(url: $0, seconds: seconds, userAgent: nil) }
        requestKey = link.requestKey
    }

    /// The master secrets that the D-TA serves.
    func keys(expires: String) async throws -> [MasterKeysResponse.Key] {
        if legacy != nil {
            return [MasterKeysResponse.Key(id: ServerKeys.firstID, servedUntil: nil)]
        }
        let message = SignedMessage.keys(appID: appID, expires: expires)
        let members = [("app_id", appID), ("expires", expires), ("signature", message.signature(key: requestKey))]
        let answer = try await peer.get("/keys?" + percentEncodedQuery(members))
        guard answer.status == 200, let keys = answer.json(MasterKeysResponse.self)?.keys else {
            throw Unusable(name: name, status: answer.status)
        }
        return keys
    }

    /// The D-TA's share of the server secret: G2 point, 128 bytes.
    func serverSecretShare(keyID: String, expires: String) async throws -> SecretBytes {
        let signed = signature(
            .serverSecret(appID: appID, keyID: keyID, expires: expires),
            legacy: LegacyMessage.serverSecret(appID: appID, expires: expires))
        let members = [("app_id", appID), ("expires", expires), ("signature", signed)] + naming(keyID)
        let answer = try await peer.get("/serverSecret?" + percentEncodedQuery(members))
        return try share(answer.json(ServerSecretResponse.self)?.serverSecret.secret, answer, MPinSize.g2)
    }

    /// The D-TA's share of a client secret: G1 point, 65 bytes.
    func clientSecretShare(_ id: MPinID, keyID: String, expires: String) async throws -> SecretBytes {
        let query = clientSecretQuery(id, keyID: keyID, mobile: 0, expires: expires)
        let answer = try await peer.get("/clientSecret?" + query)
        return try share(answer.json(ClientSecretResponse.self)?.clientSecret.secret, answer, MPinSize.g1)
    }

    /// The signed query that gets a client secret share; clients pass it on unread.
    func clientSecretQuery(_ id: MPinID, keyID: String, mobile: Int, expires: String) -> String {
        let hashID = Hex.encode(id.hash)
        let signed = signature(
            .clientSecret(appID: appID, keyID: keyID, hashID: hashID, hashUser: "", expires: expires),
            legacy: LegacyMessage.clientSecret(appID: appID, hashID: hashID, hashUser: "", expires: expires))
        return percentEncodedQuery(
            [
                ("mobile", String(mobile)), ("expires", expires), ("app_id", appID), ("hash_mpin_id", hashID),
                ("signature", signed), ("hash_user_id", ""),
            ] + naming(keyID))
    }

    /// The D-TA's share of the time permit for `date`: G1 point, 65 bytes. An old D-TA gives today's.
    func timePermitShare(_ hash: [UInt8], keyID: String, date: Int32) async throws -> SecretBytes {
        try await timePermitShare(hash, signature: permitSignature(hash, keyID: keyID, date: date))
    }

    /// What a client gets, on the way that it takes and in its words.
    func permitShareForClient(_ hash: [UInt8], keyID: String, date: Int32) async throws -> SecretBytes {
        let signature = permitSignature(hash, keyID: keyID, date: date)
        guard let clientPeer else { return try await timePermitShare(hash, signature: signature) }
        let query = percentEncodedQuery([
            ("hash_mpin_id", Hex.encode(hash)), ("app_id", appID), ("mobile", "1"), ("signature", signature),
        ])
        return try permitShare(await clientPeer.get("/timePermit?" + query))
    }

    /// What the D-TA gives to who holds the signature.
    func timePermitShare(_ hash: [UInt8], signature: String) async throws -> SecretBytes {
        let query = percentEncodedQuery([("hash_mpin_id", Hex.encode(hash)), ("signature", signature)])
        return try permitShare(await peer.get("/timePermit?" + query))
    }

    private func permitShare(_ answer: Peer.Answer) throws -> SecretBytes {
        let hex = answer.json(TimePermitResponse.self).flatMap { SecretBytes(hex: Array($0.timePermit.utf8).span) }
        return try share(hex, answer, MPinSize.g1)
    }

    /// Lets who holds it ask the D-TA for the permit share of that identity and day.
    func permitSignature(_ hash: [UInt8], keyID: String, date: Int32) -> String {
        let hashID = Hex.encode(hash)
        return signature(
            .timePermit(keyID: keyID, hashID: hashID, date: date), legacy: LegacyMessage.timePermit(hashID: hashID))
    }

    /// The same for a stranger: the D-TA answers it as the other, with a share that is good for nobody. Old D-TAs do not
    /// know it.
    func strangerSignature(_ hash: [UInt8], keyID: String, date: Int32) -> String {
        SignedMessage.strangerPermit(keyID: keyID, hashID: Hex.encode(hash), date: date).signature(key: requestKey)
    }

    private func signature(_ message: SignedMessage, legacy old: @autoclosure () -> SignedMessage) -> String {
        guard let legacy else { return message.signature(key: requestKey) }
        return old().signature(key: legacy.appKey)
    }

    private func naming(_ keyID: String) -> [(String, String)] { legacy == nil ? [("key_id", keyID)] : [] }

    private func share(_ share: SecretBytes?, _ answer: Peer.Answer, _ size: Int) throws -> SecretBytes {
        guard answer.status == 200, let share, share.count == size else {
            throw Unusable(name: name, status: answer.status)
        }
        return share
    }

    /// The D-TA answered, but not with what was asked for.
    struct Unusable: Error, CustomStringConvertible {
        let name: String
        let status: Int

        var description: String { "\(name) answered \(status) without a usable share" }
    }
}
