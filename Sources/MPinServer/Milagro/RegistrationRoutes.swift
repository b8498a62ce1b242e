import HTTPTypes
import Hummingbird
import MPinSecrets
import MPinService
import MPinStore
import MPinWire

/// Registrations in the Milagro protocol (wire sections 6.2 to 6.4 and 7).
extension MilagroFace {
    /// PUT /user and PUT /user/<id> (wire section 6.2): starts or restarts a registration.
    func register(_ request: Request, id: MPinID?, _ context: RequestContext) async throws -> Response {
        let form = try await RegisterForm(request, id: id, asker: context.asker, limits)
        guard !config.verifyURL.isEmpty || form.application.activationCode != nil else {
            throw APIError(.badRequest, "Nobody can register here")
        }
        try await rates.admit(.register, user: form.application.user.text)
        let started = try await service.register(form.application) { try await verify($0, form) }
        metrics.count(.registrations)
        return .json(
            RegisterResponse(
                mpinId: started.id.hex, regOTT: started.registrationToken, active: started.isConfirmed,
                expireTime: started.expires.isoWithMicroseconds, nowTime: started.begun.isoWithMicroseconds,
                message: started.message))
    }

    /// Asks the RPA whether the user may register (wire section 8.1), and whether a confirmation is needed.
    func verify(
        _ question: AuthenticationService.Question, _ form: RegisterForm
    ) async throws -> AuthenticationService.Approval {
        let message = VerifyUserRequest(
            userId: question.registration.userID, mpinId: question.registration.id.hex,
            mobile: form.application.mobile, activateKey: question.activationKey, expireTime: question.expires.iso,
            resend: question.isRestart, deviceName: form.deviceName, userData: form.userData)
        let bearer = config.rpaKey.map { SignedMessage.fromRPS.signature(key: $0) }
        let answer: Peer.Answer
        do {
            answer = try await rpa.post("", headers: ClientHeaders(config).of(form.headers), message, bearer: bearer)
        } catch let overload as APIError {
            throw overload
        } catch {
            throw APIError(.internalServerError, "The relying party application cannot be reached")
        }
        switch answer.status {
        case 200 where answer.body.count == 0: return .init(isConfirmed: false)
        case 200:
            guard let verdict = answer.json(VerifyUserResponse.self) else { break }
            return .init(isConfirmed: verdict.forceActivate == true, message: verdict.message)
        // If the request has a bearer token, 401 is about that token, and not about the user.
        case 400..<500 where answer.status != 401 || config.rpaKey == nil:
            throw APIError(.init(code: answer.status), "The relying party application refused the registration")
        default: break
        }
        throw APIError(.internalServerError, "The relying party application failed")
    }

    /// Private POST /user/<id> (wire section 7): confirms a registration by the activation key that the RPA sends. If
    /// that key was nowhere but in a mail to the user, the mailbox is the user's.
    func activate(_ request: Request, _ id: MPinID) async throws -> Response {
        let body = try await request.json(ActivateRequest.self, limits)
        let user = try await service.confirm(id, activationKey: body.activateKey)
        if body.mailed == true, user.project == nil { try await proveUserID?(user.userID) }
        return Response(status: .ok)
    }

    /// Private GET /registration/<id>: tells how far the registration is, and who has begun it.
    func registrationState(_ id: MPinID) async throws -> Response {
        let state: RegistrationState =
            switch try await service.stage(of: id) {
            case .unknown: .none
            case .pending: .pending
            case .confirmed: .confirmed
            case .finished: .finished
            }
        let pending = try await service.pendingRegistration(id)
        return .json(
            RegistrationStateResponse(state: state, deviceName: pending?.deviceName, address: pending?.begunBy))
    }

    /// Private POST /registration/<id>: deletes an unfinished registration, as the owner of the link in the mail wants.
    func deleteRegistration(_ request: Request, _ id: MPinID) async throws -> Response {
        let key = try await request.json(ActivateRequest.self, limits).activateKey
        try await service.deleteRegistration(id, activationKey: key)
        return Response(status: .ok)
    }

    /// GET /signature/<id>?regOTT= (wire section 6.3): the first client secret share, and the signed query for the
    /// second share. With `pmiToken` the device takes pushes.
    func signature(_ request: Request, _ id: MPinID) async throws -> Response {
        guard let regOTT = request.query("regOTT")?.lowercased() else { throw APIError(.badRequest, "Missing regOTT") }
        let issued = try await service.issueShares(id, token: regOTT, pushToken: try request.pushToken())
        return .json(
            SignatureResponse(
                clientSecretShare: SecretHex(issued.share.octets), params: try onlyTicket(issued.tickets),
                setupDone: true))
    }

    /// POST /setupDone/<id> (wire section 6.4): with the regOTT it ends a registration whose shares were handed out.
    /// Other bodies, which Milagro's clients send, have no effect. The answer is always the same, so that it does not
    /// reveal which registrations exist.
    func setupDone(_ request: Request, _ id: MPinID) async throws -> Response {
        let body = try await request.bytes(limits)
        if let report = try? request.decoded(SetupDoneRequest.self, from: body) {
            try await service.finishRegistration(id, token: report.registrationToken.plainText.lowercased())
        }
        return Response(status: .ok)
    }

    /// Returns the only ticket, with which a client gets a share from a D-TA. The Milagro protocol has two D-TAs, and
    /// the service itself gives the client the share of the first, so the client needs one ticket.
    func onlyTicket(_ tickets: [Ticket]) throws(APIError) -> String {
        guard tickets.count == 1, let ticket = tickets.first else { throw .internalError }
        return ticket.text
    }
}

extension Request {
    /// The push token of the device in the query, as clients send it with their request for a share. Nil if there is none.
    func pushToken() throws(APIError) -> String? {
        let token = query("pmiToken")
        guard Devices.isPushToken(token) else { throw APIError(.badRequest, "pmiToken is too long") }
        return token
    }
}

/// The contents of a register request, whose sizes are checked against the limits.
struct RegisterForm {
    let application: AuthenticationService.Application
    let headers: HTTPFields
    let deviceName: String
    let userData: String
    /// The access id of a browser's session; empty if there is none.
    let wid: String

    /// `project`: the project whose user registers; nil on the Milagro wire. `asker`: whoever asks.
    init(
        _ request: Request, id: MPinID?, project: Project? = nil, asker: String?, _ limits: Limits
    ) async throws {
        let bytes = try await request.bytes(limits)
        let body = try request.decoded(RegisterRequest.self, from: bytes)
        // The decoder does not tell null from a missing member. Milagro's RPS crashed on null; this server refuses it.
        guard try request.decoded(JSONValue.self, from: bytes)["mobile"] != .null else {
            throw APIError(.badRequest, "mobile must be an integer")
        }
        application = try .init(
            id: id, userID: body.userId, mobile: body.mobile?.value ?? 0,
            registrationToken: body.registrationToken?.plainText.lowercased(),
            activationCode: body.activateCode.flatMap { $0.isEmpty ? nil : $0 },
            deviceName: body.deviceName ?? "", pushToken: body.pushToken, project: project?.id,
            isByBackEnd: project?.newUserURL != nil, asker: asker, limits: limits.service)
        guard Devices.isPushToken(body.pushToken) else { throw APIError(.badRequest, "pushToken is too long") }
        wid = (body.wid ?? "").lowercased()
        headers = request.headers
        deviceName = body.deviceName ?? ""
        userData = body.userData ?? ""
    }
}
