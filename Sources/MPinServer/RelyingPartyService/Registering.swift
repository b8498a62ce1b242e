import HTTPTypes
import Hummingbird
import MPinSecrets
import MPinStore
import MPinWire

extension RelyingPartyService {
    /// PUT /user and PUT /user/<id> (wire section 6.2): starts or restarts a registration.
    func register(_ request: Request, id: MPinID?) async throws -> Response {
        let wish = try await RegistrationWish(request, limits)
        guard !config.verifyURL.isEmpty || wish.activateCode != nil else {
            throw APIError(.badRequest, "Nobody can register here")
        }
        try rates.admit(.register, user: wish.userID)
        let now = config.clock()
        let expires = now.adding(seconds: limits.registrationSeconds)
        // Kept before the RPA is asked: the link may be opened before the RPA has answered.
        let before = try await restart(id, wish, expires: expires, at: now)
        let (registration, regOTT) =
            if let before { (before.value, wish.regOTT ?? "") } else {
                try await begin(wish, expires: expires, at: now)
            }
        config.audit.record(
            .registrationStarted(registration.id, user: registration.userID, isRestart: before != nil))
        let verdict: VerifyUserResponse
        do {
            verdict =
                if let code = wish.activateCode { try await redeem(code, registration, at: now) } else {
                    try await verify(registration, wish, expires: expires, isRestart: before != nil)
                }
        } catch {
            if let before {
                try await registrations.undoRestart(expires, to: before, at: now)
            } else {
                try await registrations.delete(registration.id, at: now)
            }
            let status = (error as? APIError)?.status.code ?? 500
            config.audit.record(
                .registrationRefused(registration.id, user: registration.userID, status: status))
            throw error
        }
        metrics.count(.registrations)
        let isActive =
            verdict.forceActivate == true ? try await registrations.activate(registration.id, at: now) : false
        if isActive { config.audit.record(.registrationConfirmed(registration.id, user: registration.userID)) }
        return .json(
            RegisterResponse(
                mpinId: registration.id.hex, regOTT: regOTT, active: isActive,
                expireTime: expires.isoWithMicroseconds, nowTime: now.isoWithMicroseconds,
                message: isActive ? nil : verdict.message))
    }

    /// Begins the pending registration of that ID anew, and gives what it was before; nil when there is none.
    private func restart(
        _ id: MPinID?, _ wish: RegistrationWish, expires: Moment, at now: Moment
    ) async throws -> Table<Registration>.Entry? {
        guard let id else { return nil }
        return try await registrations.restart(id, expires: expires, at: now) { pending in
            guard let regOTT = wish.regOTT, pending.accepts(regOTT) else {
                throw APIError(.badRequest, "Missing or wrong regOTT")
            }
            // Else the mail for the identity of one user would go to another.
            guard pending.userID == wish.userID else {
                throw APIError(.forbidden, "The registration belongs to another userId")
            }
        }
    }

    private func begin(
        _ wish: RegistrationWish, expires: Moment, at now: Moment
    ) async throws -> (Registration, regOTT: String) {
        let regOTT = Hex.encode(try randomBytes(16))
        let fresh = Registration(
            id: try MPinID.issue(userID: wish.writtenUserID, mobile: wish.mobile, at: now), userID: wish.userID,
            regOTT: regOTT)
        try await registrations.create(fresh, expires: expires, at: now)
        return (fresh, regOTT)
    }

    /// In the place of the RPA's word and its mail.
    private func redeem(
        _ code: String, _ registration: Registration, at now: Moment
    ) async throws -> VerifyUserResponse {
        guard try await activationCodes.redeem(code, user: registration.userID, at: now) else {
            throw APIError(.forbidden, "Wrong or expired activation code")
        }
        return VerifyUserResponse(forceActivate: true)
    }

    /// Asks the RPA whether the user may register (wire section 8.1), and whether without a further confirmation.
    private func verify(
        _ registration: Registration, _ wish: RegistrationWish, expires: Moment, isRestart: Bool
    ) async throws -> VerifyUserResponse {
        let message = VerifyUserRequest(
            userId: registration.userID, mpinId: registration.id.hex, mobile: wish.mobile,
            activateKey: activation(registration).signature(key: config.activationKey),
            expireTime: expires.iso, resend: isRestart, deviceName: wish.deviceName,
            userData: wish.userData)
        let bearer = config.rpaKey.map { SignedMessage.fromRPS.signature(key: $0) }
        let answer: Peer.Answer
        do {
            answer = try await rpa.post("", headers: ClientHeaders(config).of(wish.headers), message, bearer: bearer)
        } catch let overload as APIError {
            throw overload
        } catch {
            throw APIError(.internalServerError, "The relying party application cannot be reached")
        }
        switch answer.status {
        case 200 where answer.body.count == 0: return VerifyUserResponse(forceActivate: false)
        case 200:
            guard let verdict = answer.json(VerifyUserResponse.self) else { break }
            return verdict
        // 401 is about our own bearer token, where there is one, and not about the user.
        case 400..<500 where answer.status != 401 || config.rpaKey == nil:
            throw APIError(.init(code: answer.status), "The relying party application refused the registration")
        default: break
        }
        throw APIError(.internalServerError, "The relying party application failed")
    }

    /// Private POST /user/<id> (wire section 7): the RPA delivers the activation key. It is checked here and now, so
    /// that a wrong one can neither take the place of a good one nor be called a success.
    func activate(_ request: Request, _ id: MPinID) async throws -> Response {
        let key = try await request.json(ActivateRequest.self, limits).activateKey
        let now = config.clock()
        guard let registration = try await registrations.find(id, at: now), !registration.isIssued else {
            throw APIError(.unauthorized, "Unknown or expired registration")
        }
        guard activation(registration).isSigned(key, key: config.activationKey) else {
            config.audit.record(.confirmationRefused(id, user: registration.userID))
            throw APIError(.forbidden, "Wrong activation key")
        }
        guard try await registrations.activate(id, at: now) else {
            throw APIError(.unauthorized, "Unknown or expired registration")
        }
        config.audit.record(.registrationConfirmed(id, user: registration.userID))
        return Response(status: .ok)
    }

    /// Private GET /registration/<id>: where it stands.
    func registrationState(_ id: MPinID) async throws -> Response {
        let now = config.clock()
        let state: RegistrationState =
            switch try await registrations.find(id, at: now) {
            case let registration? where registration.isIssued: .finished
            case let registration?: registration.isActive ? .confirmed : .pending
            case nil: try await identities.find(id, at: now) == nil ? .none : .finished
            }
        return .json(RegistrationStateResponse(state: state))
    }

    /// Private POST /registration/<id>: whoever has the link of the mail ends a registration that is not finished.
    func deleteRegistration(_ request: Request, _ id: MPinID) async throws -> Response {
        let key = try await request.json(ActivateRequest.self, limits).activateKey
        let now = config.clock()
        guard let registration = try await registrations.find(id, at: now), !registration.isIssued else {
            throw APIError(.unauthorized, "Unknown or expired registration")
        }
        guard activation(registration).isSigned(key, key: config.activationKey) else {
            throw APIError(.forbidden, "Wrong activation key")
        }
        guard try await registrations.deleteUnfinished(id, at: now) else {
            throw APIError(.unauthorized, "Unknown or expired registration")
        }
        config.audit.record(.registrationDeleted(id, user: registration.userID))
        return Response(status: .ok)
    }

    private func activation(_ registration: Registration) -> SignedMessage {
        .activation(id: registration.id, regOTTHash: Hex.decode(registration.regOTTHash) ?? [])
    }

    /// GET /signature/<id>?regOTT= (wire section 6.3): the first client secret share, and the signed query for the
    /// second.
    ///
    /// For a few minutes the same regOTT gets the same share again, so that a client that lost either share on the way
    /// need not register anew. That ends before its time with the first right PIN, and when the client says that it is done
    /// (``setupDone(_:_:)``): from then on nobody needs the shares, and a regOTT that was read in a log of URLs is worth
    /// nothing. A wrong regOTT harms nothing.
    func signature(_ request: Request, _ id: MPinID) async throws -> Response {
        guard let regOTT = request.query("regOTT")?.lowercased() else { throw APIError(.badRequest, "Missing regOTT") }
        let now = config.clock()
        guard let registration = try await registrations.find(id, at: now), registration.accepts(regOTT) else {
            throw APIError(.badRequest, "No such registration")
        }
        guard registration.isActive else { throw APIError(.unauthorized, "The identity is not verified yet") }
        let identity = try await identities.find(id, at: now)
        guard identity?.isProven != true else { throw APIError(.badRequest, "No such registration") }
        let keyID = identity?.keyID ?? keys.currentID
        _ = try await keyRing.context(keyID)
        let share = try await authorityShare { try await dta1.clientSecretShare(id, keyID: keyID, expires: expires()) }
        let refetch = now.adding(seconds: limits.refetchSeconds)
        guard try await registrations.complete(id, refetchUntil: refetch, at: now) else {
            throw APIError(.badRequest, "No such registration")
        }
        // Else this share would be of one master secret and the record of the identity of another: asking again mends it.
        guard try await identities.create(registration, keyID: keyID, at: now) == keyID else {
            throw APIError(.internalServerError, "The master secret was rotated in between")
        }
        config.audit.record(.registered(id, user: registration.userID, keyID: keyID))
        let params = dta2.clientSecretQuery(id, keyID: keyID, mobile: 1, expires: expires())
        return .json(SignatureResponse(clientSecretShare: SecretHex(share), params: params, setupDone: true))
    }

    /// POST /setupDone/<id> (wire section 6.4): with the regOTT, the end of a registration whose shares were handed out.
    /// What else old clients send has no effect, and nobody learns from the answer which registrations there are.
    func setupDone(_ request: Request, _ id: MPinID) async throws -> Response {
        let body = try await request.bytes(limits)
        if let report = try? request.decoded(SetupDoneRequest.self, from: body) {
            try await registrations.end(id, regOTT: report.registrationToken.plainText.lowercased(), at: config.clock())
        }
        return Response(status: .ok)
    }

    func authorityShare(_ ask: () async throws -> SecretBytes) async throws -> SecretBytes {
        do { return try await ask() } catch {
            throw APIError(.internalServerError, "The trust authority gave no share")
        }
    }
}

/// A register request within the limits.
private struct RegistrationWish {
    let headers: HTTPFields
    /// As the client has written it, for the M-Pin ID.
    let writtenUserID: String
    /// In NFC.
    let userID: String
    let mobile: Int
    let deviceName: String
    let userData: String
    let regOTT: String?
    /// Nil where there is none.
    let activateCode: String?

    init(_ request: Request, _ limits: Limits) async throws {
        let bytes = try await request.bytes(limits)
        let body = try request.decoded(RegisterRequest.self, from: bytes)
        // To the decoder null is the same as nothing; to an old server it was a crash, to us it is a mistake.
        guard try request.decoded(JSONValue.self, from: bytes)["mobile"] != .null else {
            throw APIError(.badRequest, "mobile must be an integer")
        }
        headers = request.headers
        writtenUserID = body.userId
        userID = UserID.normal(body.userId)
        guard !userID.isEmpty, max(userID.utf8.count, writtenUserID.utf8.count) <= limits.userIDBytes else {
            throw APIError(.badRequest, "userId must have 1 to \(limits.userIDBytes) bytes")
        }
        if let hidden = UserID.hiddenCharacters(in: writtenUserID) {
            throw APIError(.badRequest, "userId must not hold \(hidden)")
        }
        mobile = body.mobile?.value ?? 0
        deviceName = body.deviceName ?? ""
        userData = body.userData ?? ""
        activateCode = body.activateCode.flatMap { $0.isEmpty ? nil : $0 }
        regOTT = body.registrationToken?.plainText.lowercased()
    }
}
