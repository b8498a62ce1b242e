import ArgumentParser
import MPinSecrets
import MPinServer
import MPinService

/// The id of a service.
struct ServiceCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service", abstract: "Show or renew the id of a service, which names in shared stores carry.",
        subcommands: [Show.self, RenewID.self])

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the id of the service, and whether names in shared stores carry it.")

        @OptionGroup var config: ConfigOption
        @OptionGroup var database: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await operate {
                let found = try await ServiceAdministration.show(config.fill(database).service())
                guard let found else { throw nothing("the service has no id: its server makes it at the next start") }
                output.print(found, text(found))
            }
        }
    }

    struct RenewID: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "renew-id", abstract: "Give a copy of a service an id of its own.",
            discussion: """
                A service that was restored or copied has the id of the first one. If both are to run, with the same Redis \
                server or PostgreSQL database for what is short-lived, stop the copy and renew its id. Its short-lived items \
                end then. After a restore of an older backup, renew the id again.
                """)

        @OptionGroup var operating: OperatorOptions

        @Option(help: "Key file of the RPS. (default: that in --state-dir)")
        var keyFile: String?

        func run() async throws {
            try await operate {
                let (database, audit) = try operating.open()
                guard let file = try keyFile ?? database.stateDir.map({ $0 + "/rps.key" }) ?? operating.config.keyFile()
                else {
                    throw StartError("give --key-file, or --state-dir")
                }
                let renewed = try await ServiceAdministration.renew(database.service().keyed(by: file))
                audit.record(.command("service renew-id", [("service", renewed.service)]))
                operating.output.print(renewed, text(renewed))
            }
        }
    }
}

private func text(_ service: ServiceAdministration.Entry) -> String {
    service.service + (service.isInNames ? "  in names" : "  not in names: run `mpind migrate --seal`")
}
