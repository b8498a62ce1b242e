import MPinOpenID
package import MPinSecrets
import MPinService
package import MPinStore

/// The commands of `mpind signing-key`: they list and rotate the signing keys of the OpenID provider in the database,
/// also while a server uses it. That server sees a new key within a minute.
package struct SigningKeyAdministration: Sendable {
    /// A signing key, as the commands print it.
    package struct Entry: Sendable, Encodable {
        /// The key's name in tokens and in the published list.
        package let kid: String
        package let algorithm: String
        /// `next`, `signing` or `old`.
        package let state: String
        /// When it begins to sign, or has begun.
        package let signsFrom: String
        /// When it is deleted. Nil if no other key has taken its place.
        package let publishedUntil: String?

        init(_ status: SigningKeys.Status) {
            kid = status.kid
            algorithm = status.algorithm.rawValue
            state = status.state.rawValue
            signsFrom = status.begins.iso
            publishedUntil = status.ends?.iso
        }
    }

    private let store: SQLiteStore
    private let audit: Audit
    private let clock: Clock

    package init(database: String, audit: Audit, clock: @escaping Clock = Moment.now) throws {
        guard try DatabaseKind(checking: database) == .rps else { throw StartError("\(database): not of an RPS") }
        store = try SQLiteStore(path: database)
        self.audit = audit
        self.clock = clock
    }

    /// Returns all published keys, those of each algorithm in the order in which they sign.
    package func list() async throws -> [Entry] {
        audit.record(.command("signing-key list"))
        return try await entries()
    }

    /// Publishes a new key for each algorithm, which will sign two hours later. If such a key is published already, it
    /// makes no others. `key` is the server's own key, which seals the signing keys. Returns all keys.
    package func rotate(key: SecretBytes) async throws -> [Entry] {
        audit.record(.command("signing-key rotate"))
        let keys = SigningKeys(in: store, sealKey: OpenIDConfig.sealKey(from: key))
        do { try await keys.rotate(at: clock()) } catch is SealedBox.Failure {
            throw StartError("the signing keys are sealed under another key: give the --key-file of their RPS")
        }
        return try await entries()
    }

    private func entries() async throws -> [Entry] {
        try await SigningKeys.all(in: store, at: clock()).map(Entry.init)
    }
}
