import Foundation
import MPinOpenID
import MPinSecrets
import MPinService
package import MPinStore

/// Makes the parts of a process from its settings. Reads key files and makes folders.
extension Settings {
    /// `now` is what the clock of this machine shows.
    package func parts(at now: Moment = .now()) throws -> Parts {
        try check()
        try checkFoldersAbove()
        guard now.isOfMachine else { throw StartError("the clock of this machine says \(now.iso): set it first") }
        var parts =
            switch part {
            case .serve: try allInOneParts()
            case .dta: try authorityParts()
            case .rps: try serviceParts()
            case .rpa: try applicationParts()
            }
        parts.exposure = try exposure()
        parts.rates = rates()
        parts.countersURL = self[ServerOptions.counters]
        parts.counters = try StoreURL(parts.countersURL).counters(names: parts.names)
        parts.adminListen = try adminListen()
        parts.healthListen = try healthListen()
        return parts
    }

    private func allInOneParts() throws -> Parts {
        var all = AllInOne(stateFolder: try require(ServerOptions.stateDir))
        all.host = self[ServerOptions.host]
        all.port = self[ServerOptions.publicPort]
        all.privatePort = self[ServerOptions.privatePort]
        all.dta1Port = self[ServerOptions.dta1Port]
        all.dta2Port = self[ServerOptions.dta2Port]
        all.publicURL = self[ServerOptions.publicURL]?.withoutSlashAtEnd
        all.allowOrigin = self[ServerOptions.allowOrigin]
        all.exposure = try exposure()
        all.delivery = try delivery()
        all.revokedUsersFile = self[ServerOptions.revokedUsers]
        all.auditPlace = try auditPlace()
        all.auditUsers = auditUsers
        all.auditFileBytes = auditFileBytes
        apply(to: &all.limits)
        var parts = try all.parts()
        if var service = parts.rps {
            if self[ServerOptions.database] != nil { service.database = try database() }
            try apply(to: &service)
            parts.rps = service
            parts.rpa?.prefix = service.prefix
            parts.rpa?.reportLoginResult = service.waitForLoginResult
        }
        if var application = parts.rpa {
            try apply(to: &application)
            parts.rpa = application
            let icon = application.site.publicURL + application.site.brand.icon.path
            if self[ServerOptions.serviceIconURL] == nil { parts.rps?.serviceIconURL = icon }
            try addFaces(to: &parts, application.site)
            try addBrowserClient(to: &parts)
            parts.rpa?.settingsURL = parts.openID?.accountURL
        }
        return parts
    }

    /// Adds the client for browsers to the pages. It talks to the server for clients of MIRACL Trust, and only to this
    /// origin, so it reaches D-TA 2 through the public listener.
    private func addBrowserClient(to parts: inout Parts) throws {
        guard let (client, isWanted) = try browserClient(), var site = parts.rpa?.site else { return }
        guard parts.trust != nil else {
            guard !isWanted else { throw StartError("--browser-client needs --trust, mails and an OpenID provider") }
            return
        }
        site.browserClient = client
        parts.rpa?.site = site
        parts.gatesAuthority = true
        if let last = parts.rps?.authorities.indices.last {
            parts.rps?.authorities[last].publicURL = AuthorityGate.path
        }
        try addFaces(to: &parts, site)
    }

    /// Adds the OpenID provider and the server for clients of MIRACL Trust, which run beside an RPS.
    private func addFaces(to parts: inout Parts, _ site: SiteConfig) throws {
        guard let service = parts.rps else { return }
        parts.openID = try openID(site, service)
        parts.trust = try trust(site, service, parts.openID)
    }

    /// Returns the settings of the OpenID provider. Nil if there is no `--issuer` and the site's URL cannot be an issuer,
    /// for example because it is http.
    private func openID(_ site: SiteConfig, _ service: RelyingPartyServiceConfig) throws -> OpenIDConfig? {
        let issuer = self[ServerOptions.issuer]
        var config = try? OpenIDConfig(issuer: issuer ?? site.publicURL, site: site, service: service)
        if let issuer, config == nil { config = try OpenIDConfig(issuer: issuer, site: site, service: service) }
        config?.clients = try clientsFile()
        return config
    }

    /// Returns the settings for clients of MIRACL Trust. Their tokens are signed by the OpenID provider's keys. Nil if
    /// they are not served: by `--trust=false`, or because something is missing and nobody has asked for them.
    private func trust(
        _ site: SiteConfig, _ service: RelyingPartyServiceConfig, _ openID: OpenIDConfig?
    ) throws -> TrustConfig? {
        let wish = self[ServerOptions.trust]
        guard wish ?? (site.delivery != .forceActivate) else { return nil }
        guard let openID else {
            guard wish == nil, self[ServerOptions.pushURL] == nil else {
                throw StartError("--trust needs an OpenID provider: --issuer or --public-url")
            }
            return nil
        }
        // The website of an RPA elsewhere does not forward these clients' requests, but the issuer leads to the RPS.
        let baseURL = part == .rps ? openID.origin : site.publicURL
        var config = TrustConfig(site, service: service, baseURL: baseURL)
        config.pushes = try pushTarget()
        return config
    }

    private func pushTarget() throws -> PushTarget? {
        guard let url = self[ServerOptions.pushURL] else { return nil }
        return PushTarget(url: url, key: try key(ServerOptions.pushKeyFile))
    }

    func clientsFile() throws -> ClientsFile {
        guard let path = self[ServerOptions.clients] else { return .none }
        do { return try ClientsFile(reading: path, at: .now()) } catch { throw StartError("--clients: \(error)") }
    }

    private func authorityParts() throws -> Parts {
        var config = TrustAuthorityConfig(
            name: self[ServerOptions.name], listen: try address(ServerOptions.listen, "127.0.0.1:8001"),
            database: try shareDatabase(), seal: try seal(),
            requestKey: try key(ServerOptions.rpsKeyFile))
        config.legacy = try legacy()
        config.allowOrigin = self[ServerOptions.allowOrigin]
        apply(to: &config.limits)
        var parts = Parts()
        parts.names.carry(ServiceID.derived(from: config.requestKey, part: "dta"))
        parts.audit = try audit(config.name)
        parts.authorities = [config]
        return parts
    }

    /// The URL of the database of an RPS or a D-TA. It is parsed here, so that a wrong URL is found before the start.
    private func database() throws -> String {
        let text = try require(ServerOptions.database)
        _ = try databaseURL(text)
        return text
    }

    /// The URL of the database of a D-TA, which must be a file: if the master shares were lost, all users would have to
    /// register again.
    private func shareDatabase() throws -> String {
        let text = try database()
        do { _ = try databaseURL(text).file() } catch {
            throw StartError("--database \(StoreURL.shown(text)): \(error)")
        }
        return text
    }

    func databaseURL(_ text: String) throws(StartError) -> StoreURL {
        do {
            let url = try StoreURL(text)
            try url.require(.lasting)
            return url
        } catch { throw StartError("--database \(StoreURL.shown(text)): \(error)") }
    }

    private func serviceParts() throws -> Parts {
        let rpaKey = self[ServerOptions.rpaKeyFile] == nil ? nil : try key(ServerOptions.rpaKeyFile)
        var config = RelyingPartyServiceConfig(
            listen: try address(ServerOptions.listen, "127.0.0.1:8010"),
            privateListen: try address(ServerOptions.privateListen, "127.0.0.1:8011"),
            database: try database(), activationKey: try key(ServerOptions.keyFile),
            authorities: try authorityLinks(), verifyURL: self[ServerOptions.verifyURL], rpaKey: rpaKey)
        config.sealedMark = self[ServerOptions.keyFile].map(SealedMark.init)
        config.legacy = try legacy()
        config.privateNeedsToken = rpaKey != nil
        config.authenticateURL = self[ServerOptions.authenticateURL]
        apply(to: &config.limits)
        try apply(to: &config)
        config.audit = try audit("rps")
        var parts = Parts()
        parts.audit = config.audit
        parts.rps = config
        if let site = try providerSite() { try addFaces(to: &parts, site) }
        return parts
    }

    /// Returns how the pages and mails of an RPS's OpenID provider look. Nil if it has none.
    private func providerSite() throws -> SiteConfig? {
        guard let issuer = self[ServerOptions.issuer] else { return nil }
        let publicURL = self[ServerOptions.publicURL] ?? issuer
        var site = SiteConfig(publicURL: publicURL.withoutSlashAtEnd, delivery: try folderedDelivery())
        try apply(to: &site)
        return site
    }

    private func applicationParts() throws -> Parts {
        let listen = try address(ServerOptions.listen, "127.0.0.1:8005")
        let site = SiteConfig(
            publicURL: try self[ServerOptions.publicURL]?.withoutSlashAtEnd ?? exposure().url(listen),
            delivery: try folderedDelivery())
        var config = RelyingPartyApplicationConfig(
            listen: listen, privateListen: try address(ServerOptions.privateListen, "127.0.0.1:8012"), site: site,
            rpsPrivateURL: self[ServerOptions.rpsPrivateURL], linkKey: try key(ServerOptions.keyFile),
            rpsKey: self[ServerOptions.rpsKeyFile] == nil ? nil : try key(ServerOptions.rpsKeyFile))
        config.allowOrigin = self[ServerOptions.allowOrigin]
        config.prefix = self[ServerOptions.prefix]
        config.rpsURL = self[ServerOptions.rpsURL]
        config.settingsURL = self[ServerOptions.issuer].map { OpenIDConfig.accountURL(issuer: $0) }
        config.reportLoginResult = self[ServerOptions.waitForLoginResult]
        try apply(to: &config)
        apply(to: &config.limits)
        var parts = Parts()
        parts.names.carry(ServiceID.derived(from: config.linkKey, part: "rpa"))
        config.audit = try audit("rpa")
        parts.audit = config.audit
        parts.rpa = config
        return parts
    }

    private func address(_ option: ServerOption<String?>, _ fallback: String) throws -> ListenAddress {
        try ListenAddress(self[option] ?? fallback)
    }

    /// The key or passphrase that seals the master shares of a D-TA.
    private func seal() throws -> Seal {
        guard let path = self[ServerOptions.passphraseFile] else { return .key(try key(ServerOptions.keyFile)) }
        return .passphrase(try SecretFile.loadPassphrase(path))
    }

    private func legacy() throws -> LegacyCredentials? {
        try self[ServerOptions.legacySignatures].map(LegacyCredentials.load)
    }

    private func key(_ option: ServerOption<String?>) throws -> SecretBytes { try loadKey(try require(option)) }

    func requiredDelivery() throws -> MailDelivery {
        guard let delivery = try delivery() else {
            throw StartError("no way to confirm identities: give --mail-dir or --smtp-url")
        }
        return delivery
    }

    /// How mails are delivered. Makes the folder for them, if they are files.
    private func folderedDelivery() throws -> MailDelivery {
        let delivery = try requiredDelivery()
        if case .folder(let folder) = delivery { try makeFolder(folder) }
        return delivery
    }

    /// How mails are delivered; nil if no option says it.
    func delivery() throws -> MailDelivery? {
        if self[ServerOptions.forceActivate] { return .forceActivate }
        switch (self[ServerOptions.mailDir], self[ServerOptions.smtpURL]) {
        case (let folder?, nil): return .folder(folder)
        case (nil, let url?):
            guard let from = self[ServerOptions.mailFrom] else { throw StartError("--smtp-url needs --mail-from") }
            return .smtp(
                url: url, from: from, user: self[ServerOptions.smtpUser], password: self[ServerOptions.smtpPassword])
        case (_?, _?): throw StartError("give either --mail-dir or --smtp-url")
        case (nil, nil): return nil
        }
    }
}

/// Reads a key from a file that must exist. A new key is never made in its place, because it could not decrypt or
/// verify old data.
func loadKey(_ path: String) throws -> SecretBytes {
    do { return try KeyFile.loadOfServer(path) } catch {
        guard case .system(_, ENOENT) = error else { throw error }
        throw StartError("\(path): No such file or directory; `mpind keys new \(path)` makes a new key")
    }
}

extension String {
    /// The URL without slashes at its end, so that a path can be added. With a double slash it would be another path:
    /// `//rps/` is not `/rps/` (wire section 17, defect 15).
    var withoutSlashAtEnd: String {
        var text = self
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }
}
