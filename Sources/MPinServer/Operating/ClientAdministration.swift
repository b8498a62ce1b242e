package import MPinOpenID
import MPinService
package import MPinStore

/// The commands of `mpind client`: they change the clients in the database, also while a server uses it.
package struct ClientAdministration: Sendable {
    /// For how many seconds the present secret stays valid when a new one replaces it.
    package static let overlap = 86_400
    /// The values that an operator may choose instead.
    package static let overlaps = 0...7_776_000

    private let registry: ClientRegistry
    private let projects: Projects
    private let hashes: HashSealing
    private let audit: Audit
    private let clock: Clock

    /// `file` is the file with clients that are not in the database. Nil if there is none.
    package init(database: ServiceDatabase, file: String?, audit: Audit, clock: @escaping Clock = Moment.now)
        async throws
    {
        let store = try await database.open()
        self.init(
            ClientRegistry(in: store, file: try file.map { try ClientsFile(reading: $0, at: clock()) } ?? .none),
            Projects(in: store), HashSealing(store, .file(database.keyFile)), audit: audit, clock: clock)
    }

    init(
        _ registry: ClientRegistry, _ projects: Projects, _ hashes: HashSealing, audit: Audit, clock: @escaping Clock
    ) {
        self.registry = registry
        self.projects = projects
        self.hashes = hashes
        self.audit = audit
        self.clock = clock
    }

    /// Returns all clients, sorted by id.
    package func list() async throws -> [ClientEntry] {
        audit.record(.command("client list"))
        return try await registry.list(at: clock()).map(entry)
    }

    package func show(_ id: String) async throws -> ClientEntry {
        audit.record(.command("client show", [("client", id)]))
        guard let client = try await registry.find(id, at: clock()) else { throw ClientRegistryFault.unknown(id) }
        return entry(client)
    }

    /// Adds a client. `secret` is a secret that the operator has chosen. If it is nil, a new one is made, unless the
    /// client is public.
    package func add(_ id: String, _ change: ClientChange, secret: String?) async throws -> NewSecret {
        let now = clock()
        guard try await projects.find(id, at: now) == nil else { throw ClientRegistryFault.isProject(id) }
        var client = Client(id: id, name: id, created: now)
        try change.apply(to: &client)
        let made = client.isPublic || secret != nil ? nil : try ClientSecret.random()
        if client.isPublic, secret != nil { throw ClientRegistryFault.isPublic(id) }
        if let secret = made ?? secret {
            let seal = try await hashes.seal(at: now)
            client.secrets = [try ClientSecret(of: secret, created: now).sealed(by: seal, of: id)]
        }
        audit.record(.command("client add", [("client", id), ("members", change.text)]))
        try await registry.add(client, at: now)
        return NewSecret(client: entry(client), secret: made)
    }

    package func set(_ id: String, _ change: ClientChange) async throws -> ClientEntry {
        audit.record(.command("client set", [("client", id), ("members", change.text)]))
        return entry(try await registry.change(id, change, at: clock()))
    }

    /// Replaces the client's secret. `overlap` is for how many seconds the present secret stays valid.
    package func rotateSecret(_ id: String, secret: String?, overlap: Int) async throws -> NewSecret {
        let made = secret == nil ? try ClientSecret.random() : nil
        audit.record(.command("client rotate-secret", [("client", id), ("overlap", String(overlap))]))
        let now = clock()
        let client = try await registry.rotateSecret(
            id, to: made ?? secret ?? "", overlap: overlap, sealing: hashes.seal(at: now), at: now)
        return NewSecret(client: entry(client), secret: made)
    }

    package func disable(_ id: String) async throws -> ClientEntry {
        audit.record(.command("client disable", [("client", id)]))
        var change = ClientChange()
        if let member = ClientMember.named("disabled") { change.set(member, ["true"]) }
        return entry(try await registry.change(id, change, at: clock()))
    }

    package func remove(_ id: String) async throws {
        audit.record(.command("client remove", [("client", id)]))
        try await registry.remove(id, at: clock())
    }

    private func entry(_ client: Client) -> ClientEntry {
        ClientEntry(client, place: registry.place(of: client.id), at: clock())
    }
}

/// A client with the secret that was made for it. The secret is shown only this once.
package struct NewSecret: Sendable, Encodable {
    package let client: ClientEntry
    /// Nil if no secret was made: the client is public, or the operator has chosen one.
    package let secret: String?
}

extension ClientChange {
    fileprivate var text: String { names.joined(separator: " ") }
}
