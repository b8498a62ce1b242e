import MPinOpenID
import MPinSecrets
import MPinService
import MPinStore

/// Seals the hashes of secrets in the lasting database (``SecretHash``), from the moment on from which all servers can read
/// that (``ServiceID/sealed``). Until then they are stored as the version before reads them.
struct HashSealing: Sendable {
    /// Where the server's own key is, of which that of the seal is derived.
    enum Key: Sendable {
        case own(SecretBytes)
        /// The path of its key file; nil if nobody has named it, and it is not beside the database.
        case file(String?)
    }

    private let store: any Store
    private let key: Key

    init(_ store: any Store, _ key: Key) {
        self.store = store
        self.key = key
    }

    /// The seal for the hash of a new secret. Nil while servers of the version before may use the database. Throws
    /// `StartError` if the key is missing or another service's.
    func seal(at now: Moment) async throws -> HashSeal? {
        guard let begin = try await ServiceID.sealed(in: store, at: now), begin <= now else { return nil }
        switch key {
        case .own(let key): return HashSeal(from: key)
        case .file(nil):
            throw StartError(
                "hashes of secrets are sealed in this database: give --service-key-file, --config or --state-dir")
        case .file(let path?):
            let key = try loadKey(path)
            do { _ = try await ServiceID.find(in: store, key: key, at: now) } catch is ServiceID.ForeignKey {
                throw StartError("\(path): the key of another service")
            }
            return HashSeal(from: key)
        }
    }

    /// Seals the hashes that servers of the version before have stored.
    func sealAll(at now: Moment) async throws {
        guard let seal = try await seal(at: now) else { return }
        try await ProjectTokens(in: store).sealHashes(by: seal, at: now)
        try await ClientRegistry(in: store).sealHashes(by: seal, at: now)
    }
}
