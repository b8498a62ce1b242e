import MPinSecrets
package import MPinStore

/// A user's consent: the scopes that the user has allowed a client.
package struct Consent: Sendable, Equatable, Codable, Storable {
    package let clientID: String
    package fileprivate(set) var scopes: [String]
    /// When the user first allowed the client something, and has not withdrawn it since.
    package let since: Moment
}

/// The consents to clients that are not the operator's own. A user is asked once, and can withdraw a consent.
package struct Consents: Sendable {
    private let table: Table<Consent>

    package init(in store: any Store) { table = Table("oidc_consent", in: store) }

    /// Returns whether the user has allowed the client all of `scopes`.
    package func cover(
        _ scopes: [String], of client: Client, by userID: String, at now: Moment
    ) async throws -> Bool {
        let allowed = try await self.scopes(of: client, by: userID, at: now)
        return scopes.allSatisfy(allowed.contains)
    }

    /// Returns the scopes that the user has allowed the client.
    func scopes(of client: Client, by userID: String, at now: Moment) async throws -> [String] {
        try await table.read(Self.key(client.id, userID), at: now)?.scopes ?? []
    }

    package func allow(_ scopes: [String], of client: Client, by userID: String, at now: Moment) async throws {
        try await table.update(Self.key(client.id, userID), at: now, .durable) { entry in
            var consent = entry?.value ?? Consent(clientID: client.id, scopes: [], since: now)
            consent.scopes = Set(consent.scopes + scopes).sorted()
            entry = .init(consent)
        }
    }

    /// Returns all consents of a user, in the order of the clients' ids.
    package func list(of userID: String, at now: Moment) async throws -> [Consent] {
        try await table.all(startingWith: Self.prefix(userID), at: now).map(\.value)
    }

    /// Withdraws a consent. Returns false if there is none.
    package func withdraw(clientID: String, by userID: String, at now: Moment) async throws -> Bool {
        try await table.take(Self.key(clientID, userID), at: now) != nil
    }

    /// The user comes first, so that the consents of a user are neighbours.
    private static func key(_ clientID: String, _ userID: String) -> String { prefix(userID) + clientID }

    private static func prefix(_ userID: String) -> String { Hex.encode(SHA256.hash(Array(userID.utf8))) + " " }
}
