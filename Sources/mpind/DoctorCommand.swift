import ArgumentParser
import MPinServer

/// Looks for what is wrong in the databases of a server.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Look for what is wrong in the databases of a running or stopped server.",
        discussion: """
            Changes nothing, but brings a PostgreSQL database up to date, as every command does. It finds triggers, views and \
            tables that this program has not made; a server does not start with such a file. It checks the MACs of the \
            records, if it has the RPS's key. Lines that begin with "note" need no action. Exit code 0: nothing is wrong; 3: \
            something is.
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await operate {
            let database = try config.fill(database)
            let places = try database.places()
            var isSound = true
            for place in places {
                for finding in try await Doctor(serviceKeyFile: database.serviceKeyFile).examine(place) {
                    if finding.weight == .fault { isSound = false }
                    output.print(
                        finding, "\(finding.weight): \(finding.place): \(finding.check): \(finding.text)")
                }
            }
            guard isSound else { throw ExitCode(3) }
            if !output.json { print("\(places.count) databases: nothing is wrong") }
        }
    }
}
