import ArgumentParser
import Glibc
import MPinOpenID
import MPinServer

extension Users {
    struct Profile: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show or change what the OpenID provider tells clients about a user.",
            subcommands: [Show.self, Set.self])
    }
}

extension Users.Profile {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the profile of a user.")
        @OptionGroup var place: ProfilePlace

        func run() async throws {
            try await operate { try place.print(await place.open().show(place.user)) }
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change members of the profile of a user.",
            discussion: "A list takes the place of the one before; '' removes a member.")
        @Option(help: "The name that clients show.")
        var name: String?
        @Option(
            help: "The mail address, in place of the user id. It counts as unverified, as no mail of ours was opened.")
        var email: String?
        @Option(help: "The https URL of a picture.")
        var picture: String?
        @Option(help: "The language, such as de or pt-BR.")
        var locale: String?
        @Option(help: "A group, for the scope groups. May be repeated.")
        var groups: [String] = []

        @OptionGroup var place: ProfilePlace

        private var change: ProfileChange {
            var change = ProfileChange()
            (change.name, change.email, change.picture, change.locale) = (name, email, picture, locale)
            change.groups = groups.isEmpty ? nil : groups
            return change
        }

        func validate() throws {
            guard !change.isEmpty else { throw ValidationError("nothing to set") }
        }

        func run() async throws {
            try await operate { try place.print(await place.open().set(place.user, change)) }
        }
    }
}

/// The user of a command, and the options that say where the profiles are.
struct ProfilePlace: ParsableArguments {
    @Argument(help: "The user id, as registered; PROJECT/USER for one whom a project's back end has verified.")
    var user: String

    @OptionGroup var operating: OperatorOptions

    fileprivate func open() async throws -> ProfileAdministration {
        let (database, audit) = try operating.open()
        return try await ProfileAdministration(database: database.service(), audit: audit)
    }

    fileprivate func print(_ entry: ProfileEntry?) throws {
        guard let entry else { throw nothing("no identity of \(user)") }
        operating.output.print(entry, entry.lines.map(\.shown).joined(separator: "\n"))
    }
}
