package import Logging
import MPinCrypto
import MPinStore
import ServiceLifecycle
import Synchronization

/// The server secrets of a running RPS. It keeps up with the rotations of the D-TAs.
package final class ServerKeyRing: Sendable {
    private let source: ServerSecrets
    private let held: Mutex<Held>

    private struct Held {
        var secrets: [ServerSecret]
        /// The refresh that they come from, and the last one that was begun.
        var refresh = 0, begun = 0
    }

    /// Gathers the server secrets that there are at start.
    package init(_ source: ServerSecrets) async throws {
        self.source = source
        held = Mutex(Held(secrets: try await source.gather()))
    }

    /// What is in use now.
    ///
    /// The newest stays in use past its end: when only one D-TA was rotated and not the other, there is no next one,
    /// and nobody could register again who was told to.
    package var keys: ServerKeys {
        let inUse = secretsInUse
        return ServerKeys(currentID: inUse.last?.keyID ?? ServerKeys.firstID, inUse)
    }

    /// Oldest first.
    var secretsInUse: [ServerSecret] {
        let (secrets, now) = (held.withLock { $0.secrets }, source.clock())
        let newest = secrets.last?.keyID ?? ServerKeys.firstID
        return secrets.filter { secret in secret.keyID == newest || secret.servedUntil.map { now < $0 } ?? true }
    }

    /// What is in use for an identity registered under `keyID`. One that is newer than all that are known here was met by
    /// another process first, and is fetched: where a D-TA does not serve it, nothing can be judged, for nothing else opens that login.
    func keys(for keyID: String) async throws -> ServerKeys {
        let known = keys
        guard known.isBehind(keyID) else { return known }
        try await refresh()
        let found = keys
        guard !found.isBehind(keyID) else { throw ServiceError.unjudged(.unavailable(.masterSecret)) }
        return found
    }

    /// The server secret for an identity registered under `keyID`; nil when that master secret is retired.
    func context(_ keyID: String) async throws -> ServerContext? { try await keys(for: keyID).context(keyID) }

    /// Asks the D-TAs what they serve now. Of refreshes at the same time the one that was begun last counts.
    package func refresh() async throws {
        let (number, known) = held.withLock { held in
            held.begun += 1
            return (held.begun, held.secrets)
        }
        let found = try await source.refreshed(known)
        // None in common: see `keys`.
        guard !found.isEmpty else { return }
        held.withLock { held in
            guard number > held.refresh else { return }
            (held.refresh, held.secrets) = (number, found)
        }
    }
}

/// The server secrets by the id of the master secret that they come from.
package struct ServerKeys: Sendable {
    /// What the first master secret is called, at every D-TA.
    package static let firstID = "1"

    /// The key of new registrations.
    let currentID: String
    private let secrets: [String: ServerSecret]

    init(currentID: String, _ secrets: [ServerSecret]) {
        self.currentID = currentID
        self.secrets = Dictionary(secrets.map { ($0.keyID, $0) }) { _, last in last }
    }

    /// Nil: that master secret is retired, and who has a client secret of it must register anew. Throws while a
    /// D-TA has another share of it.
    func context(_ keyID: String) throws(ServiceError) -> ServerContext? {
        guard let secret = secrets[keyID] else { return nil }
        guard let context = secret.context else { throw .unjudged(.unavailable(.masterSecret)) }
        return context
    }

    /// Whether that master secret is newer than the newest here.
    func isBehind(_ keyID: String) -> Bool { Int(keyID).map { $0 > Int(currentID) ?? 0 } ?? false }

    /// Whether proofs can be judged and clients registered.
    package var isUsable: Bool { secrets[currentID]?.context != nil }

    /// What to ask the D-TAs for an identity under: its own master secret, or, where that is retired, the current one.
    /// A permit under another master secret opens nothing, but it lets an old client come as far as the verdict, which
    /// is where it can be told to register again.
    ///
    /// Throws where its shares would make every right PIN a wrong one.
    func servedID(_ keyID: String) throws(ServiceError) -> String {
        let served = secrets[keyID] == nil ? currentID : keyID
        _ = try context(served)
        return served
    }
}

/// Looks for rotations now and then.
package struct KeyWatch: Service {
    private let ring: ServerKeyRing
    private let seconds: Int
    private let logger: Logger

    /// `seconds`: from one look to the next.
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
