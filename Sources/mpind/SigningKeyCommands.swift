import ArgumentParser
import MPinSecrets
import MPinServer
import MPinService

struct SigningKeyCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signing-key",
        abstract: "List or rotate the keys that sign the OpenID provider's tokens, at a running or stopped server.",
        subcommands: [List.self, Rotate.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the published keys, a line each.")

        @OptionGroup var operating: OperatorOptions

        func run() async throws {
            try await operate {
                let (_, keys) = try operating.openSigningKeys()
                let found = try await keys.list()
                for entry in found { operating.output.print(entry, entry.line) }
                if found.isEmpty, !operating.output.json { print("there are no keys yet: the server makes them") }
            }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Publish new keys, which sign two hours later, and list all keys.",
            discussion: "If the next keys are published already, no others are made.")

        @Option(help: "The RPS's own key file, which seals the signing keys. (default: as configured)")
        var keyFile: String?

        @OptionGroup var operating: OperatorOptions

        func run() async throws {
            try await operate {
                let (database, keys) = try operating.openSigningKeys()
                let seal = try KeyFile.load(try serverKey(database))
                for entry in try await keys.rotate(key: seal) { operating.output.print(entry, entry.line) }
            }
        }

        private func serverKey(_ database: DatabaseOptions) throws -> String {
            if let keyFile { return keyFile }
            if let folder = database.stateDir { return "\(folder)/rps.key" }
            guard let path = try operating.config.keyFile() else {
                throw StartError("give --key-file: the key file of the RPS")
            }
            return path
        }
    }
}

extension OperatorOptions {
    fileprivate func openSigningKeys() throws -> (database: DatabaseOptions, keys: SigningKeyAdministration) {
        let (database, audit) = try open()
        return (database, try SigningKeyAdministration(database: database.path("rps"), audit: audit))
    }
}

extension SigningKeyAdministration.Entry {
    fileprivate var line: String {
        "\(kid)  \(algorithm), \(state), signs from \(signsFrom)"
            + (publishedUntil.map { ", published until \($0)" } ?? "")
    }
}
