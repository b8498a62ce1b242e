import ArgumentParser
import MPinServer

struct CopyDatabase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copy the database of a stopped RPS into another engine.",
        discussion: """
            From a SQLite file into a PostgreSQL database, or back. Stop all servers first; the target must be empty. If \
            the command is interrupted, repeat it: it goes on where it stopped. At the end it compares both databases item \
            by item, and only then can a server use the target. Never start a server with the old database again: it \
            does not know of the wrong PINs and revocations since then.
            """)

    @Option(help: "SQLite file or postgres: URL of the stopped RPS.")
    var from: String

    @Option(help: "SQLite file or postgres: URL that gets the copy.")
    var to: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await operate {
            let count = try await copyServiceDatabase(from: from, to: to)
            output.print(
                Line(from: from, to: to, items: count), "\(to): \(count) items, equal to those of \(from)")
        }
    }

    private struct Line: Encodable {
        let from: String
        let to: String
        let items: Int
    }
}
