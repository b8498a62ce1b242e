import ArgumentParser
import MPinServer
import MPinService

struct MigrateDatabase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Bring the tables of a PostgreSQL database up to date.",
        discussion: """
            A server does so at its start, if its role may. With this command, the role that owns the tables does it before, \
            also while servers of the version before are running, and the servers' role needs no right to change tables.
            """)

    @Option(help: "postgres: URL of the database, for the role that owns the tables.")
    var database: String?

    @OptionGroup var config: ConfigOption
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await operate {
            guard let database = try config.fill(database: database, stateDir: nil).database else {
                throw StartError("give --database, or --config of a server with a PostgreSQL database")
            }
            let steps = try await migrateDatabase(database)
            let done = steps.map { "done: step \($0)" }.joined(separator: "\n")
            output.print(Line(steps: steps), steps.isEmpty ? "nothing to do: the database is up to date" : done)
        }
    }

    private struct Line: Encodable {
        let steps: [String]
    }
}
