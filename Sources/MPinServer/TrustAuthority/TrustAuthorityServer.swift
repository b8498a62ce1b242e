import HTTPTypes
import Hummingbird
import MPinCrypto
import MPinSecrets
import MPinService
import MPinStore
import MPinWire

/// The endpoints of a D-TA (wire section 9). Its secrets are the master shares and the key that it shares with the RPS;
/// it keeps nothing about identities.
struct TrustAuthorityServer: Sendable {
    let keyring: MasterKeyring
    let requests: SignedRequests
    let rates: RateLimiter
    let audit: Audit
    let limits: Limits
    let clock: Clock

    /// The operations. Pages of `origins` may read the answers.
    func routes(for origins: [String]) -> [Route] {
        let cors = CORSPolicy.dta(origins)
        func signed(_ path: String, _ cors: CORSPolicy, _ answer: @escaping Handler) -> Route {
            Route(.get, path, limit: .authority, cors: cors, answer)
        }
        func open(_ path: String, _ answer: @escaping @Sendable () throws -> Response) -> Route {
            Route(.get, path, limit: .other, cors: cors) { _, _ in try answer() }
        }
        return [
            signed("/keys", cors) { request, _ in try await keys(request) },
            signed("/serverSecret", cors) { request, _ in try await serverSecret(request) },
            signed(Self.secretPath, cors) { request, _ in try await clientSecret(request) },
            signed(Self.keyedSecretPath, .trustShares) { request, _ in try await keyedSecret(request) },
            signed("/timePermit", cors) { request, _ in try await timePermit(request) },
            signed("/timePermits", cors) { request, _ in try await timePermits(request) },
            open("/status") { try status() },
            // The requests that Milagro's RPS sends to Milagro's cloud at its start, at the base URL of D-TA 2 (wire
            // section 10).
            open("/time") { .json(["Time": clock().iso]) },
            open("/apiSettings") { .json(CloudSettings()) },
        ]
    }

    /// Tells the RPS which master secrets this D-TA serves. It reads the store again, so that this D-TA knows of a
    /// rotation before the RPS uses the new master secret.
    private func keys(_ request: Request) async throws -> Response {
        let (appID, expires) = (try request.argument("app_id"), try request.argument("expires"))
        try requests.check(.keys(appID: appID, expires: expires), request, expires: expires)
        var keys: [MasterKeysResponse.Key] = []
        for share in try await keyring.freshShares() {
            keys.append(
                MasterKeysResponse.Key(
                    id: share.keyID, servedUntil: share.servedUntil?.iso,
                    fingerprint: try await share.serverSecret().fingerprint))
        }
        return .json(MasterKeysResponse(keys: keys))
    }

    private func serverSecret(_ request: Request) async throws -> Response {
        let (appID, expires) = (try request.argument("app_id"), try request.argument("expires"))
        let share = try await signedShare(request, expires: expires) { keyID in
            .serverSecret(appID: appID, keyID: keyID, expires: expires)
        } legacy: { credentials in
            LegacyMessage.serverSecret(appID: credentials.appID, expires: expires)
        }
        audit.record(.serverSecretShare(keyID: share.keyID))
        return .json(
            ServerSecretResponse(
                serverSecret: SecretHex(try await share.serverSecret()), startTime: share.startTime.iso,
                keyID: share.keyID))
    }

    private func clientSecret(_ request: Request) async throws -> Response {
        let (appID, expires) = (try request.argument("app_id"), try request.argument("expires"))
        let (hash, hashUser) = (try request.hashID(), try request.argument("hash_user_id"))
        let hashID = Hex.encode(hash)
        let share = try await signedShare(request, expires: expires) { keyID in
            .clientSecret(appID: appID, keyID: keyID, hashID: hashID, hashUser: hashUser, expires: expires)
        } legacy: { credentials in
            LegacyMessage.clientSecret(
                appID: credentials.appID, hashID: hashID, hashUser: hashUser, expires: expires)
        }
        try await rates.admit(.authority, identity: hash)
        let point = try await clientSecret(of: hash, identity: hashID, from: share)
        return .json(
            ClientSecretResponse(clientSecret: SecretHex(point), keyID: share.keyID, createdAt: clock().seconds))
    }

    static let secretPath = "/clientSecret"
    static let keyedSecretPath = "/dvsClientSecret"

    /// Gives the share of the client secret of an identity with a key pair (TRUST wire section 4.7). The hash for which
    /// the share is made contains the public key; `identity` is the hash of the M-Pin ID alone, for readers of the audit log.
    private func keyedSecret(_ request: Request) async throws -> Response {
        let (appID, expires) = (try request.argument("app_id"), try request.argument("expires"))
        let (hash, identity) = (try request.hashID(), try request.argument("identity"))
        guard Hex.decode(identity)?.count == MPinSize.hash else {
            throw APIError(.forbidden, "identity must be 64 hex digits")
        }
        let keyID = try request.argument("key_id")
        let message = SignedMessage.keyedSecret(
            appID: appID, keyID: keyID, hashID: Hex.encode(hash), identity: identity, expires: expires)
        try requests.check(message, request, expires: expires)
        let share = try await served(keyID)
        try await rates.admit(.authority, identity: hash)
        let point = try await clientSecret(of: hash, identity: identity.lowercased(), from: share)
        return .json(TrustSecretResponse(dvsClientSecret: SecretHex(point), createdAt: clock().seconds))
    }

    /// Makes the share of the client secret for `hash`, 32 bytes, and writes the line of the audit log from the same value:
    /// whoever has the RPS's key can name any identity, but gets nothing that the log does not show.
    private func clientSecret(
        of hash: [UInt8], identity: String, from share: MasterShare
    ) async throws -> SecretBytes {
        let point = try await share.point(MPinSize.g1) { master, point throws(MPinError) in
            try TrustAuthority.clientSecretShare(master: master, hashID: hash.span, into: &point)
        }
        audit.record(.clientSecretShare(of: hash, identity: identity, keyID: share.keyID))
        return point
    }

    /// Gives the permit share of a day. The signature covers a date and a key id, but Milagro's clients send neither.
    /// So all shares and dates are tried: today and, in the first hour of a day, yesterday. A signature is thus valid
    /// for the permit of one day only.
    private func timePermit(_ request: Request) async throws -> Response {
        let hash = try request.hashID()
        let hashID = Hex.encode(hash)
        let (shares, dates) = (keyring.shares().reversed(), clock().permitDates)
        for share in shares {
            for date in dates {
                let isStranger = try requests.isSigned(
                    .strangerPermit(keyID: share.keyID, hashID: hashID, date: date), request)
                guard
                    try requests.isSigned(.timePermit(keyID: share.keyID, hashID: hashID, date: date), request)
                        || isStranger
                else { continue }
                try await rates.admit(.authority, identity: hash)
                // The work is the same for both kinds of IDs, so that the caller cannot tell whether the ID is
                // registered.
                let stranger = SignedMessage.stranger(hashID: hashID).tag(key: requests.key)
                let (holder, other) = isStranger ? (stranger, hash) : (hash, stranger)
                return .json(
                    TimePermitResponse(
                        timePermit: try await share.permit(holder, notFor: other, date), keyID: share.keyID))
            }
        }
        try requests.checkLegacy(request, expires: nil) { _ in LegacyMessage.timePermit(hashID: hashID) }
        try await rates.admit(.authority, identity: hash)
        let share = try keyring.current()
        return .json(
            TimePermitResponse(timePermit: try await share.permit(hash, clock().day), keyID: share.keyID))
    }

    /// Gives the permit shares of several days. It answers only the RPS, whose signature covers count and expires.
    private func timePermits(_ request: Request) async throws -> Response {
        let hash = try request.hashID()
        guard let count = Int(try request.argument("count")), (0...limits.permitDays).contains(count) else {
            throw APIError(.forbidden, "count must be a number from 0 to \(limits.permitDays)")
        }
        let hashID = Hex.encode(hash)
        // Requests with Milagro's signatures do not expire.
        let isOld = requests.legacy != nil && request.query("key_id") == nil
        let expires = isOld ? nil : try request.argument("expires")
        let share = try await signedShare(request, expires: expires) { keyID in
            .timePermits(keyID: keyID, hashID: hashID, count: count, expires: expires ?? "")
        } legacy: { _ in
            LegacyMessage.timePermit(hashID: hashID)
        }
        try await rates.admit(.authority, identity: hash)
        let today = clock().day
        var permits: [String: String] = [:]
        for date in today..<today + Int32(count) { permits[String(date)] = try await share.permit(hash, date) }
        return .json(TimePermitsResponse(timePermits: permits, keyID: share.keyID))
    }

    private func status() throws -> Response {
        struct Status: Encodable {
            let message = "OK"
            let service_name = "D-TA server"
            // Milagro's D-TAs send a list with one element.
            let startTime: [String]
        }
        return .json(Status(startTime: [try keyring.current().startTime.iso]))
    }

    /// Returns the share that a signed request names, or the current one for a request with Milagro's signature, which
    /// cannot name one.
    private func signedShare(
        _ request: Request, expires: String?, message: (_ keyID: String) -> SignedMessage,
        legacy: (LegacyCredentials) -> SignedMessage
    ) async throws -> MasterShare {
        guard let keyID = request.query("key_id") else {
            try requests.checkLegacy(request, expires: expires, legacy)
            return try keyring.current()
        }
        try requests.check(message(keyID), request, expires: expires)
        return try await served(keyID)
    }

    /// Returns the share with this key id. Throws 409 if it is not served.
    private func served(_ keyID: String) async throws -> MasterShare {
        guard let share = try await keyring.share(keyID) else {
            throw APIError(.conflict, "This master secret is not served")
        }
        return share
    }
}

extension MasterShare {
    /// Runs `multiply`, which makes a point from the share, on a thread outside the event loop. Returns the point's
    /// `size` bytes.
    fileprivate func point(
        _ size: Int,
        _ multiply: @escaping @Sendable (Span<UInt8>, inout MutableSpan<UInt8>) throws(MPinError) -> Void
    ) async throws -> SecretBytes {
        try await Workers.compute {
            let point = SecretBytes(count: size)
            var bytes = point.mutableSpan
            try multiply(secret.span, &bytes)
            return point
        }
    }

    /// This D-TA's share of the server secret: a point of G2 in 128 bytes.
    fileprivate func serverSecret() async throws -> SecretBytes {
        try await point(MPinSize.g2) { master, point throws(MPinError) in
            try TrustAuthority.serverSecretShare(master: master, into: &point)
        }
    }

    /// The permit share of `hash`. The time of mapping a hash to a point depends on the hash, and anybody can compute
    /// that time for the hash in the request. So `other`, the hash that would have been used for the other kind of ID,
    /// is mapped as well.
    fileprivate func permit(_ hash: [UInt8], notFor other: [UInt8], _ date: Int32) async throws -> String {
        try await point(MPinSize.g1) { master, permit throws(MPinError) in
            var dated = [UInt8](repeating: 0, count: MPinSize.hash)
            var span = dated.mutableSpan
            try Identity.hashDate(date: date, hashID: other.span, into: &span)
            // The share overwrites the other hash's point, which is not needed.
            try Identity.mapToG1(hash: dated.span, into: &permit)
            try TrustAuthority.timePermitShare(master: master, date: date, hashID: hash.span, into: &permit)
        }.hex()
    }

    fileprivate func permit(_ hash: [UInt8], _ date: Int32) async throws -> String {
        try await point(MPinSize.g1) { master, permit throws(MPinError) in
            try TrustAuthority.timePermitShare(master: master, date: date, hashID: hash.span, into: &permit)
        }.hex()
    }
}

/// The settings that Milagro's cloud gives. All are empty, because this server has no permit storage, no management
/// console and no licence.
private struct CloudSettings: Encodable {
    let timePermitsStorageURL = ""
    let managementConsoleURL = ""
    let license_info = ""
}
