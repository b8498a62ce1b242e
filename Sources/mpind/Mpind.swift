import ArgumentParser
import CMPin
import Glibc
import Logging
import MPinServer

/// The M-Pin server.
@main
struct Mpind: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mpind",
        abstract: "The M-Pin server: trust authorities (D-TA), relying party service (RPS) and application (RPA).",
        discussion: """
            One process for everything, on loopback ports:
              mpind --all-in-one --state-dir ./state --mail-dir ./mail

            Keys and databases are made in the state folder at the first start. The parts can also run as processes of
            their own: see `mpind help dta`, `mpind help rps`, `mpind help rpa`.
            """,
        version: MPIN_VERSION,
        subcommands: [Serve.self, DTA.self, RPS.self, RPA.self, Keys.self],
        defaultSubcommand: Serve.self)
}

/// Runs the parts until a signal; a failure is one line on standard error and exit code 1.
func serve(level: Logger.Level, _ parts: () throws -> Parts) async throws {
    // Databases hold identities: nobody else may read what this process creates.
    umask(0o077)
    let logger = Logger.json(level: level)
    do {
        let parts = try parts()
        if parts.rpa?.delivery == .forceActivate {
            logger.critical(
                "FORCE-ACTIVATE IS ON: every identity is confirmed without any check. For tests only, not for production."
            )
        }
        try await Daemon(parts, logger: logger).runUntilSignal()
    } catch {
        throw failure(error)
    }
}

/// Says on standard error why the program ends, and gives the exit code for it.
func failure(_ error: any Error) -> ExitCode {
    let line = "mpind: error: \(error)\n"
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    return .failure
}

struct CommonOptions: ParsableArguments {
    @Option(help: "trace, debug, info, notice, warning, error or critical.", transform: level)
    var logLevel: Logger.Level = .info

    private static func level(_ text: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: text) else { throw ValidationError("\(text): no log level") }
        return level
    }
}
