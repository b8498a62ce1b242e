import ArgumentParser
import Foundation
import MPinServer

extension Users {
    struct Suspend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Refuse a user, with all devices and sessions, and new devices, until `mpind user resume`.",
            discussion: """
                The user need not be registered, and cannot register while suspended, also not with another spelling of \
                the mail address: other case, a tag after "+", dots in names of Gmail. A block of devices does not keep \
                a person from registering another one.
                """)

        @Argument(help: "The user id, as registered; PROJECT/USER for one whom a project's back end has verified.")
        var user: String

        @Option(help: "Why, for other operators and the audit log.")
        var reason: String

        @Option(help: "When it ends by itself, as 2026-11-21T02:37:19Z. (default: never)")
        var until: String?

        @Option(help: "Who suspends the user. (default: the user of the system who runs the command)")
        var by: String?

        @OptionGroup var operating: OperatorOptions

        func run() async throws {
            try await operate {
                let (users, audit) = try await operating.openUsers()
                let made = try await users.suspend(
                    user: user, reason: reason, by: by ?? NSUserName(), until: until, audit: audit)
                operating.output.print(made, made.line)
                guard try await users.find(user: user).isEmpty, !operating.output.json else { return }
                print("nobody is registered as \(user.shown): the suspension waits for whoever registers")
            }
        }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End the suspension of a user. Devices that are blocked or revoked stay so.",
            discussion: "Exit code 2: the user is not suspended.")

        @Argument(help: "The user id, as `mpind user suspensions` prints it.")
        var user: String

        @OptionGroup var operating: OperatorOptions

        func run() async throws {
            try await operate {
                let (users, audit) = try await operating.openUsers()
                guard let ended = try await users.resume(user: user, audit: audit) else {
                    throw nothing("\(user.shown) is not suspended")
                }
                operating.output.print(ended, "\(ended.user.shown): resumed")
            }
        }
    }

    struct Suspensions: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the suspended users, a line each.")

        @OptionGroup var operating: OperatorOptions

        private static let page = 200

        func run() async throws {
            try await operate {
                let (users, audit) = try await operating.openUsers()
                audit.record(.command("user suspensions"))
                var last: String?
                repeat {
                    let found = try await users.listSuspensions(after: last, limit: Self.page)
                    for entry in found { operating.output.print(entry, entry.line) }
                    if last == nil, found.isEmpty, !operating.output.json { print("nobody is suspended") }
                    last = found.count == Self.page ? found.last?.user : nil
                } while last != nil
            }
        }
    }
}

extension UserAdministration.SuspensionEntry {
    var line: String {
        "\(user.shown) suspended since \(since) by \(by.shown), until \(until ?? "resumed"): \(reason.shown)"
    }
}
