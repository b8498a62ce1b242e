import Hummingbird
import MPinOpenID
import MPinService
import MPinStore
import MPinWire

/// The requests of the projects' back ends (TRUST wire section 6). At `/verification` old clients, too, ask for a mail.
extension TrustFace {
    var backEndRoutes: [Route] {
        [
            route(.post, "/verification", .register) { try await verifyByBackEndOrMail($0, $1) },
            backEnd(.post, "/activate/initiate") { try await initiate($0, $1) },
            backEnd(.post, "/activate/user") { try await activateUser($0, $1) },
            backEnd(.post, "/api/v1/projects/{project}/mpinids/{mpinid}/revocation") { try await revoke($0, $1) },
            backEnd(.get, "/api/v1/projects/{project}/audit") { try await readAudit($0, $1) },
            // It says nothing that is not public, so all pages may read it.
            backEnd(.get, "/.well-known/project-configuration", cors: .open) { request, _ in
                try await projectConfiguration(request)
            },
        ]
    }

    /// Returns the project for which a back end calls: `id`, the one in the header or query, or the only one that its
    /// credentials are for. `document` is the hash (hex) that an HMAC is made of.
    func callingProject(
        _ request: Request, _ context: RequestContext, _ id: String?, document: String? = nil
    ) async throws -> Project {
        var allowed: Set<String> = []
        if let header = request.headers[.authorization],
            let credentials = ProjectCredentials(header, document: document)
        {
            allowed = try await projects(of: credentials)
        }
        guard !allowed.isEmpty else {
            try rates.admit(.token, address: context.remoteAddress)
            config.audit.record(.backEndRefused(context.endpointPath ?? "-"))
            throw TrustRefusal(.unauthorized, "UNAUTHORIZED", "missing, wrong or expired credentials of a project")
        }
        let wanted = id ?? request.projectID ?? (allowed.count == 1 ? allowed.first : nil)
        guard let wanted else { throw ProjectFault.unknownProject }
        guard allowed.contains(wanted) else {
            throw TrustRefusal(.forbidden, "FORBIDDEN", "the credentials are those of another project")
        }
        return try await rules.project(wanted)
    }

    /// The ids of the projects that credentials are for: that of a service token, or those that name an OpenID client.
    private func projects(of credentials: ProjectCredentials) async throws -> Set<String> {
        let now = rules.now
        var found: Set<String> = []
        for token in try await tokens.list(at: now) where credentials.id == nil || credentials.id == token.name {
            // The pages of this server have no back end.
            guard token.project != Projects.own else { continue }
            if credentials.proves(token.hash, secretHashes, owner: token.owner), token.isLive(at: now) {
                found.insert(token.project)
            }
        }
        guard let id = credentials.id, let client = try await openID.provider.client(id), !client.isDisabled,
            client.secrets.contains(where: {
                credentials.proves($0.hash, secretHashes, owner: ClientSecret.owner(id)) && $0.isLive(at: now)
            })
        else { return found }
        return found.union(try await rules.projects.owners(ofClient: id, at: now)).subtracting([Projects.own])
    }

    /// POST /verification: the clients before client-js 8 ask for a mail here, without credentials and without
    /// `delivery` (TRUST wire section 7.1).
    private func verifyByBackEndOrMail(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = try await request.json(TrustCustomVerificationRequest.self, limits)
        guard request.headers[.authorization] == nil, body.delivery == nil else {
            return try await verifyByBackEnd(request, context)
        }
        return try await verify(request, context)
    }

    /// POST /verification: makes the URL with which a user of the back end registers (TRUST wire section 6.1).
    private func verifyByBackEnd(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = try await request.json(TrustCustomVerificationRequest.self, limits)
        let project = try await callingProject(request, context, body.projectId)
        guard (body.delivery ?? "no") == "no" else { throw ProjectFault.badMember("delivery") }
        let wish = try await rules.wish(
            project, userID: body.userId, isByBackEnd: true, accessID: body.accessId ?? "")
        let end = try body.expiration.map { seconds throws(ProjectFault) in
            guard (0...Int64(UInt32.max)).contains(seconds) else { throw .badMember("expiration") }
            return Moment(microseconds: seconds * 1_000_000)
        }
        let started = try await StoreBudget.$asker.withValue(.known) {
            try await rules.startCustomVerification(wish, until: end)
        }
        config.audit.record(.userVerified(wish.userID, project: project.id))
        return .json(TrustCustomVerificationResponse(verificationURL: verificationURL(started, wish)))
    }

    /// POST /activate/initiate: begins a registration for a user of the back end (TRUST wire section 6.1).
    private func initiate(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = try await request.json(TrustInitiationRequest.self, limits)
        let project = try await callingProject(request, context, body.projectId)
        let begun = try await rules.initiateRegistration(user: body.userId, project: project)
        config.audit.record(.userVerified(UserID.normal(body.userId), project: project.id))
        return .json(
            TrustInitiationResponse(
                mpinId: begun.id.hex, hashMPinId: begun.id.key, actToken: begun.activationToken,
                expireTime: begun.expires.seconds))
    }
}
