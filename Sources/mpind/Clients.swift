import ArgumentParser
import Glibc
import MPinOpenID
import MPinServer

struct Clients: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client",
        abstract: "Register the programs that users log in to by OpenID Connect, at a running or stopped server.",
        discussion: "Exit code 2: there is no such client. docs/clients.md describes the options.",
        subcommands: [
            Add.self, List.self, Show.self, Set.self, RotateSecret.self, Disable.self, Remove.self,
        ])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Register a client, and print its secret: it is shown this once.")
        @Argument(help: "Its client_id: 1 to 64 of A-Z a-z 0-9 . _ ~ -")
        var id: String

        @OptionGroup var members: ClientOptions
        @OptionGroup var secret: SecretOption
        @OptionGroup var place: ClientPlace

        func run() async throws {
            try await operateOnClients {
                let own = try secret.read()
                let added = try await place.open().add(id, members.change(), secret: own)
                place.print(added)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all clients, a line each.")
        @OptionGroup var place: ClientPlace

        func run() async throws {
            try await operateOnClients {
                let found = try await place.open().list()
                for entry in found { place.operating.output.print(entry, entry.line) }
                if found.isEmpty, !place.operating.output.json { print("no client is registered") }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a client, without its secret.")
        @Argument(help: "Its client_id.")
        var id: String

        @OptionGroup var place: ClientPlace

        func run() async throws {
            try await operateOnClients { place.print(try await place.open().show(id)) }
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change members of a client.",
            discussion: "A list takes the place of the one before; '' empties it.")
        @Argument(help: "Its client_id.")
        var id: String

        @OptionGroup var members: ClientOptions
        @OptionGroup var place: ClientPlace

        func validate() throws {
            guard !members.change().isEmpty else { throw ValidationError("nothing to set") }
        }

        func run() async throws {
            try await operateOnClients { place.print(try await place.open().set(id, members.change())) }
        }
    }

    struct RotateSecret: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give a client another secret, and print it: it is shown this once.",
            discussion: "The present secret stays good for a while; an older one ends.")
        @Argument(help: "Its client_id.")
        var id: String

        @Option(help: "How long the present secret stays good; 0 ends it at once.")
        var overlapSeconds = ClientAdministration.overlap

        @OptionGroup var secret: SecretOption
        @OptionGroup var place: ClientPlace

        func validate() throws {
            guard ClientAdministration.overlaps.contains(overlapSeconds) else {
                throw ValidationError("--overlap-seconds: 0 to 7776000")
            }
        }

        func run() async throws {
            try await operateOnClients {
                let own = try secret.read()
                place.print(try await place.open().rotateSecret(id, secret: own, overlap: overlapSeconds))
            }
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Refuse all that a client asks, until `mpind client set ID --disabled false`.")
        @Argument(help: "Its client_id.")
        var id: String

        @OptionGroup var place: ClientPlace

        func run() async throws {
            try await operateOnClients { place.print(try await place.open().disable(id)) }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a client.")
        @Argument(help: "Its client_id.")
        var id: String

        @OptionGroup var place: ClientPlace

        func run() async throws {
            try await operateOnClients {
                try await place.open().remove(id)
                place.operating.output.print(["removed": id], "\(id): removed")
            }
        }
    }
}

/// Runs a command like ``operate(_:)``. If the client is unknown, it ends with exit code 2.
private func operateOnClients(_ command: () async throws -> Void) async throws {
    try await operate {
        do { try await command() } catch ClientRegistryFault.unknown(let id) {
            throw nothing("\(ClientRegistryFault.unknown(id))")
        }
    }
}

/// The options that say where the clients are.
struct ClientPlace: ParsableArguments {
    @Option(
        help: "The server's file of clients, whose ids are taken and whose clients are shown. (default: as configured)")
    var clients: String?

    @OptionGroup var operating: OperatorOptions

    fileprivate func open() async throws -> ClientAdministration {
        let (database, audit) = try operating.open()
        let file = try clients ?? operating.config.clients()
        return try await ClientAdministration(
            database: database.service(), keyFile: database.serviceKeyFile, file: file, audit: audit)
    }

    fileprivate func print(_ entry: ClientEntry) {
        operating.output.print(entry, entry.lines.map(\.shown).joined(separator: "\n"))
    }

    /// Prints the client, and on the last line only its new secret, so that scripts can take it from there.
    fileprivate func print(_ new: NewSecret) {
        let lines = new.client.lines.map(\.shown) + [new.secret].compactMap(\.self)
        operating.output.print(new, lines.joined(separator: "\n"))
    }
}

/// The option for a secret that the operator has chosen.
struct SecretOption: ParsableArguments {
    @Option(
        help: """
            File with a secret of your own, of 32 to 256 characters, that nobody else may read; - is standard input. \
            (default: a new one is made)
            """)
    var secretFile: String?

    fileprivate func read() throws -> String? {
        guard let secretFile else { return nil }
        guard secretFile == "-" else { return try ClientSecret.load(secretFile) }
        var text = ""
        while let line = readLine(strippingNewline: false), text.utf8.count <= ClientSecret.maxCharacters {
            text += line
        }
        return try ClientSecret.accepted(text, from: "standard input")
    }
}

extension ClientEntry {
    fileprivate var line: String {
        let kind = client.isPublic ? "public" : "confidential"
        let uris = client.redirectURIs.map(\.text).joined(separator: " ")
        return "\(client.id)  \(client.name.shown), \(kind)\(client.isDisabled ? ", disabled" : ""), \(uris)"
    }
}
