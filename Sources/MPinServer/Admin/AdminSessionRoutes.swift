import HTTPTypes
import Hummingbird

/// The operations of `mpind session`. The clients of the sessions that are ended are told within seconds.
extension AdminRoute {
    static let sessions = [
        AdminRoute(.get, "/sessions", "session list", .sessions, takes: .query("after", "limit")) { request in
            let limit = try request.limit()
            let found = try await request.resources.sessions.page(after: request.request.query("after"), limit: limit)
            return .json(SessionList(sessions: found, next: found.count == limit ? found.last?.id : nil))
        },
        AdminRoute(.delete, "/sessions/{session}", "session end", .sessions) { request in
            guard let ended = try await request.resources.sessions.end(request.name("session")) else {
                throw APIError(.notFound, "No such session")
            }
            return .json(ended)
        },
        AdminRoute(.get, "/users/{user}/sessions", "session list", .sessions) { request in
            let found = try await request.resources.sessions.list(user: request.name("user"))
            return .json(SessionList(sessions: found, next: nil))
        },
        AdminRoute(.delete, "/users/{user}/sessions", "session end", .sessions, takes: .query("everywhere")) {
            request in
            let isEverywhere = try request.flag("everywhere")
            return .json(
                EndedSessions(
                    ended: try await request.resources.sessions.end(
                        user: request.name("user"), isEverywhere: isEverywhere)))
        },
    ]
}

private struct SessionList: Encodable {
    let sessions: [SessionAdministration.Entry]
    /// The id to begin the next page after. Nil if this is the last page.
    let next: String?
}

private struct EndedSessions: Encodable {
    let ended: [SessionAdministration.Ended]
}
