import Foundation
package import Logging
import MPinCrypto
import MPinSecrets
import MPinStore
import ServiceLifecycle

/// What one process runs: any of the D-TAs, the RPS and the RPA.
package struct Parts: Sendable {
    package var authorities: [TrustAuthorityConfig] = []
    package var rps: RelyingPartyServiceConfig?
    package var rpa: RelyingPartyApplicationConfig?
    package var exposure = Exposure.loopback
    package var rates = RateLimits.standard
    /// Where health and metrics are asked for; always a loopback address. Nil: nowhere.
    package var adminListen: ListenAddress?
    /// Whether clients reach D-TA 2 through the public listener, under ``AuthorityGate/path``.
    package var gatesAuthority = false
    package var audit = Audit.off

    /// What the metrics say is running.
    package var version = ""

    package init() {}

    /// Those of its parts, which are the same.
    package var limits: Limits { rps?.limits ?? rpa?.limits ?? authorities.first?.limits ?? Limits() }

    var publicAddresses: [ListenAddress] { distinct([rps?.listen, rpa?.listen]) }
    var privateAddresses: [ListenAddress] { distinct([rps?.privateListen, rpa?.privateListen]) }

    private func distinct(_ addresses: [ListenAddress?]) -> [ListenAddress] {
        addresses.compactMap { $0 }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

/// Runs the parts until the task is shut down gracefully or cancelled, or one of them fails.
package struct Daemon: Service {
    private let parts: Parts
    fileprivate let logger: Logger
    private let onReady: @Sendable () -> Void
    private let metrics = Metrics()
    private let health = Health()
    private let rates: RateLimiter
    private let hasRunBefore: Bool

    package init(_ parts: Parts, logger: Logger, onReady: @escaping @Sendable () -> Void = {}) {
        self.parts = parts
        rates = RateLimiter(parts.rates, metrics: metrics)
        metrics.count(.build, [parts.version])
        self.logger = logger
        self.onReady = onReady
        hasRunBefore = parts.audit.hasLines
    }

    package func run() async throws {
        let readiness = Readiness(listeners: listenerCount, url: url, logger: logger, onReady: onReady)
        var services: [any Service] = try adminListener(readiness).map { [$0] } ?? []
        services += try parts.authorities.map { try authority($0, readiness) }
        if parts.rps != nil || parts.rpa != nil { services.append(RelyingParty(daemon: self, readiness: readiness)) }
        services.append(Draining(health: health))
        parts.audit.record(.started(parts: names))
        defer { parts.audit.record(.stopped) }
        try await run(services)
    }

    /// Starts the services in this order and ends them in the other: who asks goes before who answers, so that a
    /// running request finds everything that it needs.
    private func run(_ services: [any Service]) async throws {
        try await ServiceGroup(configuration: .init(services: services, logger: lifecycleLogger)).run()
    }

    /// At debug level a service group writes its services into the log, with their whole configuration.
    private var lifecycleLogger: Logger {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .info)
        return logger
    }

    /// With SIGTERM and SIGINT as the ways to end it: running requests are finished first.
    package func runUntilSignal() async throws {
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: self)], gracefulShutdownSignals: [.sigterm, .sigint],
            logger: lifecycleLogger)
        configuration.maximumGracefulShutdownDuration = .seconds(limits.drainSeconds)
        if let identity = parts.exposure.identity {
            configuration.services.append(.init(service: CertificateReload(identity: identity, logger: logger)))
        }
        try await withTaskExecutorPreference(EventLoopExecutor.shared) {
            try await ServiceGroup(configuration: configuration).run()
        }
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
            let application = daemon.parts.rpa.map { RelyingPartyApplication($0, service: service) }
            let stores = [service?.store, service?.sessions, application?.store].compactMap(\.self)
            var services: [any Service] = [Collector(stores: stores, permitAudit: service?.permitAudit, daemon: daemon)]
            defer { service?.permitAudit.sumUp(isEnd: true) }
            if let service {
                services.append(
                    KeyWatch(ring: service.keyRing, seconds: service.limits.keyWatchSeconds, logger: daemon.logger))
            }
            if let watch = service?.permitWatch { services.append(watch) }
            services += try daemon.privateListeners(service, application, readiness)
            services += try daemon.publicListeners(service, application, readiness)
            try await daemon.run(services)
        }
    }
}

extension Daemon {
    private func authority(_ config: TrustAuthorityConfig, _ readiness: Readiness) throws -> Listener {
        let keyring: MasterKeyring
        do {
            let database = try MasterShareDatabase(path: config.database, seal: config.seal, now: config.clock())
            if database.isNew { sayNew(config) }
            keyring = try MasterKeyring(database, clock: config.clock)
        } catch {
            throw StartError("\(config.database): \(error)")
        }
        let requests = SignedRequests(
            key: config.requestKey, legacy: config.legacy, limits: config.limits, clock: config.clock)
        let server = TrustAuthorityServer(
            keyring: keyring, requests: requests, rates: rates, audit: parts.audit.of(config.name),
            limits: config.limits, clock: config.clock)
        health.add(config.name) { FileManager.default.fileExists(atPath: config.database) }
        return try Listener(
            config.name, config.listen, edge: edge(config.listen, config.limits), cors: [.dta(config.allowOrigin)],
            rates: rates, readiness: readiness, logger: logger, routes: server.addRoutes)
    }

    /// A missing database is that of a first start, or one that was lost, or not the one that was meant. An audit log
    /// with lines shows that this is no first start.
    private func sayNew(_ config: TrustAuthorityConfig) {
        parts.audit.of(config.name).record(.shareMade)
        let place: Logger.Metadata = ["part": "\(config.name)", "database": "\(config.database)"]
        guard hasRunBefore else {
            return logger.info("made a first master share, as at every first start", metadata: place)
        }
        logger.warning(
            "made a first master share, but this server has run before: if this D-TA has, stop it and restore its database",
            metadata: place)
    }

    private func makeService(_ config: RelyingPartyServiceConfig) async throws -> RelyingPartyService {
        let file: SQLiteStore
        do { file = try SQLiteStore(path: config.database) } catch let error as StartError { throw error } catch {
            throw StartError("\(config.database): \(error)")
        }
        let store = MeteredStore(file, metrics: metrics)
        let sessions = MemoryStore()
        watch(store, config)
        metrics.gauge(.liveSessions) { Double(sessions.count) }
        let appID = try await file.setting("app_id") { Hex.encode(try randomBytes(16)) }
        let seconds = config.limits.callSeconds
        // A path is that of ``AuthorityGate``, which asks as the RPS does.
        let clientURL = config.dta2PublicURL.hasPrefix("/") ? config.dta2.url : config.dta2PublicURL
        let authorities = [
            TrustAuthorityClient("D-TA 1", config.dta1, appID: appID, legacy: config.legacy, seconds: seconds),
            TrustAuthorityClient(
                "D-TA 2", config.dta2, clientURL: clientURL, appID: appID, legacy: config.legacy, seconds: seconds),
        ]
        let secrets = ServerSecrets(authorities: authorities, store: file, config: config, logger: logger)
        let keyRing = try await ServerKeyRing(secrets)
        health.add("keys") { keyRing.keys.isUsable }
        let permitWatch = config.usePermits ? await permitWatch(authorities, keyRing, config) : nil
        return RelyingPartyService(
            config: config, appID: config.legacy?.appID ?? appID, store: store, sessions: sessions, keyRing: keyRing,
            permitWatch: permitWatch, lost: try await LostRegistrations(in: store, at: config.clock()),
            dta1: authorities[0], dta2: authorities[1],
            rpa: Peer(url: config.verifyURL, seconds: seconds, isMailing: true),
            rates: rates, metrics: metrics)
    }

    /// Has looked at the D-TAs' permits once.
    private func permitWatch(
        _ authorities: [TrustAuthorityClient], _ keyRing: ServerKeyRing, _ config: RelyingPartyServiceConfig
    ) async -> PermitWatch {
        let watch = PermitWatch(authorities, ring: keyRing, config: config, logger: logger)
        await watch.check()
        health.add("permits") { watch.isRight }
        return watch
    }

    /// Ready is who can write, and has the key to judge proofs with.
    private func watch(_ store: any Store, _ config: RelyingPartyServiceConfig) {
        health.add("store") {
            let now = config.clock()
            let probe = StoredItem(value: [], expires: now.adding(seconds: 60))
            guard FileManager.default.fileExists(atPath: config.database) else { return false }
            return (try? await store.update("health", "probe", at: now, durable: false) { $0 = probe }) != nil
        }
        health.add("keys") { false }
    }

    /// One listener an address: in one process RPS and RPA share it.
    private func publicListeners(
        _ rps: RelyingPartyService?, _ rpa: RelyingPartyApplication?, _ readiness: Readiness
    ) throws -> [any Service] {
        try publicAddresses.map { address in
            let rps = rps?.config.listen == address ? rps : nil
            let rpa = rpa?.config.listen == address ? rpa : nil
            let cors = [
                rps.map { CORSPolicy.rps(prefix: $0.config.prefix, origins: $0.config.allowOrigin) },
                rps.map { CORSPolicy.service($0.config.allowOrigin) },
                parts.gatesAuthority
                    ? rps.map { CORSPolicy.dta($0.config.allowOrigin, prefix: AuthorityGate.path) } : nil,
                rpa.flatMap { rpa in
                    rpa.config.rpsURL.map { _ in
                        CORSPolicy.rps(prefix: rpa.config.prefix, origins: rpa.config.allowOrigin)
                    }
                },
                rpa.map { CORSPolicy.rpa($0.config.allowOrigin) },
            ]
            return try Listener(
                "public", address, edge: edge(address, limits), cors: cors.compactMap(\.self), rates: rates,
                servesLogins: true, errorPage: rpa?.website.errorPage,
                readiness: readiness, logger: logger
            ) { router in
                rps?.addPublicRoutes(to: router)
                rpa?.addPublicRoutes(to: router)
                if parts.gatesAuthority, let rps { AuthorityGate(authority: rps.dta2.peer).addRoutes(to: router) }
            }
        }
    }

    private func privateListeners(
        _ rps: RelyingPartyService?, _ rpa: RelyingPartyApplication?, _ readiness: Readiness
    ) throws -> [any Service] {
        try privateAddresses.map { address in
            if !address.isLoopback, let rps, rps.config.privateListen == address, !rps.config.privateNeedsToken {
                throw StartError("\(address): a private listener that other machines reach needs --rpa-key-file")
            }
            let edge = address.isLoopback ? edge(address, limits).inside : edge(address, limits)
            let isOpen = rps.map { $0.config.privateListen == address && $0.config.rpaKey == nil } ?? false
            return try Listener(
                "private", address, edge: edge, servesLogins: isOpen, readiness: readiness, logger: logger
            ) { router in
                if rps?.config.privateListen == address { rps?.addPrivateRoutes(to: router) }
                if isOpen { rps?.addPublicRoutes(to: router) }
                if rpa?.config.privateListen == address { rpa?.addPrivateRoutes(to: router) }
            }
        }
    }

    private func adminListener(_ readiness: Readiness) throws -> Listener? {
        guard let address = parts.adminListen else { return nil }
        return try Listener(
            "admin", address, edge: edge(address, limits).inside, readiness: readiness, logger: logger,
            routes: AdminRoutes(health: health, metrics: metrics).add)
    }

    fileprivate var clock: Clock { parts.rps?.clock ?? parts.rpa?.clock ?? Moment.now }
    fileprivate var limits: Limits { parts.limits }
    private var names: [String] {
        parts.authorities.map(\.name) + (parts.rps == nil ? [] : ["rps"]) + (parts.rpa == nil ? [] : ["rpa"])
    }
    /// Where to begin: the website, else the service, else the D-TA.
    private var url: String {
        if let rpa = parts.rpa { return rpa.publicURL }
        let listen = parts.rps?.listen ?? parts.authorities.first?.listen
        return listen.map(parts.exposure.url) ?? ""
    }
    private var publicAddresses: [ListenAddress] { parts.publicAddresses }
    private var privateAddresses: [ListenAddress] { parts.privateAddresses }
    private var listenerCount: Int {
        parts.authorities.count + publicAddresses.count + privateAddresses.count + (parts.adminListen == nil ? 0 : 1)
    }

    private func edge(_ address: ListenAddress, _ limits: Limits) -> Edge {
        Edge(
            exposure: parts.gatesAuthority && !publicAddresses.contains(address) ? .loopback : parts.exposure,
            limits: limits, metrics: metrics)
    }
}

/// Deletes expired items now and then.
private struct Collector: Service {
    let stores: [any Store]
    let permitAudit: PermitAudit?
    let daemon: Daemon

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: .seconds(daemon.limits.collectSeconds))
                permitAudit?.sumUp(isEnd: false)
                do {
                    var count = 0
                    for store in stores { count += try await store.collect(at: daemon.clock()) }
                    daemon.logger.debug("collected expired items", metadata: ["count": "\(count)"])
                } catch {
                    daemon.logger.error("collecting expired items failed", metadata: ["error": "\(error)"])
                }
            }
        }
    }
}
