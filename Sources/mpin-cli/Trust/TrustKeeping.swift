import ArgumentParser
import MPin

extension Trust {
    struct Session: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what a page asks for. The page learns that its code was read.")

        @Argument(help: "The URL in the QR code of the page.")
        var qr: String

        @OptionGroup var options: TrustOptions

        func run() async throws {
            try await options.run { client in Report(session: SessionReport(try await client.trustSession(qr))) }
        }
    }

    struct Abort: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Tell a page that the user declines.")

        @Argument(help: "The URL in the QR code of the page.")
        var qr: String

        @OptionGroup var options: TrustOptions

        func run() async throws {
            try await options.run { client in
                try await client.abortTrustSession(qr)
                return Report()
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the users of the project that are kept here.")

        @OptionGroup var options: TrustOptions

        func run() async throws {
            try await options.run { client in Report(listing: try await client.currentUsers()) }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Erase a user with the token here. The project is not told.")

        @Argument(help: "User id.")
        var user: String

        @OptionGroup var options: TrustOptions

        func run() async throws {
            try await options.run { client in
                let user = try await options.known(user, client)
                try await client.delete(user)
                return Report(user: user.id)
            }
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the users of the project into a new file, as MIRACL's browser client stores them.",
            discussion: """
                The tokens lie unsealed in that file, which has mode 0600. Whoever reads it needs nothing but a PIN to
                log in, so delete it as soon as it is read.
                """)

        @Argument(help: "The new file.")
        var file: String

        @Flag(help: "Yes, the tokens may lie unsealed in the file.")
        var unsealed = false

        @OptionGroup var options: TrustOptions

        func validate() throws {
            guard unsealed else {
                throw ValidationError(
                    "The tokens lie unsealed in the file: whoever reads it needs nothing but a PIN. Say --unsealed.")
            }
        }

        func run() async throws {
            try await options.run { client in
                let count = try await client.exportUsers(to: file)
                say("The tokens lie unsealed in \(file). Delete it as soon as it is read.")
                return Report(count: count)
            }
        }
    }

    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add the users in a file that `export` wrote, or into which the browser client's list was copied."
        )

        @Argument(help: "The file, which only its owner can read.")
        var file: String

        @OptionGroup var options: TrustOptions

        func run() async throws {
            try await options.run { client in
                let count = try await client.importUsers(from: file)
                say("The tokens still lie unsealed in \(file). Delete it.")
                return Report(count: count)
            }
        }
    }
}
