import MPinOpenID
import MPinSecrets
import MPinService
package import MPinStore

/// What the store keeps of a service token, with which a project's back end calls the server (TRUST wire section 6).
package struct ProjectToken: Sendable, Equatable, Codable, Storable {
    package let project: String
    /// 1 to 64 characters of `A-Z a-z 0-9 . _ ~ -`. It is also the user name for Basic, and the client id for HMAC.
    package let name: String
    /// SHA-256 of the token's text, in hex. The text itself is not stored. It has more bytes than a block of SHA-256, so
    /// this hash is also the key that HMAC-SHA256 makes of it (RFC 2104 section 2).
    let hash: String
    package let created: Moment
    package let expires: Moment

    package func isLive(at now: Moment) -> Bool { expires > now }
}

/// The service tokens of all projects. A token's text has 64 random bytes and is shown once.
package struct ProjectTokens: Sendable {
    /// The largest number of days for which a token can be made.
    package static let maxDays = 3650

    private static let size = 64
    private let table: Table<ProjectToken>

    package init(in store: any Store) { table = Table("project_token", in: store) }

    /// Makes a token. Returns what the store has of it, and its text: 86 characters of base64url.
    package func add(
        _ name: String, project: String, days: Int, at now: Moment
    ) async throws -> (token: ProjectToken, text: String) {
        guard Project.isID(name) else { throw ProjectTokenFault.name }
        guard (1...Self.maxDays).contains(days) else { throw ProjectTokenFault.days }
        let text = Base64URL.encode(try randomBytes(Self.size))
        let token = ProjectToken(
            project: project, name: name, hash: Hex.encode(SHA256.hash(Array(text.utf8))), created: now,
            expires: now.adding(seconds: days * 86_400))
        guard try await table.create(Self.key(project, name), token, at: now) else {
            throw ProjectTokenFault.exists(name)
        }
        return (token, text)
    }

    /// Returns the tokens of a project in the order of their names, also those that have expired. With nil, those of all
    /// projects.
    package func list(of project: String? = nil, at now: Moment) async throws -> [ProjectToken] {
        let all = try await table.all(at: now).map(\.value)
        return project.map { project in all.filter { $0.project == project } } ?? all
    }

    package func remove(_ name: String, project: String, at now: Moment) async throws {
        guard Project.isID(name), Project.isID(project),
            try await table.take(Self.key(project, name), at: now) != nil
        else { throw ProjectTokenFault.unknown(name) }
    }

    package func removeAll(of project: String, at now: Moment) async throws {
        for token in try await list(of: project, at: now) {
            try await table.delete(Self.key(project, token.name), at: now)
        }
    }

    /// Makes these tokens those of `present`, for a restored database: a token that was removed after the backup must
    /// not come back. With nil, nobody knows which were removed, so none is left.
    package func replace(by present: ProjectTokens?, at now: Moment) async throws {
        for token in try await list(at: now) { try await table.delete(Self.key(token.project, token.name), at: now) }
        for token in try await present?.list(at: now) ?? [] {
            _ = try await table.create(Self.key(token.project, token.name), token, at: now)
        }
    }

    /// Neither the id of a project nor a name has a slash.
    private static func key(_ project: String, _ name: String) -> String { "\(project)/\(name)" }
}

/// The reason why a token cannot be made or removed.
package enum ProjectTokenFault: Error, Equatable, CustomStringConvertible {
    case name
    case days
    case exists(String)
    case unknown(String)

    package var description: String {
        switch self {
        case .name: "the name of a token must be 1 to 64 of A-Z a-z 0-9 . _ ~ -"
        case .days: "a token is made for 1 to \(ProjectTokens.maxDays) days"
        case .exists(let name): "the project has a token \(name) already"
        case .unknown(let name): "the project has no token \(name)"
        }
    }
}
