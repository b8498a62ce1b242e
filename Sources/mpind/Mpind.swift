import ArgumentParser
import CMPin
import Foundation
import MPinServer

/// The command line of the M-Pin server.
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
        subcommands: [
            Serve.self, DTA.self, RPS.self, RPA.self, Keys.self, Config.self, Users.self, Clients.self,
            ProjectCommands.self, Sessions.self, SigningKeyCommands.self, Admin.self, CollectGarbage.self,
            SaveBackup.self, CopyDatabase.self, MigrateDatabase.self,
            RestoreBackup.self, DoctorCommand.self, ServiceCommands.self,
            AuditCommands.self, HealthCommand.self, Relay.self,
        ],
        defaultSubcommand: Serve.self)

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.isEmpty, !isConfiguredByEnvironment {
            complain(lines: firstSteps)
            Foundation.exit(64)
        }
        if printsOptions(arguments) { return }
        await main(nil)
    }

    /// The text for an operator who starts the program without any options.
    private static let firstSteps = """
        mpind is the M-Pin server. Begin with all its parts in one process, on this machine:
            mpind --all-in-one --state-dir state --mail-dir mail
        Open http://127.0.0.1:8005 then. Mails are files in the folder mail; real ones leave by --smtp-url and --mail-from.
        All options: mpind help serve. The parts on machines of their own: mpind help dta, mpind help rps, mpind help rpa.
        Users, clients, projects, sessions, keys, backups and the audit log: mpind --help.

        """

    /// Whether the environment contains options. A container may have all its options there.
    private static var isConfiguredByEnvironment: Bool {
        ProcessInfo.processInfo.environment.keys.contains { $0.hasPrefix("MPIND_") }
    }

    /// Handles `mpind help PART`; false for other arguments. The argument parser cannot, because the options of the
    /// parts are in tables that it does not know.
    private static func printsOptions(_ arguments: [String]) -> Bool {
        guard arguments.first == "help" else { return false }
        switch Array(arguments.dropFirst()) {
        case ["serve"], ["all-in-one"]: Serve.printHelp()
        case ["dta"]:
            print(helpMessage(for: DTA.self))
            print()
            RunDTA.printHelp()
        case ["dta", "run"]: RunDTA.printHelp()
        case ["rps"]: RPS.printHelp()
        case ["rpa"]: RPA.printHelp()
        default: return false
        }
        return true
    }
}
