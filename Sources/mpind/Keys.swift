import ArgumentParser
import MPinSecrets

struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Make key files.", subcommands: [New.self])

    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new", abstract: "Write a new random 32-byte key to a new file that only its owner can read.")

        @Argument(help: "The file; it must not exist.")
        var path: String

        func run() throws {
            do { _ = try KeyFile.create(path) } catch { throw failure(error) }
        }
    }
}
