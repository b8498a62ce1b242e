package import MPinSecrets
package import MPinStore

/// What users are called at clients.
package struct Subjects: Sendable {
    private let salt: SecretBytes

    package init(salt: SecretBytes) { self.salt = salt }

    /// With the salt of that store, which is made once: another one would make a stranger of every user.
    package init(in store: any Store) async throws {
        let salt = try await store.setting("oidc_subjects") { Hex.encode(try randomBytes(32)) }
        self.init(salt: SecretBytes(utf8: salt))
    }

    /// `sub` for that client, at most 255 ASCII characters: always the same one for a user and a client, or a sector of
    /// clients. 43 characters, unless the client wants the user id.
    package func subject(of userID: String, for client: Client) -> String {
        switch client.subject {
        case .public: subject(of: userID, in: "")
        case .pairwise: subject(of: userID, in: client.sector ?? client.sectorOfURIs ?? client.id)
        case .userID where userID.utf8.count <= 255 && userID.utf8.allSatisfy({ $0 < 0x80 }): userID
        case .userID: subject(of: userID, in: "")
        }
    }

    /// A sector holds no U+0000.
    private func subject(of userID: String, in sector: String) -> String {
        Base64URL.encode(HMACSHA256.tag(Array("\(sector)\u{0}\(userID)".utf8), key: salt))
    }
}
