import HTTPTypes
import Hummingbird
import MPinService

/// The operations of `mpind user suspend`, `resume` and `suspensions`.
extension AdminRoute {
    static let suspensions = [
        AdminRoute(.get, "/suspensions", "user suspensions", .usersRead, takes: .query("after", "limit")) { request in
            let limit = try request.limit()
            let found = try await request.resources.users.listSuspensions(
                after: request.request.query("after"), limit: limit)
            request.resources.audit.record(.command("user suspensions"))
            return .json(SuspensionList(suspensions: found, next: found.count == limit ? found.last?.user : nil))
        },
        AdminRoute(
            .post, "/users/{user}/suspend", "user suspend", .usersWrite, takes: .body(["reason", "until"])
        ) { request in
            let (user, wish) = (try request.name("user"), try request.body(SuspensionWish.self))
            // The name of a user of a project begins with the project's id and a slash.
            guard user.utf8.count <= request.limits.service.userIDBytes + Project.longestID + 1 else {
                throw APIError(.badRequest, "user: no user id")
            }
            do {
                return .json(
                    try await request.resources.users.suspend(
                        user: user, reason: wish.reason, by: Audit.token ?? "", until: wish.until,
                        audit: request.resources.audit))
            } catch let fault as SuspensionFault { throw APIError(.badRequest, "\(fault)") }
        },
        AdminRoute(.post, "/users/{user}/resume", "user resume", .usersWrite) { request in
            let ended = try await request.resources.users.resume(
                user: request.name("user"), audit: request.resources.audit)
            guard let ended else { throw APIError(.notFound, "The user is not suspended") }
            return .json(ended)
        },
    ]
}

private struct SuspensionWish: Decodable {
    let reason: String
    let until: String?
}

private struct SuspensionList: Encodable {
    let suspensions: [UserAdministration.SuspensionEntry]
    /// The user to begin the next page after. Nil if this is the last page.
    let next: String?
}
