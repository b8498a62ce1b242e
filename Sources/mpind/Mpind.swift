import ArgumentParser
import CMPin

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
            Serve.self, DTA.self, RPS.self, RPA.self, Keys.self, Config.self, Users.self, CollectGarbage.self,
            SaveBackup.self, RestoreBackup.self, AuditCommands.self,
        ],
        defaultSubcommand: Serve.self)
}
