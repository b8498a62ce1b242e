import MPinStore

/// Finds the clients of protected hosts by origin. The registry finds clients by id only, so the origins are kept here.
actor ProtectedHosts {
    private let registry: ClientRegistry
    private var ids: [WebOrigin: String] = [:]

    init(_ registry: ClientRegistry) { self.registry = registry }

    /// Returns the client that protects the website at `origin`. Nil if there is none, or if it is disabled.
    ///
    /// For an unknown origin all clients are read again, so that a new host is known at once. Only trusted proxies get
    /// here, and they ask about their own hosts, so that is rare.
    func client(_ origin: WebOrigin, at now: Moment) async throws -> Client? {
        if let found = try await known(origin, at: now) { return found.isDisabled ? nil : found }
        let clients = try await registry.list(at: now)
        ids = [:]
        for client in clients { if let own = client.protectedOrigin { ids[own] = client.id } }
        let found = try await known(origin, at: now)
        return found?.isDisabled == false ? found : nil
    }

    /// Returns the client that had this origin when the origins were read, if it still has it.
    private func known(_ origin: WebOrigin, at now: Moment) async throws -> Client? {
        guard let id = ids[origin], let found = try await registry.find(id, at: now), found.protectedOrigin == origin
        else { return nil }
        return found
    }
}

extension WebOrigin {
    /// The redirect URI of the protected host with this origin.
    var callback: RedirectURI? { try? RedirectURI(text + ForwardAuth.Path.callback) }
}
