package import MPinSecrets
package import MPinStore

/// Computes the names of users at clients (claim `sub`).
package struct Subjects: Sendable {
    private let salt: SecretBytes

    package init(salt: SecretBytes) { self.salt = salt }

    /// Uses the salt of that store, which is made at the first call. With another salt, every user would be a stranger
    /// to all clients.
    package init(in store: any Store) async throws {
        let salt = try await store.setting("oidc_subjects") { Hex.encode(try randomBytes(32)) }
        self.init(salt: SecretBytes(utf8: salt))
    }

    /// Returns the `sub` of a user for a client. It is always the same for the same user and client, and for clients of
    /// one sector. It has 43 characters; if the client wants the user id, at most 255 ASCII characters.
    package func subject(of userID: String, for client: Client) -> String {
        switch client.subject {
        case .public: subject(of: userID, in: "")
        case .pairwise: subject(of: userID, in: client.sector ?? client.sectorOfURIs ?? client.id)
        case .userID where userID.utf8.count <= 255 && userID.utf8.allSatisfy({ $0 < 0x80 }): userID
        case .userID: subject(of: userID, in: "")
        }
    }

    /// A sector never contains U+0000, so two different pairs of sector and user id never give the same input.
    private func subject(of userID: String, in sector: String) -> String {
        Base64URL.encode(HMACSHA256.tag(Array("\(sector)\u{0}\(userID)".utf8), key: salt))
    }
}
