import MPinSecrets
package import MPinStore

/// The consents: the scopes that users have allowed to clients that are not the operator's own. A user is asked once.
package struct Consents: Sendable {
    private let table: Table<[String]>

    package init(in store: any Store) { table = Table("oidc_consent", in: store) }

    /// Returns whether the user has allowed the client all of `scopes`.
    package func cover(
        _ scopes: [String], of client: Client, by userID: String, at now: Moment
    ) async throws -> Bool {
        let allowed = try await table.read(Self.key(client, userID), at: now) ?? []
        return scopes.allSatisfy(allowed.contains)
    }

    package func allow(_ scopes: [String], of client: Client, by userID: String, at now: Moment) async throws {
        try await table.update(Self.key(client, userID), at: now, .durable) { entry in
            entry = .init(Set((entry?.value ?? []) + scopes).sorted())
        }
    }

    private static func key(_ client: Client, _ userID: String) -> String {
        client.id + " " + Hex.encode(SHA256.hash(Array(userID.utf8)))
    }
}
