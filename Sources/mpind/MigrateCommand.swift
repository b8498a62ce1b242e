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

            With --seal, when no server of an earlier version uses the database any more: records get a MAC, which binds \
            each to its place, and from then on a record without one is refused; names in the stores that other services \
            may use, too, carry the id of the service (`mpind service show`). Servers may be running. What is short-lived \
            ends then: who is in the middle of a login begins again. A new database needs none of this.
            """)

    @Flag(
        help: """
            Give all records MACs, and let names carry the id of the service. No server of an earlier version can use the \
            database afterwards.
            """)
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
        let done = try await reseal ? sealing.reseal() : sealing.seal()
        guard !done.wasDone else { return operating.output.print(done, "nothing to do: all records have MACs") }
        audit.record(
            .command(
                reseal ? "migrate --reseal" : "migrate --seal",
                [("service", done.service), ("records", String(done.records)), ("wrong", String(done.wrong))]))
        let wrong = done.wrong > 0 ? "; \(done.wrong) had a wrong one" : ""
        operating.output.print(
            done, "\(done.records) records have got a MAC\(wrong); names carry the id \(done.service)")
    }

    private struct Steps: Encodable {
        let steps: [String]
    }
}
