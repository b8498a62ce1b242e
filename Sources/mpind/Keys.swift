import ArgumentParser
import MPinSecrets
import MPinServer

struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Make key files.", subcommands: [New.self])

    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new", abstract: "Write a new random 32-byte key to a new file that only its owner can read.")

        @Flag(help: "Leave a key file as it is that exists, and make a folder that does not. For containers.")
        var keep = false

        @Argument(help: "The file; it must not exist.")
        var path: String

        func run() throws {
            do {
                if keep {
                    try makeFolder(folder(of: path))
                    _ = try KeyFile.loadOrCreate(path)
                } else {
                    _ = try KeyFile.create(path)
                }
            } catch { throw failure(error) }
        }
    }
}
