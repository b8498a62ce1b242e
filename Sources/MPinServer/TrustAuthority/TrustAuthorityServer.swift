import HTTPTypes
import Hummingbird
import MPinCrypto
import MPinSecrets
import MPinWire

/// The endpoints of a D-TA (wire section 9). Its only secret is the master share; it keeps nothing about identities.
struct TrustAuthorityServer: Sendable {
    let master: MasterShare
    let requestKey: SecretBytes
    let limits: Limits
    let clock: Clock

    func addRoutes(to router: Router<BasicRequestContext>) {
        router.serve("/serverSecret", [.get: { request, _ in try await serverSecret(request) }])
        router.serve("/clientSecret", [.get: { request, _ in try await clientSecret(request) }])
        router.serve("/timePermit", [.get: { request, _ in try await timePermit(request) }])
        router.serve("/timePermits", [.get: { request, _ in try await timePermits(request) }])
        router.serve("/status", [.get: { _, _ in status() }])
        addCloudRoutes(to: router)
    }

    private func serverSecret(_ request: Request) async throws -> Response {
        let (appID, expires) = (try argument("app_id", request), try argument("expires", request))
        try check(.serverSecret(appID: appID, expires: expires), request, expires: expires)
        let share = try await point(MPinSize.g2) { master, share throws(MPinError) in
            try TrustAuthority.serverSecretShare(master: master, into: &share)
        }
        return .json(ServerSecretResponse(serverSecret: SecretHex(share), startTime: master.startTime.iso))
    }

    private func clientSecret(_ request: Request) async throws -> Response {
        let (appID, expires) = (try argument("app_id", request), try argument("expires", request))
        let hash = try hashID(request)
        let message = SignedMessage.clientSecret(
            appID: appID, hashID: Hex.encode(hash), hashUser: try argument("hash_user_id", request), expires: expires)
        try check(message, request, expires: expires)
        let share = try await point(MPinSize.g1) { master, share throws(MPinError) in
            try TrustAuthority.clientSecretShare(master: master, hashID: hash.span, into: &share)
        }
        return .json(ClientSecretResponse(clientSecret: SecretHex(share)))
    }

    /// The date is not in the query of old clients, but it is in the signature: the share is for the date that was
    /// signed, if that is today, or yesterday in the first hour of a day. A signature is thus good for one day's permit
    /// and dies with it.
    private func timePermit(_ request: Request) async throws -> Response {
        let hash = try hashID(request)
        let signature = try argument("signature", request)
        let signed = clock().permitDates.first { date in
            SignedMessage.timePermit(hashID: Hex.encode(hash), date: date).isSigned(signature, key: requestKey)
        }
        guard let date = signed else { throw APIError(.unauthorized, "Invalid signature") }
        return .json(TimePermitResponse(timePermit: try await permit(hash, date)))
    }

    /// For the RPS alone: the request is signed with its count and expires.
    private func timePermits(_ request: Request) async throws -> Response {
        let hash = try hashID(request)
        let expires = try argument("expires", request)
        guard let count = Int(try argument("count", request)), (0...limits.permitDays).contains(count) else {
            throw APIError(.forbidden, "count must be a number from 0 to \(limits.permitDays)")
        }
        let message = SignedMessage.timePermits(hashID: Hex.encode(hash), count: count, expires: expires)
        try check(message, request, expires: expires)
        let today = clock().day
        var permits: [String: String] = [:]
        for date in today..<today + Int32(count) { permits[String(date)] = try await permit(hash, date) }
        return .json(TimePermitsResponse(timePermits: permits))
    }

    private func status() -> Response {
        struct Status: Encodable {
            let message = "OK"
            let service_name = "D-TA server"
            // A list of one, as old D-TAs have it.
            let startTime: [String]
        }
        return .json(Status(startTime: [master.startTime.iso]))
    }
}

extension TrustAuthorityServer {
    private func argument(_ name: String, _ request: Request) throws -> String {
        guard let value = request.query(name) else { throw APIError(.forbidden, "Missing argument \(name)") }
        return value
    }

    /// 32 bytes.
    private func hashID(_ request: Request) throws -> [UInt8] {
        guard let hash = Hex.decode(try argument("hash_mpin_id", request)), hash.count == MPinSize.hash else {
            throw APIError(.forbidden, "hash_mpin_id must be 64 hex digits")
        }
        return hash
    }

    /// The signature first, then the time: only who holds the key learns anything about the clock.
    private func check(_ message: SignedMessage, _ request: Request, expires: String) throws {
        guard message.isSigned(try argument("signature", request), key: requestKey) else {
            throw APIError(.unauthorized, "Invalid signature")
        }
        guard let limit = Moment(expires) else { throw APIError(.forbidden, "Unreadable argument expires") }
        let now = clock()
        guard now <= limit else { throw APIError(.requestTimeout, "Request expired") }
        guard limit <= now.adding(seconds: limits.signedAheadSeconds) else {
            throw APIError(.forbidden, "Argument expires lies too far ahead")
        }
    }

    private func permit(_ hash: [UInt8], _ date: Int32) async throws -> String {
        try await point(MPinSize.g1) { master, share throws(MPinError) in
            try TrustAuthority.timePermitShare(master: master, date: date, hashID: hash.span, into: &share)
        }.hex()
    }

    /// Runs one multiplication by the master share off the event loop.
    private func point(
        _ size: Int,
        _ multiply: @escaping @Sendable (Span<UInt8>, inout MutableSpan<UInt8>) throws(MPinError) -> Void
    ) async throws -> SecretBytes {
        try await Workers.compute {
            let share = SecretBytes(count: size)
            var bytes = share.mutableSpan
            try multiply(master.secret.span, &bytes)
            return share
        }
    }
}
