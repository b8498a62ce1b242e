package import Logging
package import MPinCrypto
import MPinStore
import ServiceLifecycle
import Synchronization

/// The server secrets of a running RPS. They are fetched again when the D-TAs have replaced the master secret.
package final class ServerKeyRing: Sendable {
    private let source: ServerSecrets
    private let held: Mutex<Held>

    private struct Held {
        var secrets: [ServerSecret]
        /// `refresh` is the number of the refresh that has set `secrets`, `begun` that of the refresh that was begun
        /// last.
        var refresh = 0, begun = 0
    }

    /// Gathers the server secrets at the start.
    package init(_ source: ServerSecrets) async throws {
        self.source = source
        held = Mutex(Held(secrets: try await source.gather()))
    }

    /// The server secrets in use now.
    ///
    /// The newest secret stays in use even after the D-TAs stop serving it. That happens if only one D-TA has replaced
    /// its master share. Then there is no newer secret, so users who were told to register again could not do so.
    package var keys: ServerKeys {
        let inUse = secretsInUse
        return ServerKeys(currentID: inUse.last?.keyID ?? ServerKeys.firstID, inUse)
    }

    /// The server secrets in use, oldest first.
    var secretsInUse: [ServerSecret] {
        let (secrets, now) = (held.withLock { $0.secrets }, source.clock())
        guard secrets.count > 1 else { return secrets }
        let newest = secrets.last?.keyID ?? ServerKeys.firstID
        return secrets.filter { secret in secret.keyID == newest || secret.servedUntil.map { now < $0 } ?? true }
    }

    /// The server secrets for an identity that was registered under the master secret `keyID`. If it is newer than all
    /// that this process knows, another process has used it first, and it is fetched. Throws if a D-TA does not serve
    /// it, because no other secret can judge that login.
    func keys(for keyID: String) async throws -> ServerKeys {
        let known = keys
        guard known.isBehind(keyID) else { return known }
        try await refresh()
        let found = keys
        guard !found.isBehind(keyID) else { throw ServiceError.unjudged(.unavailable(.masterSecret)) }
        return found
    }

    /// The server secret for an identity that was registered under `keyID`; nil if that master secret is retired.
    package func context(_ keyID: String) async throws -> ServerContext? { try await keys(for: keyID).context(keyID) }

    /// Asks the D-TAs which master secrets they serve now. If several refreshes run at once, the result of the one that
    /// was begun last is kept.
    package func refresh() async throws {
        let (number, known) = held.withLock { held in
            held.begun += 1
            return (held.begun, held.secrets)
        }
        let found = try await source.refreshed(known)
        // If nothing is found, the D-TAs serve no master secret in common. The known ones then stay in use (see
        // `keys`).
        guard !found.isEmpty else { return }
        held.withLock { held in
            guard number > held.refresh else { return }
            (held.refresh, held.secrets) = (number, found)
        }
    }
}

/// The server secrets in use. There are few of them, and each login looks for one a few times, so they are no dictionary.
package struct ServerKeys: Sendable {
    /// The id of the first master secret, at every D-TA.
    package static let firstID = "1"

    /// The key id for new registrations.
    let currentID: String
    private let secrets: [ServerSecret]

    init(currentID: String, _ secrets: [ServerSecret]) {
        self.currentID = currentID
        self.secrets = secrets
    }

    /// The server secret that comes from the master secret `keyID`.
    private func secret(_ keyID: String) -> ServerSecret? { secrets.last { $0.keyID == keyID } }

    /// The server secret of `keyID`; nil if that master secret is retired, so that its users must register again.
    /// Throws while a D-TA has a different share of it.
    func context(_ keyID: String) throws(ServiceError) -> ServerContext? {
        guard let secret = secret(keyID) else { return nil }
        guard let context = secret.context else { throw .unjudged(.unavailable(.masterSecret)) }
        return context
    }

    /// Whether the master secret `keyID` is newer than all that this process knows.
    func isBehind(_ keyID: String) -> Bool { Int(keyID).map { $0 > Int(currentID) ?? 0 } ?? false }

    /// Whether proofs can be judged and clients registered.
    package var isUsable: Bool { secret(currentID)?.context != nil }

    /// The key id with which to ask the D-TAs for an identity's permit: the identity's own, or the current one if its
    /// own is retired. In the second case the permit is useless, but with it an old client reaches pass 2, where it is
    /// told to register again.
    ///
    /// Throws if a D-TA has another share of that master secret than before, because every right PIN would be judged
    /// wrong.
    func servedID(_ keyID: String) throws(ServiceError) -> String {
        let served = secret(keyID) == nil ? currentID : keyID
        _ = try context(served)
        return served
    }
}

/// Regularly checks whether the D-TAs have replaced the master secret.
package struct KeyWatch: Service {
    private let ring: ServerKeyRing
    private let seconds: Int
    private let logger: Logger

    /// `seconds`: the time between two checks.
    package init(ring: ServerKeyRing, seconds: Int, logger: Logger) {
        self.ring = ring
        self.seconds = seconds
        self.logger = logger
    }

    package func run() async throws {
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
