import ArgumentParser
import MPinServer
import MPinService

struct MigrateDatabase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Bring the database of an RPS up to date.",
        discussion: """
            Without --seal and --reseal: the tables of a PostgreSQL database. A server brings them up to date at its start, if \
            its role may. With this command, the role that owns the tables does it before, also while servers of the version \
            before are running, and the servers' role needs no right to change tables.

            Records have a MAC, which binds each to its place. In a database that servers of an earlier version have made, \
            they get it with --seal, when no server of an earlier version uses the database any more; servers may run \
            meanwhile. From then on a record without a MAC is refused.
            """)

    @Flag(help: "Give all records MACs. No server of an earlier version can use the database afterwards.")
    var seal = false

    @Flag(
        help: """
            Give all records new MACs, whatever they had: after the key was lost or changed, or to take what somebody else \
            has changed. Stop all servers first.
            """)
    var reseal = false

    @OptionGroup var operating: OperatorOptions

    func validate() throws {
        guard !seal || !reseal else { throw ValidationError("give either --seal or --reseal") }
    }

    func run() async throws {
        try await operate { try await seal || reseal ? sealRecords() : upgradeTables() }
    }

    private func upgradeTables() async throws {
        guard let database = try operating.config.fill(operating.database).database else {
            throw StartError("give --database, or --config of a server with a PostgreSQL database")
        }
        let steps = try await migrateDatabase(database)
        let done = steps.map { "done: step \($0)" }.joined(separator: "\n")
        operating.output.print(Steps(steps: steps), steps.isEmpty ? "nothing to do: the database is up to date" : done)
    }

    private func sealRecords() async throws {
        let (database, audit) = try operating.open()
        let sealing = try RecordSealing(database.service())
        guard let done = try await reseal ? sealing.reseal() : sealing.seal() else {
            return operating.output.print(RecordSealing.Outcome(), "nothing to do: all records have MACs")
        }
        audit.record(
            .command(
                reseal ? "migrate --reseal" : "migrate --seal",
                [("records", String(done.records)), ("wrong", String(done.wrong))]))
        let wrong = done.wrong > 0 ? "; \(done.wrong) had a wrong one" : ""
        operating.output.print(done, "\(done.records) records have got a MAC\(wrong)")
    }

    private struct Steps: Encodable {
        let steps: [String]
    }
}
