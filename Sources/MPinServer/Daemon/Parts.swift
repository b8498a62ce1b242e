import Foundation
package import Logging
import MPinCrypto
import MPinOpenID
import MPinSecrets
import MPinService
package import MPinStore
import NIOConcurrencyHelpers
import ServiceLifecycle

/// The parts that one process runs: any of the D-TAs, the RPS and the RPA.
package struct Parts: Sendable {
    package var authorities: [TrustAuthorityConfig] = []
    package var rps: RelyingPartyServiceConfig?
    package var rpa: RelyingPartyApplicationConfig?
    /// The OpenID provider. Nil if there is none. It needs an RPS in the same process.
    package var openID: OpenIDConfig?
    /// The server for clients of MIRACL Trust. Nil if there is none. It needs an OpenID provider in the same process.
    package var trust: TrustConfig?
    package var exposure = Exposure.loopback
    package var rates = RateLimits.standard
    /// The listener for health and metrics, always on a loopback address; nil: none.
    package var adminListen: ListenAddress?
    /// The listener for health alone; nil: none.
    package var healthListen: ListenAddress?
    /// Whether clients reach D-TA 2 through the public listener, under ``AuthorityGate/path``.
    package var gatesAuthority = false
    package var audit = Audit.off
    /// Counts the requests for each identity, for the rate limits.
    package var counters: any Counters = LocalCounters()
    /// The ``StoreURL`` of the counters.
    package var countersURL = "memory:"
    /// What names in shared stores begin with. Those of parts without a lasting database carry an id from their key file;
    /// others learn it from the database.
    package let names = ServiceNames()

    /// The version in the metrics.
    package var version = ""

    package init() {}

    /// The limits of the parts, which are the same for all of them.
    package var limits: Limits { rps?.limits ?? rpa?.limits ?? authorities.first?.limits ?? Limits() }

    var publicAddresses: [ListenAddress] { distinct([rps?.listen, rpa?.listen]) }
    var privateAddresses: [ListenAddress] { distinct([rps?.privateListen, rpa?.privateListen]) }
    /// The addresses at which programs watch the process.
    var watchAddresses: [ListenAddress] { [adminListen, healthListen].compactMap(\.self) }

    private func distinct(_ addresses: [ListenAddress?]) -> [ListenAddress] {
        addresses.compactMap { $0 }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

/// Runs the parts until the task is shut down gracefully or cancelled, or one of them fails.
package struct Daemon: Service {
    private let parts: Parts
    fileprivate let logger: Logger
    private let onReady: Readiness.OnReady
    private let metrics = Metrics()
    private let health = Health()
    private let watch = ConnectionWatch()
    private let rates: RateLimiter
    private let budget: StoreBudget
    private let hasRunBefore: Bool
    /// What the admin API works on. Nil until the RPS has started.
    private let adminResources = NIOLockedValueBox<AdminResources?>(nil)

    package init(_ parts: Parts, logger: Logger, onReady: @escaping Readiness.OnReady = { _ in }) {
        self.parts = parts
        rates = RateLimiter(parts.rates, counters: parts.counters, metrics: metrics)
        let budget = StoreBudget(parts.limits.stores, tables: StrangerTables.all)
        self.budget = budget
        metrics.read { [watch] in
            watch.report.flatMap { name, use in
                [(.connections, [name], Double(use.open)), (.connectionsMost, [name], Double(use.most))]
            }
        }
        metrics.read { budget.use.map { (.strangerBytes, [$0.key], Double($0.value)) } }
        metrics.count(.build, [parts.version])
        metrics.read { [health] in health.last.map { (.healthCheck, [$0.key], $0.value ? 1 : 0) } }
        metrics.readPool("counters") { await (parts.counters as? SharedCounters)?.poolUse }
        self.logger = logger
        self.onReady = onReady
        hasRunBefore = parts.audit.hasLines
    }

    package func run() async throws {
        let readiness = Readiness(listeners: listenerCount, url: url, logger: logger, onReady: onReady)
        // These two listeners are the first ones, so they can be asked before the others are there.
        health.add("listeners") { readiness.isComplete }
        // It fails until the keys are there and the real check replaces it.
        if parts.rps != nil { health.add("keys") { false } }
        var services: [any Service] = try [adminListener(readiness), healthListener(readiness)].compactMap(\.self)
        for config in parts.authorities { services.append(try await authority(config, readiness)) }
        if parts.rps != nil || parts.rpa != nil { services.append(RelyingParty(daemon: self, readiness: readiness)) }
        services.append(Draining(health: health))
        parts.audit.record(.started(parts: names))
        defer { parts.audit.record(.stopped) }
        try await run(services)
    }

    /// Starts the services in their order and ends them in the reverse order. A part ends before the parts that it
    /// calls, so that its running requests can finish.
    private func run(_ services: [any Service]) async throws {
        try await ServiceGroup(configuration: .init(services: services, logger: lifecycleLogger)).run()
    }

    /// The logger of the service group. At debug level the group would log the whole configuration of its services.
    private var lifecycleLogger: Logger {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .info)
        return logger
    }

    /// Runs until SIGTERM or SIGINT. Then the running requests are finished, but for at most ``Limits/drainSeconds``.
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

    /// The RPS and the RPA, which may share listeners.
    private struct RelyingParty: Service {
        let daemon: Daemon
        let readiness: Readiness

        func run() async throws {
            var server: ServiceParts?
            if let config = daemon.parts.rps {
                // Making the service may have to wait for a D-TA. SIGTERM ends this wait.
                do {
                    server = try await cancelWhenGracefulShutdown { try await daemon.makeService(config) }
                } catch is CancellationError where Task.isShuttingDownGracefully {
                    return
                }
            }
            var application: RelyingPartyApplication?
            var clock = server?.clock
            if var config = daemon.parts.rpa {
                let store = BudgetedStore(try await daemon.shortLivedStore(config, server), daemon.budget)
                if clock == nil { clock = try await daemon.storeClock(store) }
                if let clock { config.clock = { clock.now } }
                application = RelyingPartyApplication(config, store: store, local: server?.milagro)
            }
            let stores = (server?.stores ?? []) + [application?.store].compactMap(\.self)
            let now = clock.map { clock -> Clock in { clock.now } } ?? daemon.clock
            var services: [any Service] = [
                Collector(stores: stores, permitAudit: server?.permitAudit, daemon: daemon, clock: now)
            ]
            if let clock { services.append(StoreClockWatch(clock: clock, logger: daemon.logger)) }
            if let binding = server?.binding {
                services.append(BindingWatch(binding: binding, logger: daemon.logger))
            }
            defer { server?.permitAudit.sumUp(isEnd: true) }
            if let marks = server?.auditMarks {
                let audit = daemon.parts.audit
                let isNear = server?.isNear ?? false
                services.append(
                    AuditMarkWatch(marks: marks, audit: audit, isNear: isNear, clock: now, logger: daemon.logger))
            }
            if let watch = server?.nameWatch { services.append(watch) }
            if let service = server?.service {
                let seconds = service.rules.limits.keyWatchSeconds
                services.append(KeyWatch(ring: service.keyRing, seconds: seconds, logger: daemon.logger))
                if let watch = service.permitWatch { services.append(watch) }
            }
            if let openID = server?.openID {
                services.append(SigningKeyWatch(provider: openID.provider, logger: daemon.logger))
                services.append(BackChannelWatch(channel: openID.backChannel, logger: daemon.logger))
            }
            if let pushes = server?.trust?.pushes { services.append(pushes) }
            services += try daemon.privateListeners(server, application, readiness)
            services += try daemon.publicListeners(server, application, readiness)
            try await daemon.run(services)
        }
    }
}

extension Daemon {
    private func authority(_ config: TrustAuthorityConfig, _ readiness: Readiness) async throws -> Listener {
        let requests = SignedRequests(
            key: config.requestKey, legacy: config.legacy, limits: config.limits, clock: config.clock)
        let server = TrustAuthorityServer(
            keyring: try await keyring(config), requests: requests, rates: rates, audit: parts.audit.of(config.name),
            limits: config.limits, clock: config.clock)
        return try Listener(
            config.name, config.listen, edge: edge(config.listen, config.limits),
            rates: rates, readiness: readiness, logger: logger,
            table: RouteTable(
                server.routes(for: config.allowOrigin), cors: .dta(config.allowOrigin), limit: .other))
    }

    /// Opens the D-TA's master shares and adds a health check: the D-TA is ready while its database file exists.
    /// Writing is not checked, because a running D-TA writes nothing into that file.
    private func keyring(_ config: TrustAuthorityConfig) async throws -> MasterKeyring {
        do {
            let url = try StoreURL(config.database)
            let database = try await MasterShareDatabase(url: url, seal: config.seal, now: config.clock())
            if database.isNew { reportNewShare(config) }
            health.add(config.name) {
                guard let file = try? url.file() else { return true }
                return FileManager.default.fileExists(atPath: file)
            }
            return try await MasterKeyring(database, clock: config.clock)
        } catch {
            throw StartError("\(StoreURL.shown(config.database)): \(error)")
        }
    }

    /// Reports that a D-TA had no database and has made a new master share. That is normal at the first start. If the
    /// audit log has lines, this is not the first start, so perhaps the database was lost or its path is wrong.
    private func reportNewShare(_ config: TrustAuthorityConfig) {
        parts.audit.of(config.name).record(.shareMade)
        let place: Logger.Metadata = ["part": "\(config.name)", "database": "\(config.database)"]
        guard hasRunBefore else {
            return logger.info("made a first master share, as at every first start", metadata: place)
        }
        logger.warning(
            "made a first master share, but this server has run before: if this D-TA has, stop it and restore its database",
            metadata: place)
    }

    /// The service of the RPS, and its HTTP interfaces (``Face``), one for each wire protocol.
    private struct ServiceParts: Sendable {
        let config: RelyingPartyServiceConfig
        let service: AuthenticationService
        let milagro: MilagroFace
        /// The path to D-TA 2, if clients reach it through this server.
        let gate: AuthorityGate?
        let permitAudit: PermitAudit
        let stores: [any Store]
        let shortLived: any Store
        /// Nil if the database is in memory.
        let binding: ServiceBinding?
        /// Nil if the database is in memory.
        let auditMarks: AuditMarks?
        /// Whether the database is on this machine.
        let isNear: Bool

        let openID: OpenIDFace?
        let trust: TrustFace?
        let mfa: MFAFace?
        /// The clock of the store; nil if the store is on this machine.
        let clock: StoreClock?
        let nameWatch: NameWatch

        /// All HTTP interfaces of the service. That for MIRACL Trust is the first one, because its paths begin with
        /// `/rps/`, as Milagro's do, and have CORS rules of their own.
        var faces: [any Face] {
            let faces: [(any Face)?] = [trust, mfa, milagro, openID]
            return faces.compactMap(\.self)
        }
    }

    /// The store of the RPA: that of the RPS, if they are one process and share a database or a Redis server.
    private func shortLivedStore(
        _ config: RelyingPartyApplicationConfig, _ server: ServiceParts?
    ) async throws -> any Store {
        if let server, server.config.shortLived == config.shortLived, !(server.shortLived is MemoryStore) {
            return server.shortLived
        }
        let store = try await shortLivedStore(config.shortLived)
        if let server { return bound(store, "short-lived", server.binding) }
        guard let id = parts.names.service, !(store is MemoryStore) else { return store }
        // All names of an RPA alone carry its id, so no server of the version before has written any record there.
        return BoundStore(
            store, RecordMAC(secret: config.linkKey, service: id), Binding(.complete),
            observer: refusedRecords("short-lived"))
    }

    private func makeService(_ config: RelyingPartyServiceConfig) async throws -> ServiceParts {
        let database = try await opened(config.database) { try await $0.lasting() }
        let clock = try await storeClock(database)
        var config = config
        if let clock { config.clock = { clock.now } }
        let id = try await serviceID(database, config)
        let binding = try await binding(of: database, config)
        let durable = lastingStore(database, binding, config)
        if database is SQLiteStore { try await requireNewest(durable, config) }
        let shortLived = bound(try await shortLivedStore(config.shortLived), "short-lived", binding)
        let nameWatch = try await nameWatch(id, durable, shortLived, config)
        watch(durable, shortLived, config)
        if let memory = shortLived as? MemoryStore { metrics.read { [(.shortLivedItems, [], Double(memory.count))] } }
        let limited = BudgetedStore(config.layer(shortLived), budget)
        let appID = try await durable.setting("app_id") { Hex.encode(try randomBytes(16)) }
        let authorities = config.authorities.map { TrustAuthorityClient($0, appID: appID, config) }
        let audit = ServiceAudit(config, metrics: metrics)
        let secrets = ServerSecrets(
            authorities, store: durable, place: config.database, rules: config.rules, observer: audit.note,
            logger: logger)
        let keyRing = try await ServerKeyRing(secrets)
        health.add("keys") { keyRing.keys.isUsable }
        let watch =
            config.usePermits
            ? PermitWatch(authorities, ring: keyRing, rules: config.rules, observer: audit.note, logger: logger) : nil
        await look(watch)
        let service = try await AuthenticationService(
            rules: config.rules, activationKey: config.activationKey, durable: durable,
            shortLived: limited,
            signals: try await opened(config.signals) { try await $0.signals(names: parts.names) }, keyRing: keyRing,
            permitWatch: watch,
            authorities: authorities, permission: config.permission,
            observer: audit.note)
        let openID = try await openID(config, service, durable: durable, shortLived: limited)
        let keys = openID?.provider.keys
        adminResources.withLockedValue { $0 = AdminResources(parts, config, service, durable, signingKeys: keys) }
        let trust = openID.flatMap { openID in
            parts.trust.map { settings in
                TrustFace(
                    settings, ProjectService(service, durable: durable, shortLived: limited), openID,
                    certificates: certificateKeys(config, in: durable), tokens: ProjectTokens(in: durable),
                    secretHashes: HashSeal(from: config.activationKey),
                    users: UserAdministration(in: durable, clock: config.clock), config.authorities,
                    first: authorities.first?.peer,
                    pushes: settings.pushes.map { PushSender($0, clock: config.clock, logger: logger) }, appID: appID,
                    rates: rates, metrics: metrics)
            }
        }
        try await addOwnProject(durable, config.clock)
        try await warn(ofProjects: Projects(in: durable), openID, at: config.clock())
        var milagro = MilagroFace(
            config, service: service, appID: config.legacy?.appID ?? appID, rates: rates, metrics: metrics)
        if let openID {
            milagro.authorizationCode = { try await openID.code(authOTT: $0, wid: $1) }
            milagro.proveUserID = { try await openID.provider.profiles.proveUserID($0, at: openID.provider.now) }
        }
        // The face keeps a copy of Milagro's, which does not choose.
        let mfa = trust.map { [milagro] in MFAFace(trust: $0, milagro: milagro) }
        if let mfa { milagro.choosing = { mfa.choosing($0, $1) } }
        return ServiceParts(
            config: config, service: service, milagro: milagro,
            gate: parts.gatesAuthority
                ? authorities.last.map {
                    let own = CORSPolicy.dta(config.allowOrigin)
                    return AuthorityGate(
                        authority: $0.peer, cors: (trust == nil ? own : .trustShares, own))
                } : nil,
            permitAudit: audit.permits, stores: [durable, shortLived], shortLived: shortLived,
            binding: binding,
            auditMarks: database is MemoryStore ? nil : AuditMarks(in: durable), isNear: durable.isNear, openID: openID,
            trust: trust, mfa: mfa, clock: clock, nameWatch: nameWatch)
    }

    /// The id of the service. Names in shared stores carry it from now on, unless servers of the version before use them.
    private func serviceID(_ durable: any Store, _ config: RelyingPartyServiceConfig) async throws -> ServiceID {
        do {
            let id = try await ServiceID.find(in: durable, key: config.activationKey, at: config.clock())
            if let sealed = id.sealed, sealed <= config.clock() { parts.names.carry(id.text) }
            return id
        } catch is ServiceID.ForeignKey {
            throw StartError(
                """
                \(StoreURL.shown(config.database)): its service id is bound to another key file. Give that one; or, if this \
                is a copy with keys of its own, run `mpind migrate --reseal`
                """)
        }
    }

    private func nameWatch(
        _ id: ServiceID, _ durable: any Store, _ shortLived: any Store, _ config: RelyingPartyServiceConfig
    ) async throws -> NameWatch {
        var shared: [(url: String, store: any Store)] = []
        if parts.names.service == nil {
            shared = [(config.shortLived, shortLived)]
            for url in [config.signals, parts.countersURL] where !shared.contains(where: { $0.url == url }) {
                // Of these stores only the claim is used. One that does not answer now is no reason not to start.
                if let store = try? await StoreURL(url).shortLived(names: parts.names) { shared.append((url, store)) }
            }
            shared.removeAll { $0.store is MemoryStore }
        }
        let hashes = HashSealing(durable, .own(config.activationKey))
        try await hashes.sealAll(at: config.clock())
        let watch = try await NameWatch(
            id, parts.names, durable: durable, counters: parts.counters, hashes: hashes, shared: shared,
            clock: config.clock, logger: logger)
        if !shared.isEmpty { health.add("names") { watch.isHeld } }
        return watch
    }

    /// The keys that certify signatures.
    private func certificateKeys(_ config: RelyingPartyServiceConfig, in durable: any Store) -> SigningKeys {
        SigningKeys(
            in: durable, sealKey: OpenIDConfig.sealKey(from: config.activationKey), name: "dvs_keys",
            algorithms: [.rs256], observer: metrics.observeSignature)
    }

    /// Makes the project of this server's own pages at the first start. The operator may change it.
    private func addOwnProject(_ durable: any Store, _ clock: Clock) async throws {
        guard let site = parts.trust?.site, site.browserClient != nil else { return }
        let (projects, now) = (Projects(in: durable), clock())
        guard try await projects.find(Projects.own, at: now) == nil else { return }
        var project = Project(id: Projects.own, name: site.brand.name, created: now)
        project.verification = .code
        _ = try await projects.add(project, at: now)
    }

    /// Tells of projects that only a version before has allowed, or a file of clients that was written since: the operator
    /// must choose.
    private func warn(ofProjects projects: Projects, _ openID: OpenIDFace?, at now: Moment) async throws {
        let all = try await projects.list(at: now)
        var owners: [String: [String]] = [:]
        for project in all { for client in project.clients ?? [] { owners[client, default: []].append(project.id) } }
        for (client, owners) in owners.sorted(by: { $0.key < $1.key }) where owners.count > 1 {
            logger.warning(
                "a client belongs to several projects; its secret is the credential of all their back ends",
                metadata: ["client": "\(client)", "projects": "\(owners.joined(separator: " "))"])
        }
        guard let openID else { return }
        for project in all where try await openID.provider.client(project.id) != nil {
            logger.warning(
                "a project has the id of an OpenID client; nobody can log in to it",
                metadata: ["project": "\(project.id)"])
        }
    }

    private func openID(
        _ config: RelyingPartyServiceConfig, _ service: AuthenticationService, durable: any Store,
        shortLived: any Store
    ) async throws -> OpenIDFace? {
        guard var openID = parts.openID else { return nil }
        openID.clock = config.clock
        do {
            return try await OpenIDFace(
                openID, service: service, durable: durable, shortLived: shortLived,
                key: config.activationKey, rates: rates, metrics: metrics)
        } catch let error as ClientsFileError { throw StartError("--clients: \(error)") }
    }

    /// The clock of a store on another machine, with a health check of this machine's clock. Nil if the store is here.
    fileprivate func storeClock(_ store: any Store) async throws -> StoreClock? {
        let clock: StoreClock?
        do { clock = try await StoreClock(store) } catch { throw StartError("the store's clock: \(error)") }
        if let clock {
            health.add("clock") { clock.isNearOwn }
            metrics.read { [(.clockOffset, [], -clock.seconds)] }
        }
        return clock
    }

    private func lastingStore(
        _ store: any Store, _ binding: ServiceBinding?, _ config: RelyingPartyServiceConfig
    ) -> any Store {
        readPool(of: store, "lasting")
        let metered = MeteredStore(config.layer(store), "lasting", metrics: metrics)
        return BudgetedStore(bound(metered, "lasting", binding), budget)
    }

    /// What binds the records of the service to their places. Nil if the database is in memory.
    private func binding(
        of database: any Store, _ config: RelyingPartyServiceConfig
    ) async throws -> ServiceBinding? {
        guard !(database is MemoryStore) else { return nil }
        do {
            return try await ServiceBinding(
                of: database, key: config.activationKey, mark: config.sealedMark, clock: config.clock)
        } catch { throw StartError("\(StoreURL.shown(config.database)): \(error)") }
    }

    /// Throws `StartError` if the database is older than the audit log, and the operator has not accepted that.
    private func requireNewest(_ durable: any Store, _ config: RelyingPartyServiceConfig) async throws {
        guard let place = parts.audit.place, case .sqlite(let path)? = try? StoreURL(config.database) else { return }
        let age = DatabaseAge(durable, place, name: URL(fileURLWithPath: path).lastPathComponent)
        let isMarked = config.sealedMark?.isThere ?? false
        let missing = try await age.missing(isMarked: isMarked, at: config.clock())
        guard !missing.isEmpty else { return }
        guard config.acceptsOlderDatabase else {
            let more = missing.count > 10 ? " and \(missing.count - 10) more" : ""
            throw StartError(
                "\(path): older than the audit log: wrong PINs, blocks or revocations are missing of the identities "
                    + missing.prefix(10).map { $0.prefix(16) + "…" }.joined(separator: ", ") + more
                    + "; put the newest copy back, or start once with --accept-older-database")
        }
        age.accept(missing, config.audit)
        logger.warning(
            "the database is older than the audit log, as accepted", metadata: ["identities": "\(missing.count)"])
    }

    /// A store whose records are bound to their places, and which reports those that it refuses. One in memory needs none of
    /// it.
    private func bound(_ store: any Store, _ name: String, _ binding: ServiceBinding?) -> any Store {
        guard let binding, !(store is MemoryStore) else { return store }
        return binding.bound(store, observer: refusedRecords(name))
    }

    private func refusedRecords(_ store: String) -> BoundStore.Observer {
        { [metrics, logger] place in
            metrics.count(.refusedRecords, [store, place.table])
            logger.error(
                "a record was refused: its MAC is missing or wrong",
                metadata: ["store": "\(store)", "table": "\(place.table)", "key": "\(place.shownKey)"])
        }
    }

    /// Nothing is measured of a store in this process's memory.
    private func shortLivedStore(_ url: String) async throws -> any Store {
        let store = try await opened(url) { try await $0.shortLived(names: parts.names) }
        readPool(of: store, "short-lived")
        return store is MemoryStore ? store : MeteredStore(store, "short-lived", metrics: metrics)
    }

    private func readPool(of store: any Store, _ name: String) {
        guard let store = store as? PostgresStore else { return }
        metrics.readPool(name) { store.poolUse }
    }

    /// Opens the store, signals or counters that the URL names. Throws `StartError`.
    fileprivate func opened<Engine>(_ url: String, _ open: (StoreURL) async throws -> Engine) async throws -> Engine {
        do { return try await open(StoreURL(url)) } catch { throw StartError("\(StoreURL.shown(url)): \(error)") }
    }

    /// Checks the D-TAs' time permits for the first time, and adds their state to the health checks.
    private func look(_ watch: PermitWatch?) async {
        guard let watch else { return }
        await watch.check()
        health.add("permits") { watch.isRight }
    }

    /// Adds health checks: the server is ready if its stores can be written.
    private func watch(_ store: any Store, _ shortLived: any Store, _ config: RelyingPartyServiceConfig) {
        health.add("store") { (try? await store.check(at: config.clock())) != nil }
        // One in memory cannot fail.
        if !shortLived.isNear {
            health.add("short-lived") { (try? await shortLived.check(at: config.clock())) != nil }
        }
    }

    /// Makes one listener for each address. RPS and RPA share a listener if they have the same address.
    private func publicListeners(
        _ rps: ServiceParts?, _ rpa: RelyingPartyApplication?, _ readiness: Readiness
    ) throws -> [any Service] {
        try publicAddresses.map { address in
            let rps = rps?.config.listen == address ? rps : nil
            let rpa = rpa?.config.listen == address ? rpa : nil
            // Without a website at the same address, the provider's pages need the website's files from here.
            let alone = rpa == nil ? rps?.openID : nil
            let routes =
                (rps?.faces.flatMap(\.publicRoutes) ?? []) + (rpa?.publicRoutes ?? []) + (alone?.siteRoutes ?? [])
                + (rps?.gate?.routes ?? [])
            return try Listener(
                "public", address, edge: edge(address, limits), rates: rates, servesLogins: true, readiness: readiness,
                logger: logger,
                table: RouteTable(
                    routes, cors: rpa.map { .rpa($0.config.allowOrigin) },
                    errors: (rpa?.config.site ?? alone?.config.site)?.errorPage, limit: .other))
        }
    }

    private func privateListeners(
        _ rps: ServiceParts?, _ rpa: RelyingPartyApplication?, _ readiness: Readiness
    ) throws -> [any Service] {
        try privateAddresses.map { address in
            if !address.isLoopback, let rps, rps.config.privateListen == address, !rps.config.privateNeedsToken {
                throw StartError("\(address): a private listener that other machines reach needs --rpa-key-file")
            }
            let edge = address.isLoopback ? edge(address, limits).inside : edge(address, limits)
            let isOpen = rps.map { $0.config.privateListen == address && $0.config.rpaKey == nil } ?? false
            let faces = rps?.config.privateListen == address ? rps?.faces ?? [] : []
            let routes =
                faces.flatMap { $0.privateRoutes + (isOpen ? $0.publicRoutes : []) }
                + (rpa?.config.privateListen == address ? rpa?.privateRoutes ?? [] : [])
            return try Listener(
                "private", address, edge: edge, servesLogins: isOpen, readiness: readiness, logger: logger,
                table: RouteTable(routes, limit: .inside))
        }
    }

    private func adminListener(_ readiness: Readiness) throws -> Listener? {
        guard let address = parts.adminListen else { return nil }
        let gate = AdminGate(address, adminResources, parts, rates: rates, metrics: metrics)
        let watching = AdminRoutes(hosts: OwnHosts(address), health: health, metrics: metrics, watch: watch)
        return try Listener(
            "admin", address, edge: edge(address, limits).inside, readiness: readiness, logger: logger,
            table: RouteTable(watching.routes + (parts.rps == nil ? [] : gate.routes), limit: .inside))
    }

    private func healthListener(_ readiness: Readiness) throws -> Listener? {
        guard let address = parts.healthListen else { return nil }
        var limits = limits
        limits.connections = min(limits.connections, limits.connectionsPerAddress)
        return try Listener(
            "health", address, edge: Edge(exposure: parts.exposure, limits: limits, metrics: metrics, watch: watch),
            readiness: readiness, logger: logger,
            table: RouteTable(HealthRoutes(health: RecentHealth(health)).routes, limit: .inside))
    }

    fileprivate var clock: Clock { parts.rps?.clock ?? parts.rpa?.clock ?? Moment.now }
    fileprivate var limits: Limits { parts.limits }
    private var names: [String] {
        parts.authorities.map(\.name) + (parts.rps == nil ? [] : ["rps"]) + (parts.rpa == nil ? [] : ["rpa"])
    }
    /// The URL that the log names when the process is ready: that of the website, else of the RPS, else of the first
    /// D-TA.
    private var url: String {
        if let rpa = parts.rpa { return rpa.site.publicURL }
        let listen = parts.rps?.listen ?? parts.authorities.first?.listen
        return listen.map(parts.exposure.url) ?? ""
    }
    private var publicAddresses: [ListenAddress] { parts.publicAddresses }
    private var privateAddresses: [ListenAddress] { parts.privateAddresses }
    private var listenerCount: Int {
        parts.authorities.count + publicAddresses.count + privateAddresses.count
            + parts.watchAddresses.count
    }

    private func edge(_ address: ListenAddress, _ limits: Limits) -> Edge {
        Edge(
            exposure: parts.gatesAuthority && !publicAddresses.contains(address) ? .loopback : parts.exposure,
            limits: limits, metrics: metrics, watch: watch)
    }
}

/// Checks the signing keys regularly: makes those that are due, and reads those that another server has made.
private struct SigningKeyWatch: Service {
    private static let seconds = 60

    let provider: OpenIDProvider
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: .seconds(Self.seconds))
                do { try await provider.keys.refresh(at: provider.now) } catch {
                    logger.error("the signing keys cannot be checked", metadata: ["error": "\(error)"])
                }
            }
        }
    }
}

/// Deletes expired items regularly.
private struct Collector: Service {
    let stores: [any Store]
    let permitAudit: PermitAudit?
    let daemon: Daemon
    let clock: Clock

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: .seconds(daemon.limits.collectSeconds))
                permitAudit?.sumUp(isEnd: false)
                for store in stores where !store.expiresByItself { await collect(store) }
            }
        }
    }

    /// Deletes the expired items of one store. An error is logged, and other stores are not affected.
    private func collect(_ store: any Store) async {
        do {
            let count = try await store.collectAll(at: clock())
            daemon.logger.debug("collected expired items", metadata: ["count": "\(count)"])
        } catch {
            daemon.logger.error("collecting expired items failed", metadata: ["error": "\(error)"])
        }
    }
}
