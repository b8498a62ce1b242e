import Hummingbird
import MPinSecrets
import MPinService
import MPinStore
import MPinWire

/// Time permits in the Milagro protocol (wire sections 6.5, 7, 8.2 and 10).
extension MilagroFace {
    /// GET /timePermit/<id> (wire section 6.5): D-TA 1's share for today, and the signature that D-TA 2 requires.
    func timePermit(_ id: MPinID) async throws -> Response {
        try await rates.admit(.login, identity: id.hash)
        let issued = try await service.issuePermit(id)
        return .json(
            RPSTimePermitResponse(
                date: issued.permit.date, signature: try onlyTicket(issued.tickets),
                storageId: Hex.encode(issued.permit.hash), timePermit: issued.share.octets.hex()))
    }

    /// Private GET /user/<id>, which Milagro's RPS does not have: answers 410 if the operator has revoked the identity,
    /// or it is of a user of a project, and otherwise 200. An RPA that keeps sessions uses it.
    func revocationStatus(_ id: MPinID) async throws -> Response {
        guard try await !service.isRevokedToWebsites(id) else { throw ServiceError.revoked }
        return Response(status: .ok)
    }

    /// GET timePermitsStorageURL/<app_id>/<date>/<hash_mpin_id> (wire section 10): gives D-TA 2's permit share as plain
    /// hex. Answers 404 if the share is not stored; then the client asks D-TA 2, as Milagro's clients always do.
    func storedPermit(_ context: RequestContext) async throws -> Response {
        let names = ["app", "date", "hash"].map { context.parameters.get($0) ?? "" }
        guard names[0] == appID, let date = Int32(names[1]), let hash = Hex.decode(names[2]),
            let share = try await service.keptPermit(date: date, hash: hash)
        else { throw APIError.notFound }
        return Response(
            status: .ok, headers: [.contentType: "text/plain"], body: .init(byteBuffer: .init(string: share)))
    }
}

extension RelyingPartyServiceConfig {
    /// Asks the RPA whether a user may still log in (wire section 8.2), and passes its refusal on to the client. Nil if
    /// the RPA is not to be asked.
    var permission: AuthenticationService.Permission? {
        guard let peer = permitURL.map({ Peer(url: $0, seconds: limits.callSeconds) }) else { return nil }
        let rpaKey = rpaKey
        return { id in
            let bearer = rpaKey.map { SignedMessage.fromRPS.signature(key: $0) }
            let status: Int
            do { status = try await peer.get("?mpin_id=" + id.hex, bearer: bearer).status } catch {
                throw APIError(.internalServerError, "The relying party application cannot be reached")
            }
            switch status {
            case 200: return nil
            // If the request has a bearer token, 401 is about that token, and not about the user.
            case 400..<500 where status != 401 || bearer == nil:
                return APIError(.init(code: status), "The relying party application refused the permit")
            default: throw APIError(.internalServerError, "The relying party application failed")
            }
        }
    }
}
