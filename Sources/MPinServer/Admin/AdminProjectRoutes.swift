import HTTPTypes
import Hummingbird

/// The operations of `mpind project list` and `mpind project token`.
extension AdminRoute {
    private static let days = 365

    static let projects = [
        project(.get, "/projects", "list") { request in
            .json(ProjectList(projects: try await request.resources.projects.list()))
        },
        project(.get, "/projects/{project}/tokens", "token list") { request in
            let found = try await request.resources.projects.listTokens(project: request.name("project"))
            return .json(TokenList(tokens: found))
        },
        project(.post, "/projects/{project}/tokens", "token add", takes: .body(["name", "days"])) { request in
            let wish = try request.body(TokenWish.self)
            return .json(
                try await request.resources.projects.addToken(
                    wish.name, project: request.name("project"), days: wish.days ?? days))
        },
        project(.delete, "/projects/{project}/tokens/{token}", "token remove") { request in
            let name = try request.name("token")
            try await request.resources.projects.removeToken(name, project: request.name("project"))
            return .json(["removed": name])
        },
    ]

    /// Makes an operation whose faults are answered with their reasons.
    private static func project(
        _ method: HTTPRequest.Method, _ path: String, _ word: String, takes input: AdminInput = .nothing,
        _ answer: @escaping Answer
    ) -> AdminRoute {
        AdminRoute(method, path, "project " + word, .projects, takes: input) { request in
            do { return try await answer(request) } catch let refusal as ProjectRefusal {
                if case .hasNoBackEnd = refusal { throw APIError(.forbidden, "\(refusal)") }
                throw APIError(.notFound, "\(refusal)")
            } catch let fault as ProjectTokenFault {
                throw APIError(fault.status, "\(fault)")
            }
        }
    }
}

extension ProjectTokenFault {
    fileprivate var status: HTTPResponse.Status {
        switch self {
        case .name, .days: .badRequest
        case .exists: .conflict
        case .unknown: .notFound
        }
    }
}

private struct ProjectList: Encodable { let projects: [ProjectEntry] }

private struct TokenList: Encodable { let tokens: [ProjectAdministration.TokenEntry] }

private struct TokenWish: Decodable {
    let name: String
    /// For how many days the token is good. Nil: a year.
    let days: Int?
}
