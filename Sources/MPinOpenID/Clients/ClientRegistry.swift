package import MPinStore

/// The registered clients. Some are in the store, where an operator can change them while the server runs. Others are
/// in a file, which is read once at the start.
package struct ClientRegistry: Sendable {
    private let clients: Table<Client>
    private let file: ClientsFile

    package init(in store: any Store, file: ClientsFile = .none) {
        clients = Table("clients", in: store)
        self.file = file
    }

    /// Returns the client with this id, also if it is disabled. Nil if there is none.
    package func find(_ id: String, at now: Moment) async throws -> Client? {
        if let entry = file.entries[id] { return entry.client }
        return Client.isID(id) ? try await clients.read(id, at: now) : nil
    }

    /// Returns all clients, sorted by id.
    package func list(at now: Moment) async throws -> [Client] {
        var found = file.entries.values.map(\.client)
        var last: String?
        repeat {
            let page = try await clients.list(after: last, limit: 500, at: now)
            found += page.map(\.value)
            last = page.last?.key
        } while last != nil
        return found.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    }

    /// Returns where the file has this client, as `FILE:LINE`. Nil if it is not in the file.
    package func place(of id: String) -> String? { file.place(of: id) }

    /// Throws if a client of the file has the same id as one in the store, or protects the same website as another
    /// client. It is called at the start, because nobody could say which of the two is meant.
    package func requireSingleIDs(at now: Moment) async throws {
        for (id, entry) in file.entries.sorted(by: { $0.value.line < $1.value.line })
        where try await clients.contains(id, at: now) {
            throw ClientsFileError(
                file.path, entry.line, "the client \(id) is in the database, too: remove one of the two")
        }
        for (_, entry) in file.entries.sorted(by: { $0.value.line < $1.value.line }) {
            do { try await requireSingleOrigin(entry.client, at: now) } catch let fault as ClientRegistryFault {
                throw ClientsFileError(file.path, entry.line, "\(entry.client.id): \(fault)")
            }
        }
    }

    /// Throws if another client protects the same website, because nobody could say which of the two is meant.
    private func requireSingleOrigin(_ client: Client, at now: Moment) async throws {
        guard let origin = client.protectedOrigin else { return }
        for other in try await list(at: now) where other.protectedOrigin == origin && other.id != client.id {
            throw ClientRegistryFault.sameOrigin(origin.text, other.id)
        }
    }

    package func add(_ client: Client, at now: Moment) async throws {
        try requireOfStore(client.id)
        try await requireSingleOrigin(client, at: now)
        guard try await clients.create(client.id, client, at: now) else {
            throw ClientRegistryFault.exists(client.id)
        }
    }

    /// Changes a client of the store, and returns the changed client.
    package func change(_ id: String, _ change: ClientChange, at now: Moment) async throws -> Client {
        if var client = try await find(id, at: now) {
            try change.apply(to: &client)
            try await requireSingleOrigin(client, at: now)
        }
        return try await update(id, at: now) { client in try change.apply(to: &client) }
    }

    /// Adds a new secret, of which only the hash is stored; `seal` seals it. The present one stays valid for `overlap`
    /// seconds, and an older one ends at once.
    package func rotateSecret(
        _ id: String, to secret: String, overlap: Int, sealing seal: HashSeal? = nil, at now: Moment
    ) async throws -> Client {
        let new = try ClientSecret(of: secret, created: now).sealed(by: seal, of: id)
        return try await update(id, at: now) { client in
            guard !client.isPublic else { throw ClientRegistryFault.isPublic(id) }
            guard client.secrets.first?.hash.digest != new.hash.digest else { throw ClientRegistryFault.sameSecret(id) }
            var old = client.secrets.first
            old?.expires = now.adding(seconds: overlap)
            client.secrets = [new] + (overlap > 0 ? [old].compactMap(\.self) : [])
        }
    }

    /// Seals the hashes that servers of the version before have stored. Several servers may do so together.
    package func sealHashes(by seal: HashSeal, at now: Moment) async throws {
        for (id, client) in try await clients.all(at: now) {
            // The change may run again, so what is drawn at random is made before it.
            let sealed = try client.secrets.map { (old: $0.hash, new: try $0.sealed(by: seal, of: id).hash) }
            guard sealed.contains(where: { $0.old != $0.new }) else { continue }
            try await clients.update(id, at: now, .durable) { entry in
                let secrets = entry?.value.secrets ?? []
                entry?.value.secrets = secrets.map { secret in
                    let new = sealed.first { $0.old == secret.hash }?.new ?? secret.hash
                    return ClientSecret(hash: new, created: secret.created, expires: secret.expires)
                }
            }
        }
    }

    package func remove(_ id: String, at now: Moment) async throws {
        try requireOfStore(id)
        guard try await clients.take(id, at: now) != nil else { throw ClientRegistryFault.unknown(id) }
    }

    private func update(
        _ id: String, at now: Moment, _ change: @escaping @Sendable (inout Client) throws -> Void
    ) async throws -> Client {
        try requireOfStore(id)
        return try await clients.update(id, at: now, .durable) { entry in
            guard var client = entry?.value else { throw ClientRegistryFault.unknown(id) }
            try change(&client)
            entry?.value = client
            return client
        }
    }

    private func requireOfStore(_ id: String) throws(ClientRegistryFault) {
        if let place = place(of: id) { throw .fixed(id, place) }
        guard Client.isID(id) else { throw .unknown(id) }
    }
}

/// The reason why the registry refuses an operator's command.
package enum ClientRegistryFault: Error, Equatable, CustomStringConvertible {
    case unknown(String)
    case exists(String)
    /// The client with this id is in the file, so it cannot be changed here. The second text is its place, `FILE:LINE`.
    case fixed(String, String)
    case isPublic(String)
    case sameSecret(String)
    /// The website with this origin is protected by the client with the second text as its id.
    case sameOrigin(String, String)
    /// There is a project with this id: no token could be signed for it, because the client would take it for an ID token.
    case isProject(String)

    package var description: String {
        switch self {
        case .unknown(let id): "there is no client \(id)"
        case .exists(let id): "there is a client \(id) already"
        case .fixed(let id, let place): "the client \(id) is that of \(place): change it there"
        case .isPublic(let id): "the client \(id) is public and has no secret"
        case .sameSecret(let id): "the client \(id) has this secret already"
        case .sameOrigin(let origin, let id): "\(origin) is that of the client \(id) already"
        case .isProject(let id): "\(id) is a project: choose another id"
        }
    }
}
