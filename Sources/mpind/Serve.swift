import ArgumentParser
import CMPin
import Glibc
import Logging
import MPinServer

/// A command that runs a part of the server. Its options come from the option table, so that there are the same options
/// in a file, in the environment and on the command line.
protocol PartCommand: AsyncParsableCommand {
    static var part: ServerPart { get }
    var arguments: [String] { get }
}

extension PartCommand {
    static func about(
        _ abstract: String, _ discussion: String = "", name: String = part.rawValue
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: name, abstract: abstract, usage: "mpind \(part.rawValue) [<options>]",
            discussion: discussion + "Options: mpind \(part.rawValue) --help")
    }

    func run() async throws {
        if arguments.contains("--help") || arguments.contains("-h") { return Self.printHelp() }
        do {
            let settings = try SettingsReader(Self.part).read(arguments: arguments)
            try await serve(settings)
        } catch {
            throw failure(error)
        }
    }

    static func printHelp() {
        print(
            """
            OVERVIEW: \(configuration.abstract)

            USAGE: mpind \(part.rawValue) [<options>]

            OPTIONS, each also for the file of --config and, as MPIND_NAME, for the environment:
            \(part.help)
            """)
    }
}

struct Serve: PartCommand {
    static let part = ServerPart.serve
    static let configuration: CommandConfiguration = about("Run all parts in one process (the default command).")
    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
}

struct RunDTA: PartCommand {
    static let part = ServerPart.dta
    static let configuration: CommandConfiguration = about(
        "Run one trust authority (the default).",
        "Key files are made by `mpind keys new`; the database is created where it does not exist. ", name: "run")
    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
}

struct RPS: PartCommand {
    static let part = ServerPart.rps
    static let configuration: CommandConfiguration = about(
        "Run the relying party service: registration and authentication.")
    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
}

struct RPA: PartCommand {
    static let part = ServerPart.rpa
    static let configuration: CommandConfiguration = about(
        "Run the relying party application: mails, activation page, login verdicts.")
    @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
}

/// Runs the parts until a signal ends them.
private func serve(_ settings: Settings) async throws {
    // Databases contain identities, so nobody else may read the files of this process.
    umask(0o077)
    ignoreSignals()
    let logger = Logger.json(level: settings.logLevel)
    for warning in settings.warnings { logger.warning("\(warning)") }
    var parts = try settings.parts()
    parts.version = MPIN_VERSION
    raiseFileLimit(for: &parts, logger)
    if parts.rpa?.site.delivery == .forceActivate {
        logger.critical(
            "FORCE-ACTIVATE IS ON: every identity is confirmed without any check. For tests only, not for production.")
    }
    try await Daemon(parts, logger: logger).runUntilSignal()
}

/// Ignores the signals that would end the process by default and ask for nothing that it does.
func ignoreSignals() {
    // With SIGXFSZ ignored, a write to a file that has reached the largest allowed size fails with an error, as on a full
    // disk. SIGHUP reloads the certificate; while none is loaded, it must have no effect. SIGUSR1 is what programs get that
    // rotate logs: ours goes to standard error, and the audit log is rotated by this program.
    for number in [SIGXFSZ, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT, SIGPIPE]
    {
        signal(number, SIG_IGN)
    }
    for number in __libc_current_sigrtmin()...__libc_current_sigrtmax() { signal(number, SIG_IGN) }
}

/// Raises the limit of open files to the most that the system allows, because the usual 1,024 are soon used up. If the
/// system allows too few, lowers the number of connections and logs a warning.
private func raiseFileLimit(for parts: inout Parts, _ logger: Logger) {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(resource, &limit)
    guard getrlimit(resource, &limit) == 0 else { return }
    let (files, needed) = (Int(clamping: limit.rlim_cur), parts.filesNeeded)
    guard files < needed else { return }
    parts.fit(files: files)
    logger.warning(
        "the system allows fewer open files than the limits need (RLIMIT_NOFILE, LimitNOFILE= in systemd): fewer connections are taken",
        metadata: [
            "allowed": "\(files)", "needed": "\(needed)", "connections": "\(parts.limits.connections)",
            "connections_per_address": "\(parts.limits.connectionsPerAddress)",
        ])
}

/// Writes to standard error why the program ends, and returns the exit code: 64 for a wrong command line, 78 for a
/// wrong configuration, else 1.
func failure(_ error: any Error) -> ExitCode {
    if let code = error as? ExitCode { return code }
    complain("\(error)")
    return (error as? SettingsError).map { ExitCode($0.exitCode) } ?? .failure
}
