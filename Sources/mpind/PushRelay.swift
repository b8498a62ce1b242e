import ArgumentParser
import Foundation
import Logging
import MPinSecrets
import MPinServer

struct Relay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push-relay",
        abstract: "Receive the pushes of a server and print their links, for development without a phone.",
        discussion: "The server's options are --push-url http://HOST:PORT/ and the same --push-key-file.")

    @Option(help: "HOST:PORT of this machine.")
    var listen = "127.0.0.1:8020"

    @Option(help: "Key file shared with the server; `mpind keys new FILE` makes one.")
    var pushKeyFile: String

    func run() async throws {
        ignoreSignals()
        do {
            let relay = try PushRelay(listen: listen, key: KeyFile.loadOfServer(pushKeyFile)) { line in
                FileHandle.standardOutput.write(Data((line.shown + "\n").utf8))
            }
            try await relay.run(logger: .json(level: .warning))
        } catch {
            throw failure(error)
        }
    }
}
