import ArgumentParser
import Glibc
import MPin

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the users that are kept here.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run(needsBackend: false) { client in
            Report(listing: try await client.users())
        }
    }
}

struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Erase a user with the token here. The server is not told.")

    @Argument(help: "User id.")
    var user: String

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run { client in
            let user = try await common.known(user, client)
            try await client.delete(user)
            return Report(user: user.id)
        }
    }
}

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the arithmetic, the store and the way to the server.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run(needsBackend: false) { client in
            try MPinClient.selfTest()
            say("arithmetic: known answers")
            let path = try common.basic.storePath()
            for file in [path, path + ".key"] {
                var status = stat()
                guard stat(file, &status) == 0 else { continue }
                guard status.st_mode & 0o077 == 0 else { throw Failure("\(file) can be read by others: chmod 600") }
            }
            let users = try await client.users()
            say("store: \(path), \(users.count) users")
            for server in try servers(users) {
                let start = ContinuousClock.now
                try await client.testBackend(server, prefix: common.prefix)
                say("server: \(server) answers, in \((ContinuousClock.now - start) / .milliseconds(1)) ms")
            }
            return Report()
        }
    }

    /// The backend that `--backend` or the environment variable MPIN_BACKEND names, otherwise the backends at which the
    /// users are registered. Throws if there is none.
    private func servers(_ users: [User]) throws -> [String] {
        if let given = common.backendURL { return [given] }
        let known = Set(users.map(\.backend)).sorted()
        guard !known.isEmpty else { throw Failure("no server to connect to: --backend or MPIN_BACKEND") }
        return known
    }
}
