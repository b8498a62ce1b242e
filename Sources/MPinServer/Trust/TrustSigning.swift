import Foundation
import HTTPTypes
import Hummingbird
import MPinOpenID
import MPinService
import MPinWire

/// Signatures of documents, and what the projects' back ends ask about them (TRUST wire sections 4.13 and 6.2).
extension TrustFace {
    private static let certificateSeconds = 10

    var signingRoutes: [Route] {
        [
            backEnd(.post, "/dvs/verify") { try await verifySignature($0, $1) },
            Route(
                .get, "/dvs/jwks", limit: .other, cors: .open, errors: errorForm,
                answering { _, _ in try await certificateKeys() }),
            route(.post, "/dvs/session", .access) { try await openSigningSession($0, $1) },
            route(.put, "/dvs/session", .access) { request, _ in try await signSession(request) },
            route(.delete, "/dvs/session", .access) { request, _ in try await abortSigningSession(request) },
            route(.post, "/dvs/session/details", .access) { request, _ in try await signingSession(request) },
        ]
    }

    /// POST /rps/v2/codeStatus with the status `signed`: ends the session with a signature, which is judged first.
    func takeSignature(_ text: String, _ wid: String) async throws -> Response {
        guard let bytes = Data(base64Encoded: text),
            let made = try? JSON.decode(TrustSignature.self, from: Array(bytes).span)
        else { throw ProjectFault.badMember("signature") }
        try await take(made, timestamp: made.timestamp ?? 0, text: text, wid)
        return .json(TrustStatusResponse())
    }

    private func take(_ made: TrustSignature, timestamp: Int64, text: String, _ wid: String) async throws {
        let signature = try DocumentSignature(made, timestamp: timestamp)
        try await rates.admit(.login, identity: signature.id.hash)
        try await rules.sign(wid, signature, text: text)
    }

    /// POST /dvs/verify: judges a signature for a project's back end, and certifies a right one.
    private func verifySignature(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = try await request.json(TrustVerifyRequest.self, limits)
        let project = try await callingProject(request, context, nil, document: body.signature.hash)
        let signature = try DocumentSignature(body.signature, timestamp: body.timestamp)
        try await rates.admit(.login, identity: signature.id.hash)
        let verdict = try await rules.judge(signature, project: project.id)
        guard verdict == .right else { throw TrustRefusal(verdict, at: rules.now) }
        return .json(TrustVerifyResponse(certificate: try await certificate(body.signature.hash)))
    }

    /// A certificate that a signature of these bytes (hex) was right. Whoever judges signatures could make them, so it is
    /// signed by a key that signs nothing else (TRUST wire section 10, item 5).
    private func certificate(_ hash: String) async throws -> String {
        let now = rules.now
        try await certificates.refresh(at: now)
        let seconds = Int(now.seconds)
        let claims: JWT.Claims = [
            "cAt": .int(seconds), "exp": .int(seconds + Self.certificateSeconds), "hash": .string(hash),
        ]
        return try JWT.sign(claims, type: "JWT", by: certificates.signer(.rs256, at: now))
    }

    /// GET /dvs/jwks: the public keys that sign certificates.
    private func certificateKeys() async throws -> Response {
        try await certificates.refresh(at: rules.now)
        var response = Response.json(certificates.published)
        response.headers[.cacheControl] = "public, max-age=\(SigningKeys.cacheSeconds)"
        return response
    }
}

/// The sessions of the first native clients, which are for signatures only (TRUST wire section 4.14).
extension TrustFace {
    private func openSigningSession(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = try await request.json(TrustSigningSessionRequest.self, limits)
        guard !body.hash.isEmpty else { throw ProjectFault.badMember("hash") }
        let wish = TrustSessionRequest(
            projectId: body.projectID, userId: body.userID, description: body.description, hash: body.hash)
        let (browser, project) = try await open(wish, request, context)
        return .json(
            TrustSigningSessionResponse(
                id: browser.wid, qrURL: qrURL(project, browser), webOTT: browser.webOTT, accessURL: accessURL))
    }

    private func signingSession(_ request: Request) async throws -> Response {
        let id = try await request.json(TrustSigningSessionName.self, limits).id.lowercased()
        guard let session = try await rules.session(wid: id), !session.hash.isEmpty else {
            throw ProjectFault.badMember("id")
        }
        return .json(
            TrustSigningSessionDetails(
                try await details(session, request), isSigned: session.signature != nil,
                expireTime: session.expires.seconds))
    }

    private func signSession(_ request: Request) async throws -> Response {
        var body = try await request.json(TrustSigningSessionUpdate.self, limits)
        body.signature.timestamp = body.timestamp
        let text = Data(try JSON.bytes(body.signature)).base64EncodedString()
        do {
            try await take(body.signature, timestamp: body.timestamp, text: text, body.id.lowercased())
        } catch ServiceError.noWaitingBrowser { throw ProjectFault.badMember("id") }
        return .json(TrustSigningSessionStatus(status: "signed"))
    }

    private func abortSigningSession(_ request: Request) async throws -> Response {
        let id = try await request.json(TrustSigningSessionName.self, limits).id.lowercased()
        guard let session = try await rules.session(wid: id), !session.hash.isEmpty, session.signature == nil,
            try await service.report("abort", of: "", to: id)
        else { throw ProjectFault.badMember("id") }
        return .json(TrustSigningSessionStatus(status: "aborted"))
    }
}

extension DocumentSignature {
    fileprivate init(_ made: TrustSignature, timestamp: Int64) throws(ProjectFault) {
        try self.init(
            mpinId: made.mpinId, u: made.u, v: made.v, publicKey: made.publicKey, hash: made.hash,
            timestamp: timestamp)
    }
}
