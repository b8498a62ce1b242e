import Hummingbird
import MPinOpenID
import MPinSecrets
import MPinService
import MPinWire

/// Browsers that phones log in (TRUST wire sections 4.1, 4.2 and 4.13).
extension TrustFace {
    /// POST /rps/v2/session: lets a browser of a project wait for a phone.
    func openSession(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = try await request.json(TrustSessionRequest.self, limits)
        let (browser, project) = try await open(body, request, context)
        if body.hash?.isEmpty ?? true, let clients = project.clients, clients.count == 1, let client = clients.first {
            try await openID.redirect(browser, to: client)
        }
        return .json(
            TrustSessionResponse(webOTT: browser.webOTT, accessURL: accessURL, qrURL: qrURL(project, browser)))
    }

    /// Opens a session: for a signature if the request names what is to be signed, else for a login. Those of the server's
    /// own pages have no description: whoever reads it would take it for the server's words.
    func open(
        _ body: TrustSessionRequest, _ request: Request, _ context: RequestContext
    ) async throws -> (AuthenticationService.OpenedBrowser, Project) {
        let project = try await project(body.projectId, request)
        let description = (body.description ?? "").beginning(256)
        guard description.isEmpty || project.id != Projects.own else { throw ProjectFault.badMember("description") }
        let user = try await rules.userID(meant: body.userId ?? "", at: project)
        guard user.utf8.count <= limits.service.userIDBytes else {
            throw ServiceError.badUserID("must have at most \(limits.service.userIDBytes) bytes")
        }
        let document = body.hash.flatMap { $0.isEmpty ? nil : $0 }
        let hash = try document.map { hex throws(ProjectFault) in
            guard let bytes = DocumentSignature.document(hex) else { throw .badMember("hash") }
            return Hex.encode(bytes)
        }
        let session = LoginSession(
            projectID: project.id, userID: user, description: description, hash: hash ?? "")
        return (try await rules.openSession(session, from: .init(asking: request, context)), project)
    }

    var accessURL: String { config.baseURL + "/rps/v2/access" }

    /// What the QR code of a session contains.
    func qrURL(_ project: Project, _ browser: AuthenticationService.OpenedBrowser) -> String {
        (project.linkURL ?? config.baseURL) + "#" + browser.wid
    }

    /// POST /rps/v2/access: tells a browser how far its phone's login is. It answers at once.
    func access(_ request: Request) async throws -> Response {
        let webOTT = try await request.json(TrustAccessRequest.self, limits).webOTT.lowercased()
        let session = try await rules.session(webOTT: webOTT)
        if let made = session?.signature {
            return .json(TrustAccessResponse(status: "signed", userId: made.userID, signature: made.text))
        }
        if let user = session?.login { return .json(TrustAccessResponse(status: "authenticated", userId: user)) }
        let view = try await service.follow(webOTT: webOTT, known: .init(status: nil, refusals: nil), seconds: 0)
        guard view.status == "authenticate" else {
            let user = view.userID.isEmpty ? session?.userID ?? "" : view.userID
            return .json(TrustAccessResponse(status: view.status, userId: user))
        }
        if let session { return try await finish(session, webOTT, view.authOTT) }
        guard let end = try await openID.redirect(webOTT, view.authOTT) else {
            // A browser of the website is none of this wire's; its own page takes its login.
            return .json(TrustAccessResponse(status: "wid", userId: view.userID))
        }
        return .json(TrustAccessResponse(status: "authenticated", userId: end.userID, redirectURL: end.url))
    }

    /// Ends a session with the login of a phone. The phone may have another wire, which knows nothing of projects.
    private func finish(_ session: LoginSession, _ webOTT: String, _ authOTT: String) async throws -> Response {
        let login: UserLogin?
        do { login = try await openID.redeemed(authOTT) } catch ServiceError.expiredLogin { login = nil }
        guard let login, session.admits(login.mpinID, user: login.user.userID) else {
            return .json(TrustAccessResponse(status: "abort", userId: session.userID))
        }
        try await rules.finishSession(webOTT: webOTT, login: login.user.userID)
        let url = try await openID.redirect(webOTT, login)
        return .json(TrustAccessResponse(status: "authenticated", userId: login.user.userID, redirectURL: url))
    }

    /// POST /rps/v2/codeStatus: stores what a phone reports about a session, and tells the phone what the session is.
    func codeStatus(_ request: Request) async throws -> Response {
        let body = try await request.json(TrustCodeStatusRequest.self, limits)
        let wid = body.wid.lowercased()
        if body.status == "signed" { return try await takeSignature(body.signature ?? "", wid) }
        guard ["wid", "user", "abort"].contains(body.status) else { throw ServiceError.badReport }
        let session = try await rules.session(wid: wid)
        guard session?.signature == nil, try await service.report(body.status, of: body.userId ?? "", to: wid) else {
            throw ServiceError.noWaitingBrowser
        }
        guard body.status == "wid" else { return .json(TrustStatusResponse()) }
        var answer = try await details(session, request, client: try await service.details(of: wid))
        answer.tell(try await service.place(of: wid))
        return .json(answer)
    }

    /// What a phone shows about a session. The session of an OpenID client is of no project, so the details are those of
    /// the phone's own project, and the description is the name of the client, which the user must know before the PIN
    /// (TRUST wire section 10, item 7).
    func details(
        _ session: LoginSession?, _ request: Request, client: WaitingBrowser.Details? = nil
    ) async throws -> TrustSessionDetails {
        let wanted = session?.projectID ?? request.projectID
        let project =
            if let wanted { try await rules.projects.find(wanted, at: rules.now) } else {
                try await rules.impliedProject()
            }
        let rule = project?.quickCodes ?? .all
        var details = TrustSessionDetails(
            description: session?.description ?? client?.name ?? "",
            prerollId: session?.userID ?? client?.userID ?? "", hash: session?.hash ?? "",
            projectId: project?.id ?? "", projectName: project?.name ?? "", pinLength: project?.pinLength ?? 4,
            enableRegistrationCode: rule != .noDevice, limitRegCodeVerified: rule == .verified)
        let words = session?.description ?? ""
        details.siteText = words.isEmpty ? nil : words
        details.siteName = client?.name ?? session.flatMap { _ in project?.shownName }
        return details
    }
}

extension Project {
    /// What people call the project. Nil for that of the server's own pages.
    fileprivate var shownName: String? { id == Projects.own ? nil : name.isEmpty ? id : name }
}
