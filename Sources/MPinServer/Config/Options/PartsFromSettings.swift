import Foundation
import MPinOpenID
import MPinSecrets
import MPinService
import MPinStore

/// Makes the parts of a process from its settings. Reads key files and makes folders.
extension Settings {
    package func parts() throws -> Parts {
        try check()
        var parts =
            switch part {
            case .serve: try allInOneParts()
            case .dta: try authorityParts()
            case .rps: try serviceParts()
            case .rpa: try applicationParts()
            }
        parts.exposure = try exposure()
        parts.rates = rates()
        parts.counters = try StoreURL(self[ServerOptions.counters]).counters()
        parts.adminListen = try adminListen()
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
            let icon = application.publicURL + application.brand.icon.path
            if self[ServerOptions.serviceIconURL] == nil { parts.rps?.serviceIconURL = icon }
            parts.openID = try openID(application)
            parts.trust = try trust(application, parts.openID)
        }
        return parts
    }

    /// Returns the settings of the OpenID provider, whose pages look like the website's. Nil if there is no `--issuer`
    /// and the website's URL cannot be an issuer, for example because it is http.
    private func openID(_ website: RelyingPartyApplicationConfig) throws -> OpenIDConfig? {
        let issuer = self[ServerOptions.issuer]
        var config = try? OpenIDConfig(issuer: issuer ?? website.publicURL, website: website)
        if let issuer, config == nil { config = try OpenIDConfig(issuer: issuer, website: website) }
        config?.clients = try clientsFile()
        return config
    }

    /// Returns the settings for clients of MIRACL Trust. Their tokens are signed by the OpenID provider's keys. Nil if
    /// they are not served: by `--trust=false`, or because something is missing and nobody has asked for them.
    private func trust(
        _ website: RelyingPartyApplicationConfig, _ openID: OpenIDConfig?
    ) throws(StartError) -> TrustConfig? {
        switch self[ServerOptions.trust] {
        case false?: return nil
        case nil: return openID == nil ? nil : try? TrustConfig(website)
        case true?:
            guard openID != nil else { throw StartError("--trust needs an OpenID provider: --issuer or --public-url") }
            return try TrustConfig(website)
        }
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
        do { _ = try databaseURL(text).file() } catch { throw StartError("--database \(text): \(error)") }
        return text
    }

    func databaseURL(_ text: String) throws(StartError) -> StoreURL {
        do { return try StoreURL(text) } catch { throw StartError("--database \(text): \(error)") }
    }

    private func serviceParts() throws -> Parts {
        let rpaKey = self[ServerOptions.rpaKeyFile] == nil ? nil : try key(ServerOptions.rpaKeyFile)
        var config = RelyingPartyServiceConfig(
            listen: try address(ServerOptions.listen, "127.0.0.1:8010"),
            privateListen: try address(ServerOptions.privateListen, "127.0.0.1:8011"),
            database: try database(), activationKey: try key(ServerOptions.keyFile),
            authorities: try authorityLinks(), verifyURL: self[ServerOptions.verifyURL], rpaKey: rpaKey)
        config.legacy = try legacy()
        config.privateNeedsToken = rpaKey != nil
        config.authenticateURL = self[ServerOptions.authenticateURL]
        apply(to: &config.limits)
        try apply(to: &config)
        config.audit = try audit("rps")
        var parts = Parts()
        parts.audit = config.audit
        parts.rps = config
        return parts
    }

    private func applicationParts() throws -> Parts {
        let listen = try address(ServerOptions.listen, "127.0.0.1:8005")
        let delivery = try requiredDelivery()
        if case .folder(let folder) = delivery { try makeFolder(folder) }
        var config = RelyingPartyApplicationConfig(
            listen: listen, privateListen: try address(ServerOptions.privateListen, "127.0.0.1:8012"),
            publicURL: try self[ServerOptions.publicURL]?.withoutSlashAtEnd ?? exposure().url(listen),
            rpsPrivateURL: self[ServerOptions.rpsPrivateURL], linkKey: try key(ServerOptions.keyFile),
            rpsKey: self[ServerOptions.rpsKeyFile] == nil ? nil : try key(ServerOptions.rpsKeyFile),
            delivery: delivery)
        config.allowOrigin = self[ServerOptions.allowOrigin]
        config.prefix = self[ServerOptions.prefix]
        config.rpsURL = self[ServerOptions.rpsURL]
        config.revokedUsersFile = self[ServerOptions.revokedUsers]
        config.reportLoginResult = self[ServerOptions.waitForLoginResult]
        try apply(to: &config)
        apply(to: &config.limits)
        var parts = Parts()
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
    do { return try KeyFile.load(path) } catch {
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
