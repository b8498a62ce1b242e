import Hummingbird
import MPinSecrets
import MPinStore
import MPinWire

/// Time permits: how the RPA and the operator take the right to log in away (wire sections 6.5 and 8.2).
extension RelyingPartyService {
    /// GET /timePermit/<id> (wire section 6.5): D-TA 1's share for today and the signature that D-TA 2 wants to see.
    ///
    /// It works for any ID, registered or not, so that nobody learns here which ones are. What a stranger gets is made in
    /// the same way of an ID that nobody has: it fits no token. Nor does the time tell: all do the same work (`make
    /// times-test`).
    func timePermit(_ id: MPinID) async throws -> Response {
        try rates.admit(.login, identity: id.hash)
        // Else clients would keep a wrong share for the rest of the day.
        try permitWatch?.requireRight()
        let now = config.clock()
        let identity = try await identities.findAlike(id, at: now)
        try await requirePermission(id, identity)
        let registered = identity?.keyID ?? keys.currentID
        // Of an older master secret it would spoil the logins of the whole day, for which clients keep it.
        let keyID = try await keyRing.keys(for: registered).servedID(registered)
        let permit = Permit(hash: id.hash, isStranger: identity == nil, keyID: keyID, date: now.day)
        let share = try await authorityShare { try await firstShare(permit) }
        try await store(permit, at: now)
        permitAudit.note(id, identity, status: 200)
        return .json(
            RPSTimePermitResponse(
                date: permit.date, signature: signature(permit, for: dta2), storageId: Hex.encode(permit.hash),
                timePermit: share.hex()))
    }

    private struct Permit {
        /// SHA-256 of the M-Pin ID.
        let hash: [UInt8]
        let isStranger: Bool
        let keyID: String
        let date: Int32
    }

    /// D-TA 1's share. An old one knows no strangers: it is asked for somebody whom nobody is.
    private func firstShare(_ permit: Permit) async throws -> SecretBytes {
        guard dta1.legacy != nil else {
            return try await dta1.timePermitShare(permit.hash, signature: signature(permit, for: dta1))
        }
        let stranger = SignedMessage.stranger(hashID: Hex.encode(permit.hash)).tag(key: config.activationKey)
        let holder = permit.isStranger ? stranger : permit.hash
        return try await dta1.timePermitShare(holder, keyID: permit.keyID, date: permit.date)
    }

    /// What the D-TA wants to see.
    private func signature(_ permit: Permit, for authority: TrustAuthorityClient) -> String {
        permit.isStranger
            ? authority.strangerSignature(permit.hash, keyID: permit.keyID, date: permit.date)
            : authority.permitSignature(permit.hash, keyID: permit.keyID, date: permit.date)
    }

    /// Refuses whom the operator or the RPA has taken the right away.
    private func requirePermission(_ id: MPinID, _ identity: IdentityRecord?) async throws {
        do {
            guard identity?.revoked != true else { throw APIError(.gone, "The M-Pin ID is revoked") }
            try await askForPermit(id)
        } catch let refusal as APIError {
            // What the RPA says of a user is not for strangers: they can write any user id into an M-Pin ID.
            if identity == nil && refusal.status.code < 500 { return }
            permitAudit.note(id, identity, status: refusal.status.code)
            throw refusal
        }
    }

    /// Private GET /user/<id>, which no old server has: 410 for an identity that the operator has revoked, for the sessions
    /// that an RPA keeps.
    func standing(_ id: MPinID) async throws -> Response {
        guard try await !isRevoked(id) else { throw APIError(.gone, "The M-Pin ID is revoked") }
        return Response(status: .ok)
    }

    func isRevoked(_ id: MPinID) async throws -> Bool {
        try await identities.find(id, at: config.clock())?.revoked == true
    }

    /// Asks the RPA whether the user may still log in (wire section 8.2); its refusal is the client's.
    func askForPermit(_ id: MPinID) async throws {
        guard let permitCheck else { return }
        let bearer = config.rpaKey.map { SignedMessage.fromRPS.signature(key: $0) }
        let status: Int
        do { status = try await permitCheck.get("?mpin_id=" + id.hex, bearer: bearer).status } catch {
            throw APIError(.internalServerError, "The relying party application cannot be reached")
        }
        switch status {
        case 200: return
        // 401 is about our own bearer token, where there is one, and not about the user.
        case 400..<500 where status != 401 || bearer == nil:
            throw APIError(.init(code: status), "The relying party application refused the permit")
        default: throw APIError(.internalServerError, "The relying party application failed")
        }
    }
}

/// What stands in for the old cloud's permit storage: D-TA 2's shares under the name of their identity and day.
extension RelyingPartyService {
    /// GET timePermitsStorageURL/<app_id>/<date>/<hash_mpin_id> (wire section 10): the share as bare hex. Who gets none
    /// here asks D-TA 2, as old clients do in any case.
    func storedPermit(_ context: RequestContext) async throws -> Response {
        let names = ["app", "date", "hash"].map { context.parameters.get($0) ?? "" }
        guard names[0] == appID, let date = Int32(names[1]), let hash = Hex.decode(names[2]) else {
            throw APIError.notFound
        }
        let now = config.clock()
        let known = try await storedPermits.read(Self.permitKey(date: date, hash: hash), at: now)
        let stranger = try await storedPermits.read(strangerKey(hash), at: now)
        let prefix = Self.permitKey(date: date, hash: hash) + "/"
        guard let share = known ?? stranger.flatMap({ $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil })
        else { throw APIError.notFound }
        return Response(
            status: .ok, headers: [.contentType: "text/plain"], body: .init(byteBuffer: .init(string: share)))
    }

    /// Keeps D-TA 2's share until the day ends, where that is wanted; those of strangers share a fixed number of places.
    /// It is only a convenience: without it the client asks D-TA 2.
    private func store(_ permit: Permit, at now: Moment) async throws {
        let name = Self.permitKey(date: permit.date, hash: permit.hash)
        let key = permit.isStranger ? strangerKey(permit.hash) : name
        guard config.storePermits else { return }
        let kept = try await storedPermits.read(key, at: now)
        if permit.isStranger ? kept?.hasPrefix(name + "/") == true : kept != nil { return }
        guard let share = try? await dta2.timePermitShare(permit.hash, signature: signature(permit, for: dta2)),
            isRight(share, permit)
        else { return }
        let text = permit.isStranger ? "\(name)/\(share.hex())" : share.hex()
        try await storedPermits.update(key, at: now) { entry in
            entry = .init(text, expires: Moment(startOfDay: permit.date &+ 1))
        }
    }

    /// What is kept for a whole day is looked at; that of a stranger for the sake of equal times.
    private func isRight(_ share: SecretBytes, _ permit: Permit) -> Bool {
        let stranger = SignedMessage.stranger(hashID: Hex.encode(permit.hash))
        let holder = permit.isStranger ? stranger.tag(key: dta2.requestKey) : permit.hash
        return keyRing.secretsInUse.first { $0.keyID == permit.keyID }?
            .isPermit(share, date: permit.date, hash: holder, of: 1) ?? false
    }

    private func strangerKey(_ hash: [UInt8]) -> String { "stranger/" + slots.key(hash) }

    private static func permitKey(date: Int32, hash: [UInt8]) -> String { "\(date)/\(Hex.encode(hash))" }
}
