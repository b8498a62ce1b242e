import Logging
import MPinCrypto
import NIOConcurrencyHelpers
import ServiceLifecycle

/// The server secrets of a running RPS. It keeps up with the rotations of the D-TAs.
final class ServerKeyRing: Sendable {
    private let source: ServerSecrets
    private let held: NIOLockedValueBox<Held>

    private struct Held {
        var secrets: [ServerSecret]
        /// The refresh that they come from, and the last one that was begun.
        var refresh = 0, begun = 0
    }

    /// Gathers the server secrets that there are at start.
    init(_ source: ServerSecrets) async throws {
        self.source = source
        held = NIOLockedValueBox(Held(secrets: try await source.gather()))
    }

    /// What is in use now.
    ///
    /// The newest stays in use past its end: when only one D-TA was rotated and not the other, there is no next one,
    /// and nobody could register again who was told to.
    var keys: ServerKeys {
        let inUse = secretsInUse
        return ServerKeys(currentID: inUse.last?.keyID ?? ServerKeys.firstID, inUse)
    }

    /// Oldest first.
    var secretsInUse: [ServerSecret] {
        let (secrets, now) = (held.withLockedValue { $0.secrets }, source.config.clock())
        let newest = secrets.last?.keyID ?? ServerKeys.firstID
        return secrets.filter { secret in secret.keyID == newest || secret.servedUntil.map { now < $0 } ?? true }
    }

    /// What is in use for an identity registered under `keyID`. One that is newer than all that are known here was met by
    /// another process first, and is fetched: 503 where a D-TA does not serve it, for nothing else opens that login.
    func keys(for keyID: String) async throws -> ServerKeys {
        let known = keys
        guard known.isBehind(keyID) else { return known }
        try await refresh()
        let found = keys
        guard !found.isBehind(keyID) else { throw APIError.masterSecretChanged }
        return found
    }

    /// The server secret for an identity registered under `keyID`; nil when that master secret is retired.
    func context(_ keyID: String) async throws -> ServerContext? { try await keys(for: keyID).context(keyID) }

    /// Asks the D-TAs what they serve now. Of refreshes at the same time the one that was begun last counts.
    func refresh() async throws {
        let (number, known) = held.withLockedValue { held in
            held.begun += 1
            return (held.begun, held.secrets)
        }
        let found = try await source.refreshed(known)
        // None in common: see `keys`.
        guard !found.isEmpty else { return }
        held.withLockedValue { held in
            guard number > held.refresh else { return }
            (held.refresh, held.secrets) = (number, found)
        }
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
