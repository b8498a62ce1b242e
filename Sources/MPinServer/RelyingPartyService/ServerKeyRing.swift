import Logging
import MPinCrypto
import NIOConcurrencyHelpers
import ServiceLifecycle

/// The server secrets of a running RPS. It keeps up with the rotations of the D-TAs.
final class ServerKeyRing: Sendable {
    private let source: ServerSecrets
    private let held: NIOLockedValueBox<[ServerSecret]>

    /// Gathers the server secrets that there are at start.
    init(_ source: ServerSecrets) async throws {
        self.source = source
        held = NIOLockedValueBox(try await source.gather())
    }

    /// What is in use now.
    ///
    /// The newest stays in use past its end: when only one D-TA was rotated and not the other, there is no next one,
    /// and nobody could register again who was told to.
    var keys: ServerKeys {
        let (secrets, now) = (held.withLockedValue { $0 }, source.config.clock())
        let newest = secrets.last?.keyID ?? ServerKeys.firstID
        let inUse = secrets.filter { secret in secret.keyID == newest || secret.servedUntil.map { now < $0 } ?? true }
        return ServerKeys(currentID: newest, inUse)
    }

    /// The server secret for an identity registered under `keyID`; nil when that master secret is retired. One that is
    /// newer than all that are known here was met by another process first, and is fetched.
    func context(_ keyID: String) async throws -> ServerContext? {
        let keys = keys
        guard let number = Int(keyID), number > Int(keys.currentID) ?? 0 else { return try keys.context(keyID) }
        try await refresh()
        guard let context = try self.keys.context(keyID) else { throw APIError.masterSecretChanged }
        return context
    }

    /// Asks the D-TAs what they serve now.
    func refresh() async throws {
        let known = held.withLockedValue { $0 }
        let found = try await source.refreshed(known)
        // None in common: see `keys`.
        guard !found.isEmpty else { return }
        held.withLockedValue { $0 = found }
    }
}

/// Looks for rotations now and then.
struct KeyWatch: Service {
    let ring: ServerKeyRing
    let seconds: Int
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: .seconds(seconds))
                do { try await ring.refresh() } catch {
                    logger.error("the D-TAs' master secrets cannot be checked", metadata: ["error": "\(error)"])
                }
            }
        }
    }
}
