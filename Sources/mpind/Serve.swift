import ArgumentParser
import MPinServer

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Run all parts in one process (the default command).")

    @Flag(help: "Run both D-TAs, the RPS and the RPA in this process.")
    var allInOne = false

    @Option(help: "Folder for keys and databases; created where it does not exist.")
    var stateDir: String

    @Option(help: "Loopback address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "Public port: RPS under /rps/, and the RPA.")
    var port = 8005

    @Option(help: "Private port: RPS and RPA for each other.")
    var privatePort = 8011

    @Option(name: .customLong("dta1-port"), help: "Port of D-TA 1.")
    var dta1Port = 8001

    @Option(name: .customLong("dta2-port"), help: "Port of D-TA 2, where clients go for their second shares.")
    var dta2Port = 8002

    @OptionGroup var mail: MailOptions
    @OptionGroup var login: LoginOptions
    @OptionGroup var common: CommonOptions

    @Option(help: "Base URL of links in mails. (default: the public listener's)")
    var publicURL: String?

    func validate() throws {
        guard allInOne else {
            throw ValidationError("Give --all-in-one, or run the parts with `mpind dta`, `mpind rps` and `mpind rpa`.")
        }
    }

    func run() async throws {
        try await serve(level: common.logLevel) {
            var all = AllInOne(stateFolder: stateDir)
            all.host = host
            all.port = port
            all.privatePort = privatePort
            all.dta1Port = dta1Port
            all.dta2Port = dta2Port
            all.delivery = try mail.delivery()
            all.publicURL = publicURL
            all.maxAttempts = login.maxAttempts
            all.usePermits = !login.noTimePermits
            all.allowOrigin = login.allowOrigin
            return try all.parts()
        }
    }
}

struct MailOptions: ParsableArguments {
    @Option(help: "Write mails as files into this folder instead of sending them.")
    var mailDir: String?

    @Option(help: "Mail server: smtp://host:25 or smtps://host:465.")
    var smtpURL: String?

    @Option(help: "Sender's address of mails.")
    var mailFrom: String?

    @Flag(help: "Confirm every identity without a mail. FOR TESTS ONLY.")
    var forceActivate = false

    /// Nil when no option was given.
    func delivery() throws -> MailDelivery? {
        if forceActivate { return .forceActivate }
        switch (mailDir, smtpURL) {
        case (let folder?, nil):
            try makeFolder(folder)
            return .folder(folder)
        case (nil, let url?):
            guard let mailFrom else { throw StartError("--smtp-url needs --mail-from") }
            return .smtp(url: url, from: mailFrom)
        case (_?, _?): throw StartError("give either --mail-dir or --smtp-url")
        case (nil, nil): return nil
        }
    }
}

struct LoginOptions: ParsableArguments {
    @Option(help: "Wrong PINs in a row that block an identity.")
    var maxAttempts = 3

    @Flag(help: "Log in without time permits.")
    var noTimePermits = false

    @Option(help: "Origin of browser pages that may call the RPS; may be repeated. (default: none)")
    var allowOrigin: [String] = []

    func validate() throws {
        guard maxAttempts >= 1 else { throw ValidationError("--max-attempts must be at least 1") }
    }
}
