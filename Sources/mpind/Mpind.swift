import ArgumentParser
import CMPin
import Foundation
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
        subcommands: [
            Serve.self, DTA.self, RPS.self, RPA.self, Keys.self, Config.self, Users.self, Clients.self,
            CollectGarbage.self, SaveBackup.self, RestoreBackup.self, AuditCommands.self,
        ],
        defaultSubcommand: Serve.self)

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.isEmpty, !isConfiguredByEnvironment {
            complain(lines: beginning)
            Foundation.exit(64)
        }
        if printsOptions(arguments) { return }
        await main(nil)
    }

    /// For who starts the program without anything.
    private static let beginning = """
        mpind is the M-Pin server. Begin with all its parts in one process, on this machine:
            mpind --all-in-one --state-dir state --mail-dir mail
        Open http://127.0.0.1:8005 then. Mails are files in the folder mail; real ones leave by --smtp-url and --mail-from.
        All options: mpind help serve. The parts on machines of their own: mpind help dta, mpind help rps, mpind help rpa.
        Users, clients, master secrets, backups and the audit log: mpind --help.

        """

    /// A container may have all its options there.
    private static var isConfiguredByEnvironment: Bool {
        ProcessInfo.processInfo.environment.keys.contains { $0.hasPrefix("MPIND_") }
    }

    /// `mpind help PART`: the parts have option tables, of which the argument parser knows nothing.
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
