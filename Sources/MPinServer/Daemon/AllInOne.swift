import Foundation
import MPinSecrets
package import MPinService
package import MPinStore

/// Makes the configuration of all parts in one process. Each part has its own keys and database, all in one folder. The
/// parts use HTTP between each other, as separate processes do.
package struct AllInOne: Sendable {
    /// The folder of databases and keys. It is created with mode 0700 if it does not exist.
    package var stateFolder: String
    package var host = "127.0.0.1"
    package var port = 8005
    package var privatePort = 8011
    package var dta1Port = 8001
    package var dta2Port = 8002
    /// How mails are delivered. Nil: they are written as files into the folder `mail` of the state folder.
    package var delivery: MailDelivery?
    /// The base URL for clients; nil: that of the public listener.
    package var publicURL: String?
    package var maxAttempts = 3
    package var block = AttemptPolicy.Block.permanent
    package var usePermits = true
    /// The file of users who may no longer log in (``SiteConfig/revokedUsersFile``).
    package var revokedUsersFile: String?
    /// Origins of other sites' pages that may call this server.
    package var allowOrigin: [String] = []
    package var exposure = Exposure.loopback
    package var rates = RateLimits.standard
    package var adminListen: ListenAddress?
    /// The files of the audit log; nil: it is in the state folder.
    package var auditPlace: AuditPlace?
    /// How the audit log names users.
    package var auditUsers = AuditPlace.Users.plain
    /// Bytes at which a new file of the audit log is begun; nil: never.
    package var auditFileBytes: Int?
    package var limits = Limits()
    package var clock: Clock = Moment.now

    package init(stateFolder: String) { self.stateFolder = stateFolder }

    /// Creates missing files in the state folder, and makes the parts.
    package func parts() throws -> Parts {
        try makeFolder(stateFolder)
        let listen = try ListenAddress(host: host, port: port)
        try exposure.require(listen)
        let privateListen = try ListenAddress(host: insideHost, port: privatePort)
        let publicURL = publicURL ?? exposure.url(listen)
        let dta1 = try authority("dta1", port: dta1Port, publicURL)
        let dta2 = try authority("dta2", port: dta2Port, publicURL)
        let rpaKey = try key("rps-rpa")
        let audit = try audit()
        var rps = RelyingPartyServiceConfig(
            listen: listen, privateListen: privateListen, database: path("rps.sqlite"), activationKey: try key("rps"),
            authorities: [
                TrustAuthorityLink(name: "D-TA 1", index: 1, url: dta1.listen.url, requestKey: dta1.requestKey),
                TrustAuthorityLink(
                    name: "D-TA 2", index: 2, url: dta2.listen.url,
                    publicURL: isExposed ? AuthorityGate.path : dta2.listen.url, requestKey: dta2.requestKey),
            ],
            verifyURL: privateListen.url + "/mpinVerify", rpaKey: rpaKey)
        rps.sealedMark = SealedMark(keyFile: path("rps.key"))
        rps.maxAttempts = maxAttempts
        rps.attempts.block = block
        rps.usePermits = usePermits
        rps.allowOrigin = allowOrigin
        rps.permitURL = revokedUsersFile.map { _ in privateListen.url + "/mpinPermitUser" }
        rps.mobileUseNative = true
        rps.serviceName = "M-Pin"
        rps.serviceIconURL = publicURL + "/icon.svg"
        rps.limits = limits
        rps.clock = clock
        rps.audit = audit.of("rps")
        var site = SiteConfig(publicURL: publicURL, delivery: try mailDelivery())
        site.revokedUsersFile = revokedUsersFile
        var rpa = RelyingPartyApplicationConfig(
            listen: listen, privateListen: privateListen, site: site, rpsPrivateURL: privateListen.url,
            linkKey: try key("rpa"), rpsKey: rpaKey)
        rpa.allowOrigin = allowOrigin
        if delivery == nil { rpa.mailNotice = Self.mailNotice }
        rpa.limits = limits
        rpa.clock = clock
        rpa.audit = audit.of("rpa")
        var parts = Parts()
        parts.authorities = [dta1, dta2]
        parts.rps = rps
        parts.rpa = rpa
        parts.exposure = exposure
        parts.rates = rates
        parts.adminListen = adminListen
        parts.gatesAuthority = isExposed
        parts.audit = audit
        return parts
    }

    private static let mailNotice =
        "This server sends no mails yet: its operator finds the link as a file in the folder mail of the state folder."

    private var isExposed: Bool { if case .loopback = exposure { false } else { true } }

    /// The host for requests between the parts. If other machines can reach the server, it is a loopback address, and
    /// clients reach D-TA 2 only through the public listener.
    private var insideHost: String { isExposed ? "127.0.0.1" : host }

    private func authority(_ name: String, port: Int, _ publicURL: String) throws -> TrustAuthorityConfig {
        var config = TrustAuthorityConfig(
            name: name, listen: try ListenAddress(host: insideHost, port: port), database: path(name + ".sqlite"),
            seal: .key(try key(name)), requestKey: try key("rps-" + name))
        // This server's pages fetch shares from the D-TA's port, which browsers treat as another origin.
        config.allowOrigin = allowOrigin + [origin(of: publicURL)].compactMap(\.self)
        config.limits = limits
        config.clock = clock
        return config
    }

    /// The origin of a URL: `https://host:port`.
    private func origin(of url: String) -> String? {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme, let host = parts.host else {
            return nil
        }
        return "\(scheme)://\(host)" + (parts.port.map { ":\($0)" } ?? "")
    }

    /// Opens one audit log for all parts. Its key is not in the log's folder, but in the folder above it.
    private func audit() throws -> Audit {
        if let auditPlace { return try audit(auditPlace) }
        try makeFolder(path("audit"))
        _ = try key("audit")
        return try audit(AuditPlace(stateDir: stateFolder, users: auditUsers))
    }

    private func audit(_ place: AuditPlace) throws -> Audit {
        Audit(try AuditLog(place, fileBytes: auditFileBytes, clock: clock), part: "mpind")
    }

    private func mailDelivery() throws -> MailDelivery {
        let delivery = delivery ?? .folder(path("mail"))
        if case .folder(let folder) = delivery { try makeFolder(folder) }
        return delivery
    }

    private func key(_ name: String) throws -> SecretBytes {
        _ = try KeyFile.loadOrCreate(path(name + ".key"))
        return try KeyFile.loadOfServer(path(name + ".key"))
    }

    private func path(_ name: String) -> String { "\(stateFolder)/\(name)" }
}

/// The folder of a file.
package func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// Creates a folder that only its owner can read, and the folders above it, unless it exists.
package func makeFolder(_ path: String) throws {
    guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
    if errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
        try makeFolder(String(path[..<slash]))
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
    }
    throw StartError("\(path): \(String(cString: strerror(errno)))")
}
