import ArgumentParser
import MPinServer

struct Sessions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "List or end the browser sessions of the OpenID provider, at a running or stopped server.",
        discussion: "Exit code 2: there is no such session.", subcommands: [List.self, End.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the sessions, the newest first, a line each.")

        @Option(help: "Only those of this user.")
        var user: String?

        @OptionGroup var operating: OperatorOptions

        func run() async throws {
            try await operate {
                let found = try await operating.openSessions().list(user: user)
                for entry in found { operating.output.print(entry, entry.line) }
                if found.isEmpty, !operating.output.json { print("nobody is logged in") }
            }
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End sessions: their tokens are revoked, and their clients are told.",
            discussion: """
                The running server tells the clients within seconds; if none runs, the next one does, within a day. Tokens \
                with the scope offline_access outlive sessions, unless --everywhere is given.
                """)

        @Argument(help: "The session, as `session list` prints it.")
        var id: String?

        @Option(help: "All sessions of this user.")
        var user: String?

        @Flag(help: "The sessions of all users.")
        var all = false

        @Flag(help: "With --user: also the tokens that outlive sessions.")
        var everywhere = false

        @OptionGroup var operating: OperatorOptions

        func validate() throws {
            guard [id != nil, user != nil, all].count(where: { $0 }) == 1 else {
                throw ValidationError("give one of a session, --user and --all")
            }
            guard !everywhere || user != nil else { throw ValidationError("--everywhere needs --user") }
        }

        func run() async throws {
            try await operate {
                let ended = try await end(try await operating.openSessions())
                for entry in ended { operating.output.print(entry, entry.line) }
                guard !ended.isEmpty || all else {
                    throw nothing(id.map { "no session \($0.shown)" } ?? "no session of \(user?.shown ?? "")")
                }
            }
        }

        private func end(_ sessions: SessionAdministration) async throws -> [SessionAdministration.Ended] {
            if let id { return try await [sessions.end(id)].compactMap(\.self) }
            if let user { return try await sessions.end(user: user, isEverywhere: everywhere) }
            return try await sessions.endAll()
        }
    }
}

extension OperatorOptions {
    fileprivate func openSessions() async throws -> SessionAdministration {
        let (database, audit) = try open()
        return try await SessionAdministration(database: database.service(), audit: audit)
    }
}

extension SessionAdministration.Entry {
    fileprivate var line: String {
        "\(id)  \(user.shown), \(state), since \(begun), used \(used), until \(ends), "
            + (clients.isEmpty ? "no clients" : "clients \(clients.joined(separator: " "))")
    }
}

extension SessionAdministration.Ended {
    fileprivate var line: String {
        let what = session.map { "\($0): ended" } ?? "tokens that outlive sessions: revoked"
        return "\(what), \(user.shown), "
            + (clients.isEmpty ? "no clients" : "clients \(clients.joined(separator: " "))")
    }
}
