import ArgumentParser
import MPinServer

struct Admin: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin", abstract: "Make the tokens by which programs use the admin API.",
        subcommands: [Token.self])

    struct Token: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make, list or remove a token for the admin API, at a running or stopped RPS.",
            discussion: "Exit code 2: there is no such token. docs/admin-api.md describes the API.",
            subcommands: [Add.self, List.self, Remove.self], defaultSubcommand: Add.self)
    }
}

extension Admin.Token {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a token, and print it: it is shown this once.")
        @Argument(help: "Its name, for the list and the audit log: 1 to 64 of A-Z a-z 0-9 . _ ~ -")
        var name: String

        @Option(help: "What it may do: \(AdminScope.names). May be repeated.")
        var scope: [AdminScope] = []

        @Option(help: "For how many days it is good.")
        var days = 90

        @OptionGroup var operating: OperatorOptions

        func validate() throws {
            guard !scope.isEmpty else { throw ValidationError("--scope: \(AdminScope.names)") }
            guard (1...AdminTokens.maxDays).contains(days) else {
                throw ValidationError("--days: 1 to \(AdminTokens.maxDays)")
            }
        }

        func run() async throws {
            try await operate {
                let made = try await operating.openTokens().add(name, scopes: Set(scope), days: days)
                operating.output.print(
                    made,
                    "\(made.name): \(made.scopes.joined(separator: " ")), until \(made.expires)\n\(made.token)")
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all tokens, a line each, without their texts.")

        @OptionGroup var operating: OperatorOptions

        func run() async throws {
            try await operate {
                let found = try await operating.openTokens().list()
                for entry in found { operating.output.print(entry, entry.line) }
                if found.isEmpty, !operating.output.json { print("there is no token") }
            }
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a token: it is refused from now on.")
        @Argument(help: "Its name.")
        var name: String

        @OptionGroup var operating: OperatorOptions

        func run() async throws {
            try await operate {
                do { try await operating.openTokens().remove(name) } catch let fault as AdminTokenFault {
                    throw nothing("\(fault)")
                }
                operating.output.print(["removed": name], "\(name): removed")
            }
        }
    }
}

extension AdminScope: ExpressibleByArgument {}

extension OperatorOptions {
    fileprivate func openTokens() async throws -> AdminTokenAdministration {
        let (database, audit) = try open()
        return try await AdminTokenAdministration(database: database.service(), audit: audit)
    }
}

extension AdminTokenAdministration.Entry {
    fileprivate var line: String {
        "\(name)  \(scopes.joined(separator: " ")), of \(created), \(isExpired ? "expired at" : "until") \(expires)"
    }
}
