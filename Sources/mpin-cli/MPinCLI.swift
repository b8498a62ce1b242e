import ArgumentParser
import CMPin

/// The command line client.
@main
struct MPinCLI: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mpin-cli",
        abstract: "Log in with a PIN at an M-Pin server.",
        discussion: """
            Register once, open the link in the mail, choose a PIN, log in:

              export MPIN_BACKEND=https://mpin.example
              mpin-cli register alice@example.com
              mpin-cli login alice@example.com
              mpin-cli login alice@example.com --qr 'https://mpin.example/#0f1e2d...'

            The PIN is asked for on the terminal, without echo, or read
            from a file descriptor (--pin-fd 3); it is never an argument.

            At a project of MIRACL Trust: mpin-cli help trust

            Exit codes: 0 done, 1 failed, 3 incorrect PIN, 4 blocked or
            revoked, 5 not confirmed yet, 64 wrong usage.
            """,
        version: MPIN_VERSION,
        subcommands: [
            Register.self, Confirm.self, Login.self, OTP.self, ChangePIN.self, List.self, Delete.self, Doctor.self,
            Trust.self, SessionCommands.self,
        ])
}

/// The options of the commands for M-Pin servers.
struct CommonOptions: ParsableArguments {
    @Option(help: "Base URL of the server. (default: $MPIN_BACKEND)")
    var backend: String?

    @Option(help: "Prefix of the service under the base URL.")
    var prefix = "rps"

    @OptionGroup var basic: BasicOptions
}

/// The options of all commands.
struct BasicOptions: ParsableArguments {
    @Option(help: "File that keeps users and tokens. (default: $MPIN_STORE or ~/.mpin/store)")
    var store: String?

    @Option(help: "Read PINs, a line each, from this file descriptor instead of the terminal.")
    var pinFd: Int32?

    @Option(help: "PEM file of the certificate authorities to trust. (default: the system's)")
    var caFile: String?

    @Flag(help: "Write one JSON object instead of text.")
    var json = false
}
