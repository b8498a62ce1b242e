import Glibc
import MPinSecrets

/// All parts in one process, each with its own keys and its own database in one folder, speaking HTTP with each other
/// as separate processes would.
package struct AllInOne: Sendable {
    /// Created with mode 0700 where it does not exist; databases and keys lie in it.
    package var stateFolder: String
    package var host = "127.0.0.1"
    package var port = 8005
    package var privatePort = 8011
    package var dta1Port = 8001
    package var dta2Port = 8002
    /// Nil: mails go to the folder `mail` in the state folder.
    package var delivery: MailDelivery?
    /// Nil: the URL of the public listener.
    package var publicURL: String?
    package var maxAttempts = 3
    package var block = AttemptPolicy.Block.permanent
    package var usePermits = true
    package var allowOrigin = ["*"]
    package var limits = Limits()
    package var clock: Clock = Moment.now

    package init(stateFolder: String) { self.stateFolder = stateFolder }

    /// Makes what is missing in the state folder and puts the parts together.
    package func parts() throws -> Parts {
        try makeFolder(stateFolder)
        let listen = try ListenAddress(host: host, port: port)
        let privateListen = try ListenAddress(host: host, port: privatePort)
        let dta1 = try authority("dta1", port: dta1Port)
        let dta2 = try authority("dta2", port: dta2Port)
        let rpaKey = try key("rps-rpa")
        var rps = RelyingPartyServiceConfig(
            listen: listen, privateListen: privateListen, database: path("rps.sqlite"), activationKey: try key("rps"),
            dta1: TrustAuthorityLink(url: dta1.listen.url, requestKey: dta1.requestKey),
            dta2: TrustAuthorityLink(url: dta2.listen.url, requestKey: dta2.requestKey),
            dta2PublicURL: dta2.listen.url, verifyURL: privateListen.url + "/mpinVerify", rpaKey: rpaKey)
        rps.maxAttempts = maxAttempts
        rps.attempts.block = block
        rps.usePermits = usePermits
        rps.allowOrigin = allowOrigin
        rps.limits = limits
        rps.clock = clock
        var rpa = RelyingPartyApplicationConfig(
            listen: listen, privateListen: privateListen, publicURL: publicURL ?? listen.url,
            rpsPrivateURL: privateListen.url, linkKey: try key("rpa"), rpsKey: rpaKey, delivery: try mailDelivery())
        rpa.limits = limits
        rpa.clock = clock
        var parts = Parts()
        parts.authorities = [dta1, dta2]
        parts.rps = rps
        parts.rpa = rpa
        return parts
    }

    private func authority(_ name: String, port: Int) throws -> TrustAuthorityConfig {
        var config = TrustAuthorityConfig(
            name: name, listen: try ListenAddress(host: host, port: port), database: path(name + ".sqlite"),
            sealKey: try key(name), requestKey: try key("rps-" + name))
        config.clock = clock
        return config
    }

    private func mailDelivery() throws -> MailDelivery {
        let delivery = delivery ?? .folder(path("mail"))
        if case .folder(let folder) = delivery { try makeFolder(folder) }
        return delivery
    }

    private func key(_ name: String) throws -> SecretBytes { try KeyFile.loadOrCreate(path(name + ".key")) }

    private func path(_ name: String) -> String { "\(stateFolder)/\(name)" }
}

/// Creates a folder that nobody else can look into, and the folders above it, where there is none.
package func makeFolder(_ path: String) throws {
    guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
    if errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
        try makeFolder(String(path[..<slash]))
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
    }
    throw StartError("\(path): \(String(cString: strerror(errno)))")
}
