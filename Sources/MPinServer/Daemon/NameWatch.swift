import Logging
import MPinService
import MPinStore
import ServiceLifecycle
import Synchronization

/// Lets the names in shared stores carry the service's id from the moment on that is decided in the lasting database
/// (``ServiceID/seal(in:at:)``). All servers of the service do so at that moment, by the database's clock. Until then other
/// services whose names carry no id are kept out. From that moment on hashes of secrets are sealed, too (``HashSealing``).
struct NameWatch: Service {
    /// Whether no other service uses the same names, for the health check.
    private final class Claim: Sendable {
        let isHeld = Atomic(true)
    }

    private let id: ServiceID
    private let names: ServiceNames
    private let durable: any Store
    private let counters: any Counters
    private let hashes: HashSealing
    /// The stores in which names have to differ, and their URLs for messages.
    private let shared: [(url: String, store: any Store)]
    private let claim = Claim()
    private let clock: Clock
    private let logger: Logger

    /// Looks after which the claims are renewed: half a minute.
    private static let looksOfClaim = 30

    /// Throws `StartError` if another service, whose names carry no id either, uses one of the stores.
    init(
        _ id: ServiceID, _ names: ServiceNames, durable: any Store, counters: any Counters,
        hashes: HashSealing, shared: [(url: String, store: any Store)], clock: @escaping Clock, logger: Logger
    ) async throws {
        (self.id, self.names, self.durable, self.counters) = (id, names, durable, counters)
        (self.hashes, self.shared, self.clock, self.logger) = (hashes, shared, clock, logger)
        guard names.service == nil else { return }
        for (url, store) in shared where try await !StoreClaim.hold(store, for: id.text, at: clock()) {
            throw StartError(
                """
                \(StoreURL.shown(url)): another service uses it under the same names. Run `mpind migrate --seal` at one of \
                them when all its servers are of this version, or give a store or prefix of its own. A service that has \
                stopped is forgotten after ten minutes
                """)
        }
    }

    var isHeld: Bool { claim.isHeld.load(ordering: .relaxed) }

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var looks = 0
            while names.service == nil {
                try await Task.sleep(for: .seconds(ServiceID.watchSeconds))
                looks += 1
                if looks % Self.looksOfClaim == 0 { await renewClaims() }
                // If the database does not answer, nobody can log in at this server either.
                guard let begin = try? await ServiceID.sealed(in: durable, at: clock()) else { continue }
                let wait = begin.microseconds &- clock().microseconds
                if wait > 0 { try await Task.sleep(for: .microseconds(wait)) }
                names.carry(id.text)
                await (counters as? SharedCounters)?.tell()
                logger.info("names in shared stores carry the id of the service from now on")
                await sealHashes()
            }
            claim.isHeld.store(true, ordering: .relaxed)
        }
        // The end of a service would be the end of the server.
        try? await gracefulShutdown()
    }

    private func sealHashes() async {
        do {
            try await hashes.sealAll(at: clock())
            logger.info("hashes of secrets are sealed from now on")
        } catch {
            logger.error(
                "hashes of secrets are not all sealed: the next start tries again", metadata: ["error": "\(error)"])
        }
    }

    private func renewClaims() async {
        for (url, store) in shared {
            guard let isHeld = try? await StoreClaim.hold(store, for: id.text, at: clock()) else { continue }
            claim.isHeld.store(isHeld, ordering: .relaxed)
            guard !isHeld else { continue }
            return logger.error(
                "another service uses a store under the same names: not ready",
                metadata: ["store": "\(StoreURL.shown(url))"])
        }
    }
}
