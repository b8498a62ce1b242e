import ArgumentParser
import MPinOpenID
import MPinSecrets
import MPinServer
import MPinService

struct SigningKeyCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signing-key",
        abstract: "List, rotate or withdraw the OpenID provider's signing keys, at a running or stopped server.",
        discussion: "Exit code 2: there is no such key.", subcommands: [List.self, Rotate.self, Withdraw.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the published keys, a line each.")

        @OptionGroup var operating: OperatorOptions

        func run() async throws {
            try await operate {
                let (_, administration) = try await operating.openSigningKeys()
                let found = try await administration.list()
                operating.print(found)
                if found.isEmpty, !operating.output.json { print("there are no keys yet: the server makes them") }
            }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Publish new keys, which sign two hours later, and list all keys.",
            discussion: "If the next keys are published already, no others are made.")

        @OptionGroup var serverKey: ServerKeyOptions
        @OptionGroup var operating: OperatorOptions

        func run() async throws {
            try await operate {
                let (administration, keys) = try await serverKey.open(operating)
                operating.print(try await administration.rotate(keys))
            }
        }
    }

    struct Withdraw: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a key that somebody else may know, and list the keys that are left.",
            discussion: """
                Tokens that the key has signed are not valid any more. If it was in use, another key signs at once; the \
                clients fetch it with the list of keys. A running server knows of it within a minute.
                """)

        @Argument(help: "The key, as `signing-key list` prints it.")
        var kid: String

        @OptionGroup var serverKey: ServerKeyOptions
        @OptionGroup var operating: OperatorOptions

        func run() async throws {
            try await operate {
                let (administration, keys) = try await serverKey.open(operating)
                guard let left = try await administration.withdraw(kid, from: keys) else {
                    throw nothing("no signing key \(kid.shown)")
                }
                operating.print(left)
            }
        }
    }
}

/// The options of the commands that make keys.
struct ServerKeyOptions: ParsableArguments {
    @Option(help: "The RPS's own key file, which seals the signing keys. (default: as configured)")
    var keyFile: String?

    fileprivate func open(
        _ operating: OperatorOptions
    ) async throws -> (administration: SigningKeyAdministration, keys: SigningKeys) {
        let (database, administration) = try await operating.openSigningKeys()
        let key = try KeyFile.loadOfServer(try path(operating, database))
        return (administration, administration.keys(sealedUnder: key))
    }

    private func path(_ operating: OperatorOptions, _ database: DatabaseOptions) throws -> String {
        if let keyFile { return keyFile }
        if let folder = database.stateDir { return "\(folder)/rps.key" }
        guard let path = try operating.config.keyFile() else {
            throw StartError("give --key-file: the key file of the RPS")
        }
        return path
    }
}

extension OperatorOptions {
    fileprivate func openSigningKeys() async throws -> (DatabaseOptions, SigningKeyAdministration) {
        let (database, audit) = try open()
        return (database, try await SigningKeyAdministration(database: database.service(), audit: audit))
    }

    fileprivate func print(_ keys: [SigningKeyAdministration.Entry]) {
        for key in keys { output.print(key, key.line) }
    }
}

extension SigningKeyAdministration.Entry {
    fileprivate var line: String {
        "\(kid)  \(algorithm), \(state), signs from \(signsFrom)"
            + (publishedUntil.map { ", published until \($0)" } ?? "")
    }
}
