import Foundation
package import Logging
import MPinCrypto
import MPinSecrets
import ServiceLifecycle

/// What one process runs: any of the D-TAs, the RPS and the RPA.
package struct Parts: Sendable {
    package var authorities: [TrustAuthorityConfig] = []
    package var rps: RelyingPartyServiceConfig?
    package var rpa: RelyingPartyApplicationConfig?

    package init() {}
}

/// Runs the parts until the task is shut down gracefully or cancelled, or one of them fails.
package struct Daemon: Service {
    private let parts: Parts
    private let logger: Logger
    private let onReady: @Sendable () -> Void

    package init(_ parts: Parts, logger: Logger, onReady: @escaping @Sendable () -> Void = {}) {
        self.parts = parts
        self.logger = logger
        self.onReady = onReady
    }

    package func run() async throws {
        let readiness = Readiness(listeners: listenerCount, logger: logger, onReady: onReady)
        var services: [any Service] = try parts.authorities.map { try authority($0, readiness) }
        if parts.rps != nil || parts.rpa != nil { services.append(RelyingParty(daemon: self, readiness: readiness)) }
        try await run(services)
    }

    /// Starts the services in this order and ends them in the other: who asks goes before who answers, so that a
    /// running request finds everything that it needs.
    private func run(_ services: [any Service]) async throws {
        try await ServiceGroup(configuration: .init(services: services, logger: logger)).run()
    }

    /// With SIGTERM and SIGINT as the ways to end it: running requests are finished first.
    package func runUntilSignal() async throws {
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: self)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(Limits().drainSeconds)
        try await ServiceGroup(configuration: configuration).run()
        logger.info("mpind has stopped")
    }

    /// RPS and RPA: together, as they may share listeners.
    private struct RelyingParty: Service {
        let daemon: Daemon
        let readiness: Readiness

        func run() async throws {
            var service: RelyingPartyService?
            if let config = daemon.parts.rps {
                // SIGTERM while waiting for a D-TA ends the wait.
                do {
                    service = try await cancelWhenGracefulShutdown { try await daemon.makeService(config) }
                } catch is CancellationError where Task.isShuttingDownGracefully {
                    return
                }
            }
            let application = daemon.parts.rpa.map(RelyingPartyApplication.init)
            var services: [any Service] = service.map { [Collector(service: $0, logger: daemon.logger)] } ?? []
            services += daemon.privateListeners(service, application, readiness)
            services += daemon.publicListeners(service, application, readiness)
            try await daemon.run(services)
        }
    }
}

extension Daemon {
    private func authority(_ config: TrustAuthorityConfig, _ readiness: Readiness) throws -> Listener {
        let master: MasterShare
        do {
            master = try MasterShare.load(database: config.database, sealKey: config.sealKey, now: config.clock())
        } catch let error as StartError {
            throw StartError("\(config.database): \(error)")
        } catch {
            throw StartError("\(config.database): \(error)")
        }
        let server = TrustAuthorityServer(
            master: master, requestKey: config.requestKey, limits: config.limits, clock: config.clock)
        return Listener(
            config.name, config.listen, cors: [.dta], limits: config.limits, readiness: readiness, logger: logger,
            routes: server.addRoutes)
    }

    private func makeService(_ config: RelyingPartyServiceConfig) async throws -> RelyingPartyService {
        let store: SQLiteStore
        do { store = try SQLiteStore(path: config.database) } catch let error as StartError { throw error } catch {
            throw StartError("\(config.database): \(error)")
        }
        let appID = try await store.setting("app_id") { Hex.encode(try randomBytes(16)) }
        let seconds = config.limits.callSeconds
        let dta1 = TrustAuthorityClient("D-TA 1", config.dta1, appID: appID, seconds: seconds)
        let dta2 = TrustAuthorityClient("D-TA 2", config.dta2, appID: appID, seconds: seconds)
        let secret = ServerSecret(authorities: [dta1, dta2], store: store, config: config, logger: logger)
        return RelyingPartyService(
            config: config, appID: appID, store: store, sessions: MemoryStore(), keys: try await secret.gather(),
            dta1: dta1, dta2: dta2, rpa: Peer(url: config.verifyURL, seconds: seconds))
    }

    /// One listener an address: in one process RPS and RPA share it.
    private func publicListeners(
        _ rps: RelyingPartyService?, _ rpa: RelyingPartyApplication?, _ readiness: Readiness
    ) -> [any Service] {
        publicAddresses.map { address in
            let rps = rps?.config.listen == address ? rps : nil
            let rpa = rpa?.config.listen == address ? rpa : nil
            let service = rps.map { CORSPolicy.rps(prefix: $0.config.prefix, origins: $0.config.allowOrigin) }
            let cors = [service, rpa == nil ? nil : .rpa].compactMap(\.self)
            return Listener("public", address, cors: cors, limits: limits, readiness: readiness, logger: logger) {
                router in
                rps?.addPublicRoutes(to: router)
                rpa?.addPublicRoutes(to: router)
            }
        }
    }

    private func privateListeners(
        _ rps: RelyingPartyService?, _ rpa: RelyingPartyApplication?, _ readiness: Readiness
    ) -> [any Service] {
        privateAddresses.map { address in
            Listener("private", address, cors: [], limits: limits, readiness: readiness, logger: logger) { router in
                if rps?.config.privateListen == address { rps?.addPrivateRoutes(to: router) }
                if rpa?.config.privateListen == address { rpa?.addPrivateRoutes(to: router) }
            }
        }
    }

    private var limits: Limits { parts.rps?.limits ?? parts.rpa?.limits ?? Limits() }
    private var publicAddresses: [ListenAddress] { distinct([parts.rps?.listen, parts.rpa?.listen]) }
    private var privateAddresses: [ListenAddress] { distinct([parts.rps?.privateListen, parts.rpa?.privateListen]) }
    private var listenerCount: Int { parts.authorities.count + publicAddresses.count + privateAddresses.count }

    private func distinct(_ addresses: [ListenAddress?]) -> [ListenAddress] {
        addresses.compactMap { $0 }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

/// Deletes expired items now and then.
private struct Collector: Service {
    let service: RelyingPartyService
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: .seconds(service.limits.collectSeconds))
                do {
                    let now = service.config.clock()
                    let count =
                        try await service.store.collect(at: now) + service.sessions.collect(at: now)
                    logger.debug("collected expired items", metadata: ["count": "\(count)"])
                } catch {
                    logger.error("collecting expired items failed", metadata: ["error": "\(error)"])
                }
            }
        }
    }
}
