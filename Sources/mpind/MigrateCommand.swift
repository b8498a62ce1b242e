import ArgumentParser
import MPinServer
import MPinService

struct MigrateDatabase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Bring the database of an RPS up to date.",
        discussion: """
            Without --seal: the tables of a PostgreSQL database. A server brings them up to date at its start, if its role \
            may. With this command, the role that owns the tables does it before, also while servers of the version before \
            are running, and the servers' role needs no right to change tables.

            With --seal: the names in the stores that other services may use, too, carry the id of the service from a few \
            seconds on (`mpind service show`). Its servers may be running. What is short-lived ends then: who is in the \
            middle of a login begins again.
            """)

    @Flag(help: "Let names carry the id of the service. No server of an earlier version may run any more.")
    var seal = false

    @OptionGroup var operating: OperatorOptions

    func run() async throws {
        try await operate { try await seal ? sealNames() : upgradeTables() }
    }

    private func upgradeTables() async throws {
        guard let database = try operating.config.fill(operating.database).database else {
            throw StartError("give --database, or --config of a server with a PostgreSQL database")
        }
        let steps = try await migrateDatabase(database)
        let done = steps.map { "done: step \($0)" }.joined(separator: "\n")
        operating.output.print(Line(steps: steps), steps.isEmpty ? "nothing to do: the database is up to date" : done)
    }

    private func sealNames() async throws {
        let (database, audit) = try operating.open()
        guard let sealed = try await ServiceAdministration.seal(database.service()) else {
            throw nothing("the service has no id: its server makes it at the next start")
        }
        audit.record(.command("migrate --seal", [("service", sealed.service)]))
        operating.output.print(sealed, "names carry the id \(sealed.service) in a few seconds")
    }

    private struct Line: Encodable {
        let steps: [String]
    }
}
