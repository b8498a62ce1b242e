import MPinService
import MPinStore

/// The commands of `mpind project token`: the credentials of the projects' back ends.
extension ProjectAdministration {
    /// A token as operators see it, without its hash.
    package struct TokenEntry: Sendable, Encodable {
        package let project: String
        package let name: String
        package let created: String
        package let expires: String
        package let isExpired: Bool

        init(_ token: ProjectToken, at now: Moment) {
            project = token.project
            name = token.name
            created = token.created.iso
            expires = token.expires.iso
            isExpired = !token.isLive(at: now)
        }
    }

    /// A token with its text, which is shown only this once.
    package struct NewToken: Sendable, Encodable {
        package let project: String
        package let name: String
        package let expires: String
        package let token: String
    }

    package func addToken(_ name: String, project id: String, days: Int) async throws -> NewToken {
        let (project, now) = (try await find(id), clock())
        guard project.id != Projects.own else { throw ProjectRefusal.hasNoBackEnd(id) }
        let seal = try await hashes.seal(at: now)
        let (token, text) = try await tokens.add(name, project: project.id, days: days, sealing: seal, at: now)
        audit.record(
            .command("project token add", [("project", id), ("name", name), ("expires", token.expires.iso)]))
        return NewToken(project: id, name: name, expires: token.expires.iso, token: text)
    }

    package func listTokens(project id: String) async throws -> [TokenEntry] {
        audit.record(.command("project token list", [("project", id)]))
        let (project, now) = (try await find(id), clock())
        return try await tokens.list(of: project.id, at: now).map { TokenEntry($0, at: now) }
    }

    package func removeToken(_ name: String, project id: String) async throws {
        try await tokens.remove(name, project: try await find(id).id, at: clock())
        audit.record(.command("project token remove", [("project", id), ("name", name)]))
    }
}
