import ArgumentParser
import MPin

struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Log in here, or log in a browser that shows an access number or a QR code.")

    @Argument(help: "User id.")
    var user: String

    @Option(help: "The number that the browser shows.")
    var number: String?

    @Option(help: "The URL in the QR code that the browser shows.")
    var qr: String?

    @Option(help: "Let QR codes of this domain, and of what lies in it, lead to their own service without a question.")
    var trustDomain: [String] = []

    @OptionGroup var screen: ScreenOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard number == nil || qr == nil else { throw ValidationError("Give either --number or --qr.") }
        if let qr, QRCode(qr) == nil { throw ValidationError("--qr: not an http URL with something behind a #.") }
    }

    func run() async throws {
        try await common.run { client in
            let qr = qr.flatMap(QRCode.init)
            try await qr?.settle(client, backend: common.backendURL ?? "", trusted: trustDomain)
            let user = try await common.known(user, client)
            let code = number ?? qr?.code
            try await introduce(user, code, client)
            let pin = try PINReader(descriptor: common.pinFd).read("PIN")
            return try await blockedOrNot(user) {
                guard let code else {
                    return Report(user: user.id, answer: try await client.logIn(user, pin: pin))
                }
                try await client.logIn(user, pin: pin, accessCode: code)
                return Report(user: user.id)
            }
        }
    }

    /// Shows who asks for the login and which server will check the PIN, before the PIN is asked for. The user must
    /// know this, because the code may be that of an attacker's browser, which the login would log in as the user.
    private func introduce(_ user: User, _ code: String?, _ client: MPinClient) async throws {
        guard let code else { return say("Login at \(user.backend) as \(user.id)") }
        let session = try await client.session(code)
        let name = session.applicationName
        say("Login at \(name.isEmpty ? "an application without a name" : name), \(user.backend), as \(user.id)")
        // The user has read a number from the screen, but others can send the picture of a code.
        if qr != nil { try screen.introduce(session.place) }
    }
}

struct OTP: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "otp", abstract: "Log in and get a one-time code to type elsewhere.")

    @Argument(help: "User id.")
    var user: String

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run { client in
            let user = try await common.known(user, client)
            say("One-time code of \(user.backend) for \(user.id)")
            let pin = try PINReader(descriptor: common.pinFd).read("PIN")
            return try await blockedOrNot(user) {
                guard let code = try await client.oneTimeCode(user, pin: pin) else {
                    throw Failure("the server issues no one-time codes")
                }
                let seconds = code.secondsToLive == 0 ? nil : code.secondsToLive
                return Report(user: user.id, code: code.code, secondsToLive: seconds)
            }
        }
    }
}

struct ChangePIN: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change-pin", abstract: "Log in with the PIN, then replace it.")

    @Argument(help: "User id.")
    var user: String

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run { client in
            let user = try await common.known(user, client)
            say("New PIN at \(user.backend) for \(user.id)")
            let reader = PINReader(descriptor: common.pinFd)
            let old = try reader.read("PIN until now")
            return try await blockedOrNot(user) {
                _ = try await client.logIn(user, pin: old)
                let new = try reader.read("New PIN of \(user.pinDigits)", isNew: true)
                try await client.changePIN(user, from: old, to: new)
                return Report(user: user.id)
            }
        }
    }
}

/// Runs a login. Throws `Blocked` if the PIN was wrong and the user is now blocked, so that the exit code differs from
/// that of another wrong PIN.
private func blockedOrNot(_ user: User, _ work: () async throws -> Report) async throws -> Report {
    do { return try await work() } catch let error as MPinError {
        if error.code == .incorrectPIN, user.state == .blocked { throw blocked(user) }
        throw error
    }
}

private func blocked(_ user: User) -> Blocked { Blocked(user: user.id) }

/// The error of a login after which the user is blocked, because no attempt is left.
struct Blocked: Error {
    let user: String
}
