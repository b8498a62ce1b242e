import ArgumentParser
import Glibc
import MPinServer
import MPinService

struct ProjectCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "project",
        abstract: "Register the projects of clients of MIRACL Trust, at a running or stopped server.",
        discussion: "Exit code 2: there is no such project. docs/trust.md describes the options.",
        subcommands: [Add.self, List.self, Show.self, Set.self, Remove.self, Token.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Register a project.")
        @Argument(help: "Its project id: 1 to 64 of A-Z a-z 0-9 . _ ~ -")
        var id: String

        @OptionGroup var members: ProjectOptions
        @OptionGroup var place: ProjectPlace

        func run() async throws {
            try await operateOnProjects { place.print(try await place.open().add(id, members.change())) }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all projects, a line each.")
        @OptionGroup var place: ProjectPlace

        func run() async throws {
            try await operateOnProjects {
                let found = try await place.open().list()
                for entry in found {
                    place.operating.output.print(entry, "\(entry.project.id)  \(entry.project.name.shown)")
                }
                if found.isEmpty, !place.operating.output.json { print("no project is registered") }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a project.")
        @Argument(help: "Its project id.")
        var id: String

        @OptionGroup var place: ProjectPlace

        func run() async throws {
            try await operateOnProjects { place.print(try await place.open().show(id)) }
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change members of a project.",
            discussion: "A list takes the place of the one before; '' empties it.")
        @Argument(help: "Its project id.")
        var id: String

        @OptionGroup var members: ProjectOptions
        @OptionGroup var place: ProjectPlace

        func validate() throws {
            guard !members.change().isEmpty else { throw ValidationError("nothing to set") }
        }

        func run() async throws {
            try await operateOnProjects { place.print(try await place.open().set(id, members.change())) }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete a project.", discussion: "The identities of its users stay: see `mpind user`.")
        @Argument(help: "Its project id.")
        var id: String

        @OptionGroup var place: ProjectPlace

        func run() async throws {
            try await operateOnProjects {
                try await place.open().remove(id)
                place.operating.output.print(["removed": id], "\(id): removed")
            }
        }
    }
}

/// Runs a command like ``operate(_:)``. If the project or the token is unknown, it ends with exit code 2.
func operateOnProjects(_ command: () async throws -> Void) async throws {
    try await operate {
        do { try await command() } catch ProjectRefusal.unknown(let id) {
            throw nothing("\(ProjectRefusal.unknown(id))")
        } catch ProjectTokenFault.unknown(let name) {
            throw nothing("\(ProjectTokenFault.unknown(name))")
        }
    }
}

/// The options for the members of a project.
struct ProjectOptions: ParsableArguments {
    @Option(help: "What operators call it. (default: its id)")
    var name: String?

    @Option(help: "Digits of a PIN, 4 to 6. (default: 4)")
    var pinLength: Int?

    @Option(
        help: """
            link, or code: a code of six digits for the first device of a user and for one that registers again, and a \
            link for a further device. (default: link)
            """)
    var verification: Project.Verification?

    @Option(
        name: .customLong("quickcodes"),
        help: """
            Which devices may make QuickCodes, with which their users register further devices: all, verified (those that \
            no QuickCode has registered) or none. (default: all)
            """)
    var quickCodes: Project.QuickCodeRule?

    @Option(
        name: .customLong("link-url"),
        help: """
            Where links in mails and QR codes lead: your page with the client, or the app link of your app. '' stands for \
            this server. (default: this server)
            """)
    var linkURL: String?

    @Option(help: "Origin of its pages that call from the browser. May be repeated.")
    var origin: [String] = []

    @Option(help: "OpenID client whose id and secret are also those of the project's back end. May be repeated.")
    var client: [String] = []

    @Option(
        name: .customLong("new-user-url"),
        help: """
            Where your back end hears of a user who wants to register with an MFA client of 2017, and confirms the user in \
            place of a mail. '' stands for a mail. (default: a mail)
            """)
    var newUserURL: String?

    /// Returns the change that consists of all given options.
    func change() -> ProjectChange {
        var change = ProjectChange()
        change.name = name
        change.pinLength = pinLength
        change.verification = verification
        change.quickCodes = quickCodes
        change.linkURL = linkURL
        change.origins = origin.isEmpty ? nil : origin
        change.clients = client.isEmpty ? nil : client
        change.newUserURL = newUserURL
        return change
    }
}

extension Project.Verification: ExpressibleByArgument {}
extension Project.QuickCodeRule: ExpressibleByArgument {}

/// The options that say where the projects are.
struct ProjectPlace: ParsableArguments {
    @OptionGroup var operating: OperatorOptions

    func open() async throws -> ProjectAdministration {
        let (database, audit) = try operating.open()
        return try await ProjectAdministration(
            database: database.service(), keyFile: database.serviceKeyFile, audit: audit)
    }

    fileprivate func print(_ entry: ProjectEntry) {
        operating.output.print(entry, entry.lines.map(\.shown).joined(separator: "\n"))
    }
}
