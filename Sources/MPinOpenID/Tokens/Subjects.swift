package import MPinSecrets
package import MPinStore

/// Computes the names of users at clients (claim `sub`).
package struct Subjects: Sendable {
    private let salt: SecretBytes
    /// The users of projects who have the names that they had when their user ids had no name space.
    private let kept: Set<UserKey>
    /// Their user ids. A user of the server who has one of them has come later, and gets another name.
    private let taken: Set<String>

    package init(salt: SecretBytes, kept: Set<UserKey> = []) {
        self.salt = salt
        self.kept = kept
        taken = Set(kept.map(\.userID))
    }

    /// Uses the salt of that store, which is made at the first call. With another salt, every user would be a stranger
    /// to all clients.
    package init(in store: any Store, kept: Set<UserKey> = []) async throws {
        let salt = try await store.setting("oidc_subjects") { Hex.encode(try randomBytes(32)) }
        self.init(salt: SecretBytes(utf8: salt), kept: kept)
    }

    /// Returns the `sub` of a user for a client. It is always the same for the same user and client, and for clients of
    /// one sector. It has 43 characters; if the client wants the user id, at most 255 ASCII characters, which begin for a
    /// user of a project with the project's id and a slash. `userID` is ``UserKey/text``.
    package func subject(of userID: String, for client: Client) -> String {
        let user = UserKey(text: userID)
        switch client.subject {
        case .public: return subject(of: user, in: "")
        case .pairwise: return subject(of: user, in: client.sector ?? client.sectorOfURIs ?? client.id)
        case .userID:
            let name = kept.contains(user) ? user.userID : user.shown
            let isName = name.utf8.count <= 255 && name.utf8.allSatisfy { $0 < 0x80 } && !isLate(user)
            return isName ? name : subject(of: user, in: "")
        }
    }

    /// Whether the user is one of the server who has come after a user of a project had taken the name.
    private func isLate(_ user: UserKey) -> Bool { user.project == nil && taken.contains(user.userID) }

    /// A sector never contains U+0000, so two different pairs of sector and user never give the same input.
    private func subject(of user: UserKey, in sector: String) -> String {
        // The text of no user begins with a line feed.
        let text = kept.contains(user) ? user.userID : isLate(user) ? "\n\(user.userID)" : user.text
        return Base64URL.encode(HMACSHA256.tag(Array("\(sector)\u{0}\(text)".utf8), key: salt))
    }
}
