import ArgumentParser
import MPinServer

extension ProjectCommands {
    struct Token: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make, list or remove the tokens with which the back end of a project calls the server.",
            discussion: "Exit code 2: there is no such project or token. docs/trust.md describes the requests.",
            subcommands: [Add.self, List.self, Remove.self])
    }
}

extension ProjectCommands.Token {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a token, and print it: it is shown this once.")
        @Argument(help: "The project's id.")
        var project: String

        @Argument(help: "The token's name, for the list and the audit log: 1 to 64 of A-Z a-z 0-9 . _ ~ -")
        var name: String

        @Option(help: "For how many days it is good.")
        var days = 365

        @OptionGroup var place: ProjectPlace

        func validate() throws {
            guard (1...ProjectTokens.maxDays).contains(days) else {
                throw ValidationError("--days: 1 to \(ProjectTokens.maxDays)")
            }
        }

        func run() async throws {
            try await operateOnProjects {
                let made = try await place.open().addToken(name, project: project, days: days)
                place.operating.output.print(
                    made, "\(made.name) of \(made.project), until \(made.expires)\n\(made.token)")
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the tokens of a project, a line each, without their texts.")
        @Argument(help: "The project's id.")
        var project: String

        @OptionGroup var place: ProjectPlace

        func run() async throws {
            try await operateOnProjects {
                let found = try await place.open().listTokens(project: project)
                for entry in found {
                    let state = entry.isExpired ? "expired" : "until"
                    place.operating.output.print(entry, "\(entry.name)  \(state) \(entry.expires)")
                }
                if found.isEmpty, !place.operating.output.json { print("there is no token") }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a token: it is refused from now on.")
        @Argument(help: "The project's id.")
        var project: String

        @Argument(help: "The token's name.")
        var name: String

        @OptionGroup var place: ProjectPlace

        func run() async throws {
            try await operateOnProjects {
                try await place.open().removeToken(name, project: project)
                place.operating.output.print(["removed": name], "\(name): removed")
            }
        }
    }
}
