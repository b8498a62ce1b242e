import Hummingbird
import MPinSecrets
import MPinWire

/// Time permits: how the RPA and the operator take the right to log in away (wire sections 6.5 and 8.2).
extension RelyingPartyService {
    /// GET /timePermit/<id> (wire section 6.5): D-TA 1's share for today and the signature that D-TA 2 wants to see.
    func timePermit(_ id: MPinID) async throws -> Response {
        let now = config.clock()
        guard let identity = try await identities.find(id, at: now) else {
            throw APIError(.notFound, "Unknown M-Pin ID")
        }
        guard !identity.revoked else { throw APIError(.gone, "The M-Pin ID is revoked") }
        try await askForPermit(id)
        let (date, keyID) = (now.day, keys.servedID(identity.keyID))
        let share = try await authorityShare { try await dta1.timePermitShare(id, keyID: keyID, date: date) }
        try await storePermit(id, keyID: keyID, date: date, at: now)
        return .json(
            RPSTimePermitResponse(
                date: date, signature: dta2.permitSignature(id, keyID: keyID, date: date),
                storageId: Hex.encode(id.hash),
                timePermit: share.hex()))
    }

    /// Asks the RPA whether the user may still log in (wire section 8.2); its refusal is the client's.
    private func askForPermit(_ id: MPinID) async throws {
        guard let permitCheck else { return }
        let bearer = config.rpaKey.map { SignedMessage.fromRPS.signature(key: $0) }
        let status: Int
        do { status = try await permitCheck.get("?mpin_id=" + id.hex, bearer: bearer).status } catch {
            throw APIError(.internalServerError, "The relying party application cannot be reached")
        }
        switch status {
        case 200: return
        // 401 would be about our own bearer token, not about the user.
        case 400..<500 where status != 401:
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
        let key = Self.permitKey(date: date, hash: hash)
        guard let share = try await storedPermits.read(key, at: config.clock()) else { throw APIError.notFound }
        return Response(
            status: .ok, headers: [.contentType: "text/plain"], body: .init(byteBuffer: .init(string: share)))
    }

    /// Keeps D-TA 2's share until the day ends, where that is wanted. It is only a convenience: without it the client
    /// asks D-TA 2.
    private func storePermit(_ id: MPinID, keyID: String, date: Int32, at now: Moment) async throws {
        let key = Self.permitKey(date: date, hash: id.hash)
        guard config.storePermits, try await !storedPermits.contains(key, at: now),
            let share = try? await dta2.timePermitShare(id, keyID: keyID, date: date)
        else { return }
        _ = try await storedPermits.create(key, share.hex(), expires: Moment(startOfDay: date &+ 1), at: now)
    }

    private static func permitKey(date: Int32, hash: [UInt8]) -> String { "\(date)/\(Hex.encode(hash))" }
}
