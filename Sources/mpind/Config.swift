import ArgumentParser
import MPinServer

struct Config: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Look at the configuration without running anything.",
        discussion: """
            Options come from the defaults, the YAML file of --config, the environment (MPIND_MAX_ATTEMPTS) and the
            command line; later ones win. The SMTP password comes from a file of its own (--smtp-password-file,
            MPIND_SMTP_PASSWORD_FILE), the systemd credential smtp-password, or a YAML file that nobody else may read.
            """,
        subcommands: [Check.self, Print.self])

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Say whether the options are good; exit code 0 or not.",
            usage: "mpind config check [serve|dta|rps|rpa] [<options>]")
        @Argument(parsing: .captureForPassthrough) var arguments: [String] = []

        func run() throws {
            do {
                let settings = try read(arguments)
                try settings.check()
                for warning in settings.warnings { print("warning: \(warning)") }
            } catch { throw failure(error) }
            print("the configuration is good")
        }
    }

    struct Print: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "print", abstract: "Print every option, its value and where it was set; secrets are left out.",
            usage: "mpind config print [serve|dta|rps|rpa] [<options>]")
        @Argument(parsing: .captureForPassthrough) var arguments: [String] = []

        func run() throws {
            do { print(try read(arguments).description, terminator: "") } catch { throw failure(error) }
        }
    }
}

/// The settings of the part that the first argument names; if it names none, those of all parts in one process.
private func read(_ arguments: [String]) throws -> Settings {
    let named = arguments.first.flatMap(ServerPart.init)
    return try SettingsReader(named ?? .serve).read(arguments: Array(arguments.dropFirst(named == nil ? 0 : 1)))
}
