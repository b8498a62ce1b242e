import Hummingbird
import MPinSecrets
import MPinService
import MPinStore
import MPinWire

/// The requests of the clients before generation 4, beside those that all generations have (TRUST wire section 7.1).
/// Clients look at the statuses 403, 401 and 404, so these are part of the wire.
extension TrustFace {
    var generation3Routes: [Route] {
        [
            v2(.trustSettings) { _, _ in try clientSettings() },
            v2(.trustRegister) { try await beginRegistration($0, $1) },
            v2(.trustSignature) { try await issueShares($0, $1) },
            v2(.trustRenewal) { request, _ in try await renewSecret(request) },
        ]
    }

    /// GET /rps/v2/clientSettings: the URLs for clients before client-js 6.2, which know no path but this one.
    private func clientSettings() throws -> Response {
        .json(TrustSettingsResponse(base: config.baseURL, seedValue: Hex.encode(try randomBytes(limits.seedBytes))))
            .uncached()
    }

    /// PUT /rps/v2/user: makes the M-Pin ID of a verified user.
    private func beginRegistration(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = try await request.json(TrustUserRequest.self, limits)
        let begun: ProjectService.StagedRegistration
        do {
            begun = try await countingFailures(of: body.userId) {
                try await rules.beginRegistration(
                    user: body.userId, deviceName: body.deviceName ?? "", activationToken: body.activateCode ?? "",
                    project: request.projectID, pushToken: body.pushToken, by: context.asker)
            }
        } catch ProjectFault.wrongActivationToken {
            throw TrustRefusal(.forbidden, ProjectFault.wrongActivationToken, at: rules.now)
        }
        metrics.count(.registrations)
        return .json(
            TrustUserResponse(
                mpinId: begun.id.hex, regOTT: begun.registrationToken, projectId: begun.project.id,
                expireTime: begun.expires.seconds, nowTime: begun.begun.seconds, pinLength: begun.project.pinLength,
                verificationType: Self.verificationType(isByBackEnd: begun.isByBackEnd)))
    }

    /// GET /rps/v2/signature/{mpinId}: the first share, and where to get the second one.
    private func issueShares(_ request: Request, _ context: RequestContext) async throws -> Response {
        let id = try identity(context.parameters.get("id") ?? "")
        let token = (request.query("regOTT") ?? "").lowercased()
        let publicKey = request.query("publicKey") ?? ""
        do {
            let issued = try await rules.issueShares(id, token: token, publicKey: publicKey)
            return .json(try shareResponse(issued, hasKeyPair: !publicKey.isEmpty))
        } catch ServiceError.noShares {
            throw TrustRefusal(
                .notFound, "INVALID_REQUEST_PARAMETERS", "the registration is unknown or has ended",
                context: ["params": "regOTT"])
        }
    }

    /// POST /rps/v2/dvsregister: the first share of a new secret. The M-Pin ID stays.
    func renewSecret(_ request: Request) async throws -> Response {
        let body = try await request.json(TrustRenewalRequest.self, limits)
        let renewed = try await rules.renewSecret(
            token: body.dvsRegisterToken, publicKey: body.publicKey, deviceName: body.deviceName ?? "")
        return .json(try shareResponse(renewed.shares, hasKeyPair: true, mpinId: renewed.id.hex))
    }

    private func shareResponse(
        _ issued: AuthenticationService.IssuedShares, hasKeyPair: Bool, mpinId: String? = nil
    ) throws -> TrustShareResponse {
        // The wire has two D-TAs, and the first one's share is in this answer.
        guard issued.tickets.count == 1, let ticket = issued.tickets.first else { throw APIError.internalError }
        let path = hasKeyPair ? TrustAuthorityServer.keyedSecretPath : TrustAuthorityServer.secretPath
        return TrustShareResponse(
            share: SecretHex(issued.share.octets), hasKeyPair: hasKeyPair,
            cs2url: secretURL(ticket, path, base: config.baseURL),
            dtas: try names(issued.keyID), mpinId: mpinId)
    }
}
