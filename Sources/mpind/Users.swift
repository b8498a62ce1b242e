import ArgumentParser
import Glibc
import MPinServer

struct Users: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: """
            List users, suspend one, or show, block, unblock or revoke the identities of one, at a running or stopped RPS.
            """,
        discussion: "Exit code 2: there is no such user.",
        subcommands: [
            List.self, Show.self, Suspend.self, Resume.self, Suspensions.self, Block.self, Unblock.self, Revoke.self,
            Renew.self, Code.self, Export.self, Delete.self, Profile.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List all users, a line for each of their identities.")

        @OptionGroup var operating: OperatorOptions

        func run() async throws {
            try await operate {
                let (users, audit) = try await operating.openUsers()
                audit.record(.command("user list"))
                var count = 0
                try await users.list { page in
                    count += page.count
                    for entry in page { operating.output.print(entry, "\(entry.user.shown)  \(entry.line)") }
                }
                if count == 0, !operating.output.json { print("nobody is registered") }
            }
        }
    }

    struct Options: ParsableArguments {
        @Argument(help: "The user id, as registered; PROJECT/USER for one whom a project's back end has verified.")
        var user: String

        @Option(help: "Only the identity with this hash, as `user show` prints it; a user has one for each device.")
        var identity: String?

        @OptionGroup var operating: OperatorOptions

        func change(_ change: UserAdministration.Change) async throws {
            let (users, audit) = try await operating.openUsers()
            try show(await users.change(change, user: user, identity: identity, audit: audit))
        }

        func show(_ entries: [UserAdministration.Entry]) throws {
            guard !entries.isEmpty else {
                throw nothing("no identity of \(user)" + (identity.map { " with the hash \($0)" } ?? ""))
            }
            for entry in entries {
                operating.output.print(entry, entry.line)
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the identities of a user.")
        @OptionGroup var options: Options

        func run() async throws {
            try await operate {
                let (users, audit) = try await options.operating.openUsers()
                audit.record(.command("user show", user: options.user))
                let suspension = try await users.suspension(of: options.user)
                if let suspension { options.operating.output.print(suspension, suspension.line) }
                let found = try await users.find(user: options.user, identity: options.identity)
                if suspension == nil || !found.isEmpty { try options.show(found) }
            }
        }
    }

    struct Block: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Refuse the identities of a user, and their sessions, until `mpind user unblock`.")
        @OptionGroup var options: Options

        func run() async throws { try await operate { try await options.change(.block) } }
    }

    struct Unblock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Forget the wrong PINs of a user: the login works again. An old client has erased its token; its user registers."
        )
        @OptionGroup var options: Options

        func run() async throws { try await operate { try await options.change(.unblock) } }
    }

    struct Renew: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Have the devices of a user renew their secrets at their next logins, without the user.",
            discussion: "Only clients of MIRACL Trust can do so; others are not affected.")
        @OptionGroup var options: Options

        func run() async throws { try await operate { try await options.change(.renew) } }
    }

    struct Code: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Issue a one-time code that registers a device of a user without a mail; five wrong tries void it.")
        @Argument(help: "The user id, as it will be registered; PROJECT/USER for a user of a project's back end.")
        var user: String

        @Option(help: "How long it is good.")
        var seconds = 3600

        @OptionGroup var operating: OperatorOptions

        func validate() throws {
            guard (1...604_800).contains(seconds) else { throw ValidationError("--seconds: 1 to 604800") }
        }

        func run() async throws {
            try await operate {
                let (users, audit) = try await operating.openUsers()
                let code = try await users.issueCode(user: user, seconds: seconds, audit: audit)
                operating.output.print(["user": user, "code": code], code)
            }
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print everything that the database has of a user, as JSON.")
        @Argument(help: "The user id, as registered; PROJECT/USER for one whom a project's back end has verified.")
        var user: String

        @OptionGroup var operating: OperatorOptions

        func run() async throws {
            try await operate {
                let (users, audit) = try await operating.openUsers()
                audit.record(.command("user export", user: user))
                try operating.print(try await users.export(user: user), of: user)
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete everything that the database has of a user, and print it, as JSON.",
            discussion: "The lines of the audit log stay: docs/admin-api.md.")
        @Argument(help: "The user id, as registered; PROJECT/USER for one whom a project's back end has verified.")
        var user: String

        @OptionGroup var operating: OperatorOptions

        func run() async throws {
            try await operate {
                let (users, audit) = try await operating.openUsers()
                try operating.print(try await users.delete(user: user, audit: audit), of: user)
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let the identities of a user never log in again. The user may register new ones.")
        @OptionGroup var options: Options

        func run() async throws { try await operate { try await options.change(.revoke) } }
    }
}

extension OperatorOptions {
    /// Prints an export, which is JSON in any case. If there is none, the command ends with exit code 2.
    fileprivate func print(_ export: UserAdministration.Export?, of user: String) throws {
        guard let export else { throw nothing("nothing is stored of \(user)") }
        output.print(asJSON: export)
    }

    func openUsers() async throws -> (users: UserAdministration, audit: Audit) {
        let (database, audit) = try open()
        return (try await UserAdministration(database: database.service()), audit)
    }
}

extension UserAdministration.Entry {
    fileprivate var line: String {
        "\(identity) \(state), registered \(registered), key \(keyID), wrong PINs \(wrongPINs)"
    }
}

extension String {
    /// The text for a terminal. Characters that move the cursor, end a line or reverse the text, which old servers allowed in
    /// user ids, are replaced by question marks.
    var shown: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map {
                    [.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
                        ? "?" : $0
                }))
    }
}
