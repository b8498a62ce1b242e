import Hummingbird
import MPinService
import MPinStore
import MPinWire

/// Pushes, which bring a login to the phone of a user (TRUST wire section 4.3).
extension TrustFace {
    /// POST /pushauth: opens a session, for the OpenID client that the query names or else for the project, and sends its
    /// link to the user's phone. Pushes to one user are limited, because anybody can ask for them, and a user whom they
    /// bother may in the end agree.
    func pushAuth(_ request: Request, _ context: RequestContext) async throws -> Response {
        let written = try await request.json(TrustPushRequest.self, limits).prerollId
        let project = try await projectOfPush(request)
        let user = try await rules.userID(meant: written, at: project)
        guard let pushes else { throw TrustRefusal.noPushToken }
        try await rates.admit(.push, user: user)
        let isForClient = request.query("client_id") != nil
        var users = [UserKey(try await service.user(meant: written))]
        if try await takesUsers(of: project, request) { users.append(UserKey(user, of: project.id)) }
        let token = try await service.pushToken(of: users) {
            $0.projectID == project.id || isForClient && $0.projectID == nil
        }
        guard let token else { throw TrustRefusal.noPushToken }
        let browser =
            try await isForClient
            ? openClientSession(request, for: user, context)
            : rules.openSession(
                LoginSession(projectID: project.id, userID: user, description: ""),
                from: .init(asking: request, context))
        let push = TrustPush(
            projectID: project.id, userID: user, qrURL: qrURL(project, browser), pushToken: token)
        guard pushes.send(push) else {
            throw TrustRefusal(.serviceUnavailable, "SERVICE_UNAVAILABLE", "too many pushes are sent", retryAfter: 10)
        }
        config.audit.record(.pushed(user, project: project.id))
        return .json(TrustPushResponse(webOTT: browser.webOTT))
    }

    /// Whether users whom the project's back end has verified can log in to what the push is for: the project, or an OpenID
    /// client that it names.
    private func takesUsers(of project: Project, _ request: Request) async throws -> Bool {
        guard let client = request.query("client_id") else { return true }
        return try await rules.projects.owners(ofClient: client, at: rules.now).contains(project.id)
    }

    /// The project of a push: the one that the request names, or that of its OpenID client, or the only one that there is.
    private func projectOfPush(_ request: Request) async throws -> Project {
        if request.projectID == nil, let client = request.query("client_id"),
            let only = try await rules.project(ofClient: client)
        {
            return only
        }
        return try await project(nil, request)
    }

    /// Opens a session of the OpenID client that the query names. The query, and not the body, is wrong if it is refused.
    private func openClientSession(
        _ request: Request, for user: String, _ context: RequestContext
    ) async throws -> AuthenticationService.OpenedBrowser {
        do { return try await openID.openSession(request, for: user, context) } catch let error as APIError
            where error.status == .badRequest
        {
            throw TrustRefusal(.badRequest, "INVALID_REQUEST_PARAMETERS", error.message)
        }
    }
}
