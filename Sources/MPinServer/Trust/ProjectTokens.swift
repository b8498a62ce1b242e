package import MPinOpenID
import MPinSecrets
import MPinService
package import MPinStore

/// What the store keeps of a service token, with which a project's back end calls the server (TRUST wire section 6).
package struct ProjectToken: Sendable, Equatable {
    package let project: String
    /// 1 to 64 characters of `A-Z a-z 0-9 . _ ~ -`. It is also the user name for Basic, and the client id for HMAC.
    package let name: String
    /// The text itself is not stored. It has more bytes than a block of SHA-256, so its hash is the key of an HMAC.
    var hash: SecretHash
    package let created: Moment
    package let expires: Moment

    package func isLive(at now: Moment) -> Bool { expires > now }

    /// The owner of the hash. Neither the id of a project nor a name has a slash.
    var owner: String { "project_token/\(project)/\(name)" }
}

/// The members of the hash stand beside the others.
extension ProjectToken: Codable, Storable {
    private enum CodingKeys: String, CodingKey { case project, name, created, expires }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            project: try members.decode(String.self, forKey: .project),
            name: try members.decode(String.self, forKey: .name), hash: try SecretHash(from: decoder),
            created: try members.decode(Moment.self, forKey: .created),
            expires: try members.decode(Moment.self, forKey: .expires))
    }

    package func encode(to encoder: any Encoder) throws {
        try hash.encode(to: encoder)
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(project, forKey: .project)
        try members.encode(name, forKey: .name)
        try members.encode(created, forKey: .created)
        try members.encode(expires, forKey: .expires)
    }
}

/// The service tokens of all projects. A token's text has 64 random bytes and is shown once.
package struct ProjectTokens: Sendable {
    /// The largest number of days for which a token can be made.
    package static let maxDays = 3650

    private static let size = 64
    private let table: Table<ProjectToken>

    package init(in store: any Store) { table = Table("project_token", in: store) }

    /// Makes a token; `seal` seals its hash. Returns what the store has of it, and its text: 86 characters of base64url.
    package func add(
        _ name: String, project: String, days: Int, sealing seal: HashSeal?, at now: Moment
    ) async throws -> (token: ProjectToken, text: String) {
        guard Project.isID(name) else { throw ProjectTokenFault.name }
        guard (1...Self.maxDays).contains(days) else { throw ProjectTokenFault.days }
        let text = Base64URL.encode(try randomBytes(Self.size))
        var token = ProjectToken(
            project: project, name: name, hash: SecretHash(of: text), created: now,
            expires: now.adding(seconds: days * 86_400))
        token.hash = try token.hash.sealed(by: seal, owner: token.owner)
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

    /// Seals the hashes that servers of the version before have stored. Several servers may do so together.
    func sealHashes(by seal: HashSeal, at now: Moment) async throws {
        for (key, old) in try await table.all(at: now) {
            var new = old
            new.hash = try old.hash.sealed(by: seal, owner: old.owner)
            guard new != old else { continue }
            let sealed = new
            try await table.update(key, at: now, .durable) { entry in
                if entry?.value == old { entry?.value = sealed }
            }
        }
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
