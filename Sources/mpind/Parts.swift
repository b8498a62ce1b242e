import ArgumentParser
import MPinSecrets
import MPinServer

struct RunDTA: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run one trust authority (the default).",
        discussion: "Key files are made by `mpind keys new`; the database is created where it does not exist.")

    @Option(help: "HOST:PORT to listen on.")
    var listen = "127.0.0.1:8001"

    @Option(help: "SQLite file of the sealed master shares.")
    var database: String

    @OptionGroup var seal: SealOptions

    @Option(help: "Key file shared with the RPS and nobody else.")
    var rpsKeyFile: String

    @OptionGroup var legacy: LegacyOptions

    @Option(help: "Name in the log.")
    var name = "dta"

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await serve(level: common.logLevel) {
            var config = TrustAuthorityConfig(
                name: name, listen: try ListenAddress(listen), database: database, seal: try seal.seal(),
                requestKey: try KeyFile.load(rpsKeyFile))
            config.legacy = try legacy.credentials()
            var parts = Parts()
            parts.authorities = [config]
            return parts
        }
    }
}

struct RPS: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rps", abstract: "Run the relying party service: registration and authentication.")

    @Option(help: "HOST:PORT for clients.")
    var listen = "127.0.0.1:8010"

    @Option(help: "HOST:PORT for the RPA.")
    var privateListen = "127.0.0.1:8011"

    @Option(help: "SQLite file of registrations and logins.")
    var database: String

    @Option(help: "Key file that makes activation keys.")
    var keyFile: String

    @Option(name: .customLong("dta1-url"), help: "Base URL of D-TA 1.")
    var dta1URL = "http://127.0.0.1:8001"

    @Option(name: .customLong("dta1-key-file"), help: "Key file shared with D-TA 1.")
    var dta1KeyFile: String

    @Option(name: .customLong("dta2-url"), help: "Base URL of D-TA 2.")
    var dta2URL = "http://127.0.0.1:8002"

    @Option(name: .customLong("dta2-key-file"), help: "Key file shared with D-TA 2.")
    var dta2KeyFile: String

    @Option(name: .customLong("dta2-public-url"), help: "Base URL of D-TA 2 for clients. (default: --dta2-url)")
    var dta2PublicURL: String?

    @Option(help: "URL of the RPA's /mpinVerify.")
    var verifyURL = "http://127.0.0.1:8012/mpinVerify"

    @Option(
        help: "Key file shared with the RPA; both directions then carry a token. Without it none is sent or asked for.")
    var rpaKeyFile: String?

    @Option(help: "authenticateURL for clients, as path behind their base URL or as whole URL.")
    var authenticateURL = "/mpinAuthenticate"

    @Option(help: "Path prefix of the public endpoints.")
    var prefix = "rps"

    @OptionGroup var legacy: LegacyOptions
    @OptionGroup var login: LoginOptions
    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await serve(level: common.logLevel) {
            var parts = Parts()
            parts.rps = try config()
            return parts
        }
    }

    private func config() throws -> RelyingPartyServiceConfig {
        let rpaKey = try rpaKeyFile.map { path throws in try KeyFile.load(path) }
        var config = RelyingPartyServiceConfig(
            listen: try ListenAddress(listen), privateListen: try ListenAddress(privateListen), database: database,
            activationKey: try KeyFile.load(keyFile),
            dta1: TrustAuthorityLink(url: dta1URL, requestKey: try KeyFile.load(dta1KeyFile)),
            dta2: TrustAuthorityLink(url: dta2URL, requestKey: try KeyFile.load(dta2KeyFile)),
            dta2PublicURL: dta2PublicURL ?? dta2URL, verifyURL: verifyURL, rpaKey: rpaKey)
        config.legacy = try legacy.credentials()
        config.privateNeedsToken = rpaKey != nil
        config.authenticateURL = authenticateURL
        config.prefix = prefix
        config.maxAttempts = login.maxAttempts
        config.usePermits = !login.noTimePermits
        config.allowOrigin = login.allowOrigin
        return config
    }
}

struct RPA: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rpa", abstract: "Run the relying party application: mails, activation page, login verdicts.")

    @Option(help: "HOST:PORT for clients and browsers.")
    var listen = "127.0.0.1:8005"

    @Option(help: "HOST:PORT for the RPS.")
    var privateListen = "127.0.0.1:8012"

    @Option(help: "Base URL of links in mails. (default: http:// and --listen)")
    var publicURL: String?

    @Option(help: "Base URL of the RPS's private listener.")
    var rpsPrivateURL = "http://127.0.0.1:8011"

    @Option(help: "Key file that signs activation links.")
    var keyFile: String

    @Option(help: "Key file shared with the RPS.")
    var rpsKeyFile: String

    @OptionGroup var mail: MailOptions
    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await serve(level: common.logLevel) {
            let address = try ListenAddress(listen)
            guard let delivery = try mail.delivery() else {
                throw StartError("no way to confirm identities: give --mail-dir or --smtp-url")
            }
            var parts = Parts()
            parts.rpa = RelyingPartyApplicationConfig(
                listen: address, privateListen: try ListenAddress(privateListen), publicURL: publicURL ?? address.url,
                rpsPrivateURL: rpsPrivateURL, linkKey: try KeyFile.load(keyFile), rpsKey: try KeyFile.load(rpsKeyFile),
                delivery: delivery)
            return parts
        }
    }
}

struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Make key files.", subcommands: [New.self])

    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new", abstract: "Write a new random 32-byte key to a new file that only its owner can read.")

        @Argument(help: "The file; it must not exist.")
        var path: String

        func run() throws {
            do { _ = try KeyFile.create(path) } catch { throw failure(error) }
        }
    }
}
