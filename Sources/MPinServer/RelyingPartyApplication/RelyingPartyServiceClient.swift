import MPinSecrets
import MPinService
import MPinStore
import MPinWire

/// The RPA's requests to the RPS, on its private listener. If both run in one process, the verdict of a login and the
/// revocation of an identity are asked for by direct calls.
struct RelyingPartyServiceClient: Sendable {
    private let peer: Peer
    private let local: MilagroFace?
    private let key: SecretBytes?
    /// The beginning of the paths for waiting browsers. Milagro's RPS has these paths only among its public ones, below
    /// the prefix.
    private let browserPath: String
    /// Whether the RPS waits for the RPA's decision about each login.
    private let reportsResult: Bool
    private let revoked: RevokedUsers

    init(_ config: RelyingPartyApplicationConfig, local: MilagroFace?) {
        self.local = local
        peer = Peer(url: config.rpsPrivateURL, seconds: config.limits.callSeconds)
        key = config.rpsKey
        browserPath = config.rpsKey == nil ? "/" + config.prefix : ""
        reportsResult = config.reportLoginResult
        revoked = RevokedUsers(file: config.site.revokedUsersFile)
    }

    /// The answer of the RPS about a login, and the id of the session that begins if its status is 200.
    struct Login: Sendable {
        let verdict: RPAAuthenticateResponse
        /// Seconds after which another try makes sense; nil if the RPS does not tell.
        let retryAfter: Int?
        let session: WebSessionID
    }

    /// Redeems a one-time token. The request already contains the data with which the phone can end the session.
    /// `ownPage`: whether a page of this site presents the token. If it is false, a login for a browser is refused with
    /// 403, and its token stays valid.
    ///
    /// A user on the operator's list of revoked users gets 403. After this status Milagro's clients keep their token,
    /// which is useful because the operator may remove the user from the list.
    func login(authOTT: String, ownPage: Bool, _ sessions: WebSessions) async throws -> Login {
        let session = try WebSessionID.random()
        let logout = ["sessionToken": JSONValue.string(sessions.logoutToken(session))]
        let report = try await authenticate(
            RPAAuthenticateRequest(
                authOTT: authOTT, logoutURL: "/mpinLogout", logoutData: .object(logout),
                ownPage: ownPage ? nil : false))
        var verdict = report.answer
        if verdict.status == 200, try revoked.contains(verdict.mpinId, user: UserKey(verdict.userId)) {
            (verdict.status, verdict.message) = (403, "The user is revoked")
        }
        if reportsResult, report.answer.status == 200 { try await self.report(authOTT, verdict, logout) }
        return Login(verdict: verdict, retryAfter: report.retryAfter, session: session)
    }

    private func authenticate(_ request: RPAAuthenticateRequest) async throws -> LoginReport {
        if let local { return try await local.authenticate(request) }
        let answer = try await ask("/authenticate", request)
        guard let verdict = answer.json(RPAAuthenticateResponse.self), verdict.status == answer.status else {
            throw Self.failure(answer)
        }
        return LoginReport(answer: verdict, retryAfter: answer.retryAfter)
    }

    private func report(
        _ authOTT: String, _ verdict: RPAAuthenticateResponse, _ logout: [String: JSONValue]
    ) async throws {
        let data = logout.merging(["userId": .string(verdict.userId)]) { $1 }
        let answer = try await ask(
            "/loginResult",
            LoginResultRequest(
                authOTT: authOTT, status: verdict.status, message: verdict.message, logoutURL: "/mpinLogout",
                logoutData: .object(data)))
        guard answer.status == 200 else {
            throw Self.isBusy(answer)
                ? Self.failure(answer) : APIError(.requestTimeout, "Expired authentication request")
        }
    }

    /// Asks whether the user of a session may no longer log in.
    func isRevoked(_ session: WebSession) async throws -> Bool {
        if try revoked.contains(session.mpinID, user: UserKey(session.userID)) { return true }
        guard let id = MPinID(hex: session.mpinID) else { return true }
        if let local { return try await local.service.isRevokedToWebsites(id) }
        let answer = try await reach { try await peer.get("/user/" + id.hex, bearer: $0) }
        switch answer.status {
        case 410: return true
        // Milagro's RPS does not know this request.
        case 200, 404, 405: return false
        default: throw Self.failure(answer)
        }
    }

    /// Sends an activation key to the RPS, which was only in a mail to the user, and returns its HTTP status.
    func activate(id: String, activateKey: String) async throws -> Int {
        // An RPS without a key may be Milagro's, which gets the request that it knows.
        let mailed = key == nil ? nil : true
        let answer = try await ask("/user/" + id, ActivateRequest(activateKey: activateKey, mailed: mailed))
        guard !Self.isBusy(answer) else { throw Self.failure(answer) }
        return answer.status
    }

    /// Asks how far a registration is, and who has begun it. Nil if the RPS is Milagro's, which does not know this request.
    func registration(_ id: String) async throws -> RegistrationStateResponse? {
        let answer = try await reach { try await peer.get("/registration/" + id, bearer: $0) }
        switch answer.status {
        case 200: return answer.json(RegistrationStateResponse.self)
        case 404, 405: return nil
        default: throw Self.failure(answer)
        }
    }

    /// Deletes an unfinished registration and returns the RPS's HTTP status.
    func deleteRegistration(id: String, activateKey: String) async throws -> Int {
        let answer = try await ask("/registration/" + id, ActivateRequest(activateKey: activateKey))
        guard !Self.isBusy(answer) else { throw Self.failure(answer) }
        return answer.status
    }

    /// Asks for a new access number or QR code, depending on `path`. `place` is where the browser is. Only the private
    /// listener believes it.
    func waitingBrowser(_ path: String, for place: WaitingBrowser.Place?) async throws -> WaitingBrowserResponse {
        let wish = WaitingBrowserRequest(address: place?.address, program: place?.program)
        return try await value(browserPath + path, wish, mayRepeat: false)
    }

    /// Asks how far the phone's login is. The request may be repeated.
    func access(webOTT: String) async throws -> AccessResponse {
        try await value(browserPath + "/access", AccessRequest(webOTT: webOTT, refusals: 0), mayRepeat: true)
    }

    private func value<T: Decodable>(
        _ path: String, _ body: some Encodable & Sendable, mayRepeat: Bool
    ) async throws -> T {
        let answer = try await ask(path, body, mayRepeat: mayRepeat)
        guard answer.status == 200, let value = answer.json(T.self) else { throw Self.failure(answer) }
        return value
    }

    /// Whether the RPS is busy, so that the request may be tried again later. Its `Retry-After`, if any, is passed on
    /// to the RPA's caller.
    private static func isBusy(_ answer: Peer.Answer) -> Bool { [429, 503].contains(answer.status) }

    private static func failure(_ answer: Peer.Answer) -> APIError {
        guard isBusy(answer) else { return APIError(.badGateway, "The relying party service failed") }
        return APIError(
            .init(code: answer.status), "The relying party service is busy", retryAfter: answer.retryAfter)
    }

    private func ask(
        _ path: String, _ body: some Encodable & Sendable, mayRepeat: Bool = false
    ) async throws -> Peer.Answer {
        try await reach { try await peer.post(path, body, bearer: $0, mayRepeat: mayRepeat) }
    }

    /// Calls `ask` with the bearer token, or with nil if there is no key. Throws 502 if the RPS cannot be reached.
    private func reach(_ ask: (String?) async throws -> Peer.Answer) async throws -> Peer.Answer {
        do { return try await ask(key.map { SignedMessage.fromRPA.signature(key: $0) }) } catch {
            throw APIError(.badGateway, "The relying party service cannot be reached")
        }
    }
}
