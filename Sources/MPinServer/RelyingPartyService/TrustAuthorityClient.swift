import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

/// What the RPS asks of one D-TA.
struct TrustAuthorityClient: Sendable {
    let name: String
    let peer: Peer
    let requestKey: SecretBytes
    let appID: String

    init(_ name: String, _ link: TrustAuthorityLink, appID: String, seconds: Int) {
        self.name = name
        self.appID = appID
        peer = Peer(url: link.url, seconds: seconds)
        requestKey = link.requestKey
    }

    /// The D-TA's share of the server secret: G2 point, 128 bytes.
    func serverSecretShare(expires: String) async throws -> SecretBytes {
        let message = SignedMessage.serverSecret(appID: appID, expires: expires)
        let members = [("app_id", appID), ("expires", expires), ("signature", message.signature(key: requestKey))]
        let answer = try await peer.get("/serverSecret?" + percentEncodedQuery(members))
        return try share(answer.json(ServerSecretResponse.self)?.serverSecret.secret, answer, MPinSize.g2)
    }

    /// The D-TA's share of a client secret: G1 point, 65 bytes.
    func clientSecretShare(_ id: MPinID, expires: String) async throws -> SecretBytes {
        let answer = try await peer.get("/clientSecret?" + clientSecretQuery(id, mobile: 0, expires: expires))
        return try share(answer.json(ClientSecretResponse.self)?.clientSecret.secret, answer, MPinSize.g1)
    }

    /// The signed query that gets a client secret share; clients pass it on unread.
    func clientSecretQuery(_ id: MPinID, mobile: Int, expires: String) -> String {
        let hashID = Hex.encode(id.hash)
        let message = SignedMessage.clientSecret(appID: appID, hashID: hashID, hashUser: "", expires: expires)
        return percentEncodedQuery([
            ("mobile", String(mobile)), ("expires", expires), ("app_id", appID), ("hash_mpin_id", hashID),
            ("signature", message.signature(key: requestKey)), ("hash_user_id", ""),
        ])
    }

    /// The D-TA's share of the time permit for `date`: G1 point, 65 bytes.
    func timePermitShare(_ id: MPinID, date: Int32) async throws -> SecretBytes {
        let members = [("hash_mpin_id", Hex.encode(id.hash)), ("signature", permitSignature(id, date: date))]
        let answer = try await peer.get("/timePermit?" + percentEncodedQuery(members))
        let hex = answer.json(TimePermitResponse.self).flatMap { SecretBytes(hex: Array($0.timePermit.utf8).span) }
        return try share(hex, answer, MPinSize.g1)
    }

    /// Lets who holds it ask the D-TA for the permit share of that identity and day.
    func permitSignature(_ id: MPinID, date: Int32) -> String {
        SignedMessage.timePermit(hashID: Hex.encode(id.hash), date: date).signature(key: requestKey)
    }

    private func share(_ share: SecretBytes?, _ answer: Peer.Answer, _ size: Int) throws -> SecretBytes {
        guard answer.status == 200, let share, share.count == size else {
            throw Unusable(name: name, status: answer.status)
        }
        return share
    }

    /// The D-TA answered, but not with a share.
    struct Unusable: Error, CustomStringConvertible {
        let name: String
        let status: Int

        var description: String { "\(name) answered \(status) without a usable share" }
    }
}
