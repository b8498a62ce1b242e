import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinService
import MPinStore
import MPinWire

/// Sends requests to a D-TA in the Milagro protocol (wire section 9).
struct TrustAuthorityClient: Authority {
    let name: String
    let index: Int
    let peer: Peer
    /// The D-TA at the URL at which clients ask for their permit shares; nil if clients do not ask this D-TA.
    private let clientPeer: Peer?
    private let requestKey: SecretBytes
    private let appID: String
    /// If set, this is a Milagro D-TA, which has one master secret and supports only Milagro's signatures.
    private let legacy: LegacyCredentials?
    /// Makes hashes that no ID has. A Milagro D-TA is asked for these instead of the hashes of unregistered IDs.
    private let strangerKey: SecretBytes
    private let signedSeconds: Int
    private let clock: Clock

    init(_ link: TrustAuthorityLink, appID: String, _ config: RelyingPartyServiceConfig) {
        name = link.name
        index = link.index
        self.appID = config.legacy?.appID ?? appID
        legacy = config.legacy
        let seconds = config.limits.callSeconds
        peer = Peer(url: link.url, seconds: seconds)
        clientPeer = link.clientURL.map { Peer(url: $0, seconds: seconds, userAgent: nil) }
        requestKey = link.requestKey
        strangerKey = config.activationKey
        signedSeconds = config.limits.signedSeconds
        clock = config.clock
    }

    var givesPermitsOfToday: Bool { legacy != nil }

    /// The expiry of a request that is signed now.
    private var expires: String { clock().adding(seconds: signedSeconds).iso }

    func keys() async throws -> [MasterKey] {
        if legacy != nil { return [MasterKey(id: ServerKeys.firstID, servedUntil: nil, fingerprint: nil)] }
        let expires = expires
        let message = SignedMessage.keys(appID: appID, expires: expires)
        let members = [("app_id", appID), ("expires", expires), ("signature", message.signature(key: requestKey))]
        let answer = try await peer.get("/keys?" + percentEncodedQuery(members))
        guard answer.status == 200, let keys = answer.json(MasterKeysResponse.self)?.keys else {
            throw unusable(answer)
        }
        return keys.map {
            MasterKey(id: $0.id, servedUntil: $0.servedUntil.flatMap(Moment.init), fingerprint: $0.fingerprint)
        }
    }

    func serverSecretShare(keyID: String) async throws -> SecretBytes {
        let expires = expires
        let signed = signature(
            .serverSecret(appID: appID, keyID: keyID, expires: expires),
            legacy: LegacyMessage.serverSecret(appID: appID, expires: expires))
        let members = [("app_id", appID), ("expires", expires), ("signature", signed)] + naming(keyID)
        let answer = try await peer.get("/serverSecret?" + percentEncodedQuery(members))
        return try share(answer.json(ServerSecretResponse.self)?.serverSecret.secret, answer, MPinSize.g2)
    }

    func clientSecretShare(_ id: MPinID, keyID: String) async throws -> SecretBytes {
        let answer = try await peer.get("/clientSecret?" + clientSecretQuery(id, keyID: keyID, mobile: 0))
        return try share(answer.json(ClientSecretResponse.self)?.clientSecret.secret, answer, MPinSize.g1)
    }

    func clientSecretTicket(_ id: MPinID, keyID: String) -> String { clientSecretQuery(id, keyID: keyID, mobile: 1) }

    func keyedSecretTicket(_ id: MPinID, publicKey: [UInt8], keyID: String) -> String {
        let (hashID, expires) = (Hex.encode(id.secretHash(publicKey: publicKey)), expires)
        let message = SignedMessage.keyedSecret(
            appID: appID, keyID: keyID, hashID: hashID, identity: id.key, expires: expires)
        return percentEncodedQuery([
            ("app_id", appID), ("expires", expires), ("hash_mpin_id", hashID), ("identity", id.key),
            ("key_id", keyID), ("signature", message.signature(key: requestKey)),
        ])
    }

    func keyedSecretShare(_ id: MPinID, publicKey: [UInt8], keyID: String) async throws -> SecretBytes {
        let query = keyedSecretTicket(id, publicKey: publicKey, keyID: keyID)
        let answer = try await peer.get(TrustAuthorityServer.keyedSecretPath + "?" + query)
        return try share(answer.json(TrustSecretResponse.self)?.dvsClientSecret.secret, answer, MPinSize.g1)
    }

    /// The signed query for a client secret share.
    private func clientSecretQuery(_ id: MPinID, keyID: String, mobile: Int) -> String {
        let (hashID, expires) = (Hex.encode(id.hash), expires)
        let signed = signature(
            .clientSecret(appID: appID, keyID: keyID, hashID: hashID, hashUser: "", expires: expires),
            legacy: LegacyMessage.clientSecret(appID: appID, hashID: hashID, hashUser: "", expires: expires))
        return percentEncodedQuery(
            [
                ("mobile", String(mobile)), ("expires", expires), ("app_id", appID), ("hash_mpin_id", hashID),
                ("signature", signed), ("hash_user_id", ""),
            ] + naming(keyID))
    }

    func permitShare(_ permit: Permit) async throws -> SecretBytes {
        let signature = legacy == nil ? permitTicket(permit) : signature(ofHolder: permit)
        let holder = legacy == nil ? permit.hash : holder(permit)
        let query = percentEncodedQuery([("hash_mpin_id", Hex.encode(holder)), ("signature", signature)])
        return try permitShare(await peer.get("/timePermit?" + query))
    }

    func permitShareForClient(_ permit: Permit) async throws -> SecretBytes {
        guard let clientPeer else { return try await permitShare(permit) }
        let query = percentEncodedQuery([
            ("hash_mpin_id", Hex.encode(permit.hash)), ("app_id", appID), ("mobile", "1"),
            ("signature", permitTicket(permit)),
        ])
        return try permitShare(await clientPeer.get("/timePermit?" + query))
    }

    private func permitShare(_ answer: Peer.Answer) throws -> SecretBytes {
        let hex = answer.json(TimePermitResponse.self).flatMap { SecretBytes(hex: Array($0.timePermit.utf8).span) }
        return try share(hex, answer, MPinSize.g1)
    }

    /// The signature that a request for a permit share needs. For an unregistered ID it is of another kind: a D-TA of
    /// ours accepts it, but gives a useless share. Milagro's D-TAs do not know that kind.
    func permitTicket(_ permit: Permit) -> String {
        guard permit.isStranger else { return signature(ofHolder: permit) }
        let message = SignedMessage.strangerPermit(
            keyID: permit.keyID, hashID: Hex.encode(permit.hash), date: permit.date)
        return message.signature(key: requestKey)
    }

    /// The signature for the hash that the permit share is made for. A Milagro D-TA does not distinguish unregistered
    /// IDs, so it is asked for a hash that no ID has.
    private func signature(ofHolder permit: Permit) -> String {
        let hashID = Hex.encode(holder(permit))
        return signature(
            .timePermit(keyID: permit.keyID, hashID: hashID, date: permit.date),
            legacy: LegacyMessage.timePermit(hashID: hashID))
    }

    func holder(_ permit: Permit) -> [UInt8] {
        guard permit.isStranger else { return permit.hash }
        let stranger = SignedMessage.stranger(hashID: Hex.encode(permit.hash))
        return stranger.tag(key: legacy == nil ? requestKey : strangerKey)
    }

    private func signature(_ message: SignedMessage, legacy old: @autoclosure () -> SignedMessage) -> String {
        guard let legacy else { return message.signature(key: requestKey) }
        return old().signature(key: legacy.appKey)
    }

    private func naming(_ keyID: String) -> [(String, String)] { legacy == nil ? [("key_id", keyID)] : [] }

    private func share(_ share: SecretBytes?, _ answer: Peer.Answer, _ size: Int) throws -> SecretBytes {
        guard answer.status == 200, let share, share.count == size else { throw unusable(answer) }
        return share
    }

    private func unusable(_ answer: Peer.Answer) -> AuthorityFailure {
        let kind: AuthorityFailure.Kind =
            switch answer.status {
            case 200: .invalidShare
            case 400..<500: .refusal
            default: .failure
            }
        return AuthorityFailure(kind, "\(name) answered \(answer.status) without a usable share")
    }
}
