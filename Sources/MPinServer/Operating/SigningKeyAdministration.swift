package import MPinOpenID
package import MPinSecrets
import MPinService
package import MPinStore

/// The commands of `mpind signing-key`: they list, rotate and withdraw the signing keys of the OpenID provider in the
/// database, also while a server uses it. That server sees the change within a minute.
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

    private let store: any Store
    private let audit: Audit
    private let clock: Clock

    package init(database: ServiceDatabase, audit: Audit, clock: @escaping Clock = Moment.now) async throws {
        self.init(in: try await database.open(), audit: audit, clock: clock)
    }

    init(in store: any Store, audit: Audit, clock: @escaping Clock) {
        self.store = store
        self.audit = audit
        self.clock = clock
    }

    /// Returns all published keys, those of each algorithm in the order in which they sign.
    package func list() async throws -> [Entry] {
        audit.record(.command("signing-key list"))
        return try await entries()
    }

    /// Returns the keys in the database. `key` is the server's own key, which seals them.
    package func keys(sealedUnder key: SecretBytes) -> SigningKeys {
        SigningKeys(in: store, sealKey: OpenIDConfig.sealKey(from: key))
    }

    /// Publishes a new key for each algorithm, which will sign two hours later. If such a key is published already, it
    /// makes no others. Returns all keys.
    package func rotate(_ keys: SigningKeys) async throws -> [Entry] {
        audit.record(.command("signing-key rotate"))
        try await opened { try await keys.rotate(at: clock()) }
        return try await entries()
    }

    /// Deletes a key that somebody else may know; another one takes its place. Returns all keys that are left. Nil if
    /// there is no such key.
    package func withdraw(_ kid: String, from keys: SigningKeys) async throws -> [Entry]? {
        audit.record(.command("signing-key withdraw", [("kid", kid)]))
        guard try await opened({ try await keys.withdraw(kid, at: clock()) }) else { return nil }
        return try await entries()
    }

    private func opened<Result>(_ work: () async throws -> Result) async throws -> Result {
        do { return try await work() } catch is SealedBox.Failure {
            throw StartError("the signing keys are sealed under another key: give the --key-file of their RPS")
        }
    }

    private func entries() async throws -> [Entry] {
        try await SigningKeys.all(in: store, at: clock()).map(Entry.init)
    }
}
