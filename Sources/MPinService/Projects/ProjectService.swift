import MPinSecrets
package import MPinStore

/// The rules for the users of projects, who verify a mail address, register a device with a key pair, and log in.
package struct ProjectService: Sendable {
    package let service: AuthenticationService
    package let projects: Projects
    let verifications: Verifications
    let activations: ActivationTokens
    let quickCodes: QuickCodes
    let renewals: Renewals
    let backoff: MailBackoff
    let sessions: LoginSessions

    /// `durable` keeps the projects; `shortLived` what is valid for a few minutes.
    package init(_ service: AuthenticationService, durable: any Store, shortLived: any Store) {
        self.service = service
        projects = Projects(in: durable)
        verifications = Verifications(in: shortLived, counting: service.wrongCodes)
        activations = ActivationTokens(in: shortLived)
        quickCodes = QuickCodes(in: shortLived, counting: service.wrongCodes)
        renewals = Renewals(in: durable)
        backoff = MailBackoff("project_mail", byMailbox: false, in: shortLived)
        sessions = LoginSessions(in: shortLived)
    }

    package var now: Moment { service.now }

    /// Returns the project with this id. Throws ``ProjectFault/unknownProject`` if there is none.
    package func project(_ id: String) async throws -> Project {
        guard let project = try await projects.find(id, at: now) else { throw ProjectFault.unknownProject }
        return project
    }

    /// Returns the project that a request means which names none: the only one that there is. Nil if there is a choice. The
    /// clients since client-js 8.9 and Trust Android 1.14 name no project, because a project of MIRACL has a URL of its own.
    package func impliedProject() async throws -> Project? { try await projects.only(at: now) }

    /// Returns the only project with the OpenID client `client`. Nil if there is none, or a choice.
    package func project(ofClient client: String) async throws -> Project? {
        let owners = try await projects.owners(ofClient: client, at: now)
        guard owners.count == 1, let only = owners.first else { return nil }
        return try await projects.find(only, at: now)
    }

    /// Returns the only project for which `isMeant` is true. Nil if there is none, or a choice.
    func onlyProject(where isMeant: (Project) async throws -> Bool) async throws -> Project? {
        var found: [Project] = []
        for project in try await projects.list(at: now) {
            let isFound = try await isMeant(project)
            if isFound { found.append(project) }
        }
        return found.count == 1 ? found.first : nil
    }
}

/// Why a request of a project's user is refused.
package enum ProjectFault: Error, Sendable, Equatable {
    case unknownProject
    /// The next mail to this address may be sent at that time.
    case mailTooEarly(again: Moment)
    /// The code from the mail is wrong, was used, or has expired. `accessID`: the session that asked for it; nil unless
    /// it is the code of a link that was used or has expired.
    case wrongCode(accessID: String?)
    /// The activation token is unknown, was used, has expired, or is another user's.
    case wrongActivationToken
    /// The login was begun for another purpose, or for none that there is.
    case wrongScope
    /// The token of the login that is to make a QuickCode is not a fresh one, or its identity may no longer log in.
    case wrongLoginToken
    /// The value of this member of the request is not allowed.
    case badMember(String)
    /// The signature is of another project or session, or of another time than now.
    case wrongSignature
    /// The project does not let this identity make QuickCodes.
    case quickCodeForbidden
}
