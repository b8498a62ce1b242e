import Foundation
import Hummingbird
import MPinHTTP
import MPinSecrets
import MPinService
import MPinStore
import MPinWire

/// Verification by mail and registration (TRUST wire sections 4.4 to 4.7).
extension TrustFace {
    /// POST /verification/email: sends a mail with a link or a code.
    func verify(_ request: Request, _ context: RequestContext) async throws -> Response {
        guard config.mailer.sends else {
            throw TrustRefusal(.serviceUnavailable, "SERVICE_UNAVAILABLE", "this server sends no mails")
        }
        let body = try await request.json(TrustVerificationRequest.self, limits)
        let wish = try await rules.wish(
            try await project(body, request), userID: body.userId, id: body.mpinId.flatMap(MPinID.init(hex:)),
            deviceTag: body.deviceTag, accessID: body.accessId ?? "")
        do { try await rates.admit(.register, user: wish.userID) } catch let error as APIError {
            throw TrustRefusal(backoff: rules.now.adding(seconds: error.retryAfter ?? 1), at: rules.now)
        }
        let started = try await rules.startVerification(wish)
        try await send(started, wish, request, context)
        return .json(TrustVerificationResponse(backoff: started.again.seconds, method: started.method.rawValue))
    }

    /// The project of a verification: the one that the request names, or the only one of its OpenID client.
    private func project(_ body: TrustVerificationRequest, _ request: Request) async throws -> Project {
        guard body.projectId == nil, request.projectID == nil, let client = body.clientId else {
            return try await project(body.projectId, request)
        }
        guard let only = try await rules.project(ofClient: client) else { throw ProjectFault.unknownProject }
        return only
    }

    private func send(
        _ started: ProjectService.StartedVerification, _ wish: ProjectService.VerificationWish, _ request: Request,
        _ context: RequestContext
    ) async throws {
        let content = MailContent(
            link: verificationURL(started, wish), user: wish.userID, expires: started.expires.iso,
            code: started.method == .code ? started.code : nil)
        let language = config.site.language(request)
        do { try await config.mailer.send(content, in: language) } catch is Mailer.NoAddress {
            throw TrustRefusal.parameter("userId", "no mail can be sent to that userId")
        } catch {
            context.logger.error("mail was not sent", metadata: ["error": "\(error)"])
            throw TrustRefusal(.badGateway, "SERVICE_UNAVAILABLE", "the mail could not be sent")
        }
    }

    /// The link to the project's page, with the code (TRUST wire section 2.3).
    func verificationURL(
        _ started: ProjectService.StartedVerification, _ wish: ProjectService.VerificationWish
    ) -> String {
        var members = [("user_id", wish.userID), ("code", started.code)]
        // Our own page serves all projects that have no page of their own.
        let isOurs = wish.project.linkURL == nil && config.site.browserClient != nil
        if isOurs, wish.project.id != Projects.own { members.append(("project_id", wish.project.id)) }
        let base = wish.project.linkURL ?? config.site.browserClient?.origin ?? config.baseURL
        return "\(base)/verification/confirmation?\(percentEncodedQuery(members))"
    }

    /// POST /verification/confirmation: exchanges a code for an activation token. If the code was only in a mail, the
    /// mailbox is the user's.
    func confirm(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = try await request.json(TrustConfirmationRequest.self, limits)
        return try await countingFailures(of: body.userId) { try await confirm(body, request, context) }
    }

    private func confirm(
        _ body: TrustConfirmationRequest, _ request: Request, _ context: RequestContext
    ) async throws -> Response {
        let named = try await named(request)
        var found = named
        if found == nil { found = try await rules.project(ofCode: body.code, user: body.userId) }
        guard let project = found else { throw ProjectFault.wrongCode(accessID: nil) }
        let confirmed: ProjectService.Confirmation
        do {
            confirmed = try await rules.confirm(body.code, user: body.userId, project: project, by: context.asker)
        } catch let fault as ProjectFault {
            // Where the client names no project, the answer must not tell which one has given this user a code.
            var refusal = try TrustRefusal(fault, at: rules.now)
            refusal.context["projectId"] = named?.id
            throw refusal
        }
        if confirmed.isByMail {
            try await openID.provider.profiles.proveUserID(confirmed.userID, at: rules.now)
        }
        return .json(
            TrustConfirmationResponse(
                projectId: project.id, accessId: confirmed.accessID, actToken: confirmed.activationToken,
                expireTime: confirmed.expires.seconds))
    }

    /// Runs `work` for a user, and counts it as a registration if it fails. A right code or token needs no limit: a mail or
    /// a login has made it, which was counted.
    func countingFailures<Result>(of user: String, _ work: () async throws -> Result) async throws -> Result {
        do { return try await work() } catch {
            try await rates.admit(.register, user: user)
            throw error
        }
    }

    /// The project that a request names, or the only one that there is. Nil if there are several and it names none, as
    /// back ends and the newest clients.
    private func named(_ request: Request) async throws -> Project? {
        guard request.projectID == nil else { return try await project(nil, request) }
        return try await rules.impliedProject()
    }

    /// POST /registration: registers a device with its public key.
    func enrol(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = try await request.json(TrustRegistrationRequest.self, limits)
        let wish = ProjectService.Enrolment(
            userID: body.userId, deviceName: body.deviceName ?? "", activationToken: body.activationToken,
            publicKey: body.publicKey, projectID: request.projectID, pushToken: body.pushToken,
            deviceTag: body.deviceTag, asker: context.asker)
        let device = try await countingFailures(of: body.userId) { try await rules.enrol(wish) }
        metrics.count(.registrations)
        return .json(
            TrustRegistrationResponse(
                mpinId: device.id.hex, projectId: device.project.id, dtas: try names(device.keyID),
                secretUrls: device.tickets.map {
                    secretURL($0, TrustAuthorityServer.keyedSecretPath, base: base(request))
                },
                pinLength: device.project.pinLength,
                verificationType: Self.verificationType(isByBackEnd: device.isByBackEnd), nowTime: device.time.iso))
    }

    /// The member `dtas`: names of the D-TAs and of the master secret that they have used.
    func names(_ keyID: String) throws -> String {
        let names = authorities.map { authority in
            Hex.encode(SHA256.hash(Array("\(appID) \(authority.index) \(keyID)".utf8)))
        }
        return Data(try JSON.bytes(names)).base64EncodedString()
    }

    /// Where the client fetches a share. The URL is valid for a minute, for this identity and key only.
    func secretURL(_ ticket: Ticket, _ path: String, base: String) -> String {
        let url = authorities.first { $0.index == ticket.index }?.publicURL ?? AuthorityGate.firstPath
        return (url.hasPrefix("/") ? base + url : url) + path + "?" + ticket.text
    }

    /// The base URL of what belongs to the answer to a request. The client's pages may ask their own origin only.
    private func base(_ request: Request) -> String {
        guard let client = config.site.browserClient, client.isAt(request) else { return config.baseURL }
        return client.origin ?? config.baseURL
    }

    /// The name of the way in which a user was verified.
    static func verificationType(isByBackEnd: Bool) -> String { isByBackEnd ? "fullCustom" : "standardEmail" }
}
