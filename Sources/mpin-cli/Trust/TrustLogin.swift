import ArgumentParser
import FoundationEssentials
import MPin

extension Trust {
    struct Login: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Log in and print a JWT for the application's own server, or log in a page.")

        @Argument(help: "User id; --push names it, too.")
        var user: String?

        @Option(help: "The URL in the QR code of the page, or the link by which the page opens apps.")
        var qr: String?

        @Option(help: "The push message of the page, a JSON object with userID, qrURL and perhaps projectID.")
        var push: String?

        @OptionGroup var screen: ScreenOptions
        @OptionGroup var options: TrustOptions

        func validate() throws {
            guard qr == nil || push == nil else { throw ValidationError("Give either --qr or --push.") }
            guard user != nil || push != nil else { throw ValidationError("Give the user id.") }
            if let qr, QRCode(qr) == nil { throw ValidationError("--qr: not an http URL with something behind a #.") }
            if let push, PushMessage(push) == nil { throw ValidationError("--push: no JSON with userID and qrURL.") }
        }

        func run() async throws {
            try await options.run { client in
                let push = push.flatMap(PushMessage.init)
                let user = try await options.known(user ?? push?.userID ?? "", client)
                guard push == nil || push?.userID == user.id else { throw Failure("the message is for another user") }
                guard let url = qr ?? push?.qrURL else {
                    say("Login at \(options.projectID ?? "") as \(user.id)")
                    return Report(user: user.id, jwt: try await client.authenticate(user, pin: options.pin()))
                }
                try await introduce(user, url, client)
                let pin = try options.pin()
                if let push {
                    try await client.authenticate(
                        pushProjectID: push.projectID, userID: push.userID, qrURL: push.qrURL, pin: pin)
                } else {
                    try await client.authenticate(user, sessionURL: url, pin: pin)
                }
                return Report(user: user.id)
            }
        }

        /// Shows who asks for the login, and what for, before the PIN is asked for. The user must know this, because the
        /// code may be that of an attacker's page.
        private func introduce(_ user: User, _ url: String, _ client: MPinClient) async throws {
            let session = try await client.trustSession(url)
            guard session.hash.isEmpty else {
                throw Failure("the page asks for a signature and not for a login: mpin-cli trust sign --qr")
            }
            let name = session.projectName.isEmpty ? options.projectID ?? "" : session.projectName
            say("Login at \(name) as \(user.id)" + (session.description.isEmpty ? "" : ": \(session.description)"))
            try screen.introduce(session.place)
        }
    }

    struct QuickCode: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "quickcode", abstract: "Log in and get a code that registers another device of the user.")

        @Argument(help: "User id.")
        var user: String

        @OptionGroup var options: TrustOptions

        func run() async throws {
            try await options.run { client in
                let user = try await options.known(user, client)
                say("QuickCode of \(options.projectID ?? "") for \(user.id)")
                let code = try await client.generateQuickCode(user, pin: options.pin())
                return Report(
                    user: user.id, code: code.code, secondsToLive: code.ttlSeconds == 0 ? nil : code.ttlSeconds)
            }
        }
    }

    struct ChangePIN: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "change-pin", abstract: "Log in with the PIN, then replace it.")

        @Argument(help: "User id.")
        var user: String

        @OptionGroup var options: TrustOptions

        func run() async throws {
            try await options.run { client in
                let user = try await options.known(user, client)
                say("New PIN at \(options.projectID ?? "") for \(user.id)")
                let reader = options.basic.reader
                let old = try reader.read("PIN until now")
                _ = try await client.authenticate(user, pin: old)
                let new = try reader.read("New PIN of \(user.pinDigits)", isNew: true)
                try await client.changePIN(user, from: old, to: new)
                return Report(user: user.id)
            }
        }
    }
}

/// A push message (TRUST wire section 2.2).
private struct PushMessage: Decodable {
    let projectID: String?
    let userID: String
    let qrURL: String

    /// Reads the message from JSON. Nil if a member is missing.
    init?(_ text: String) {
        guard let message = try? JSONDecoder().decode(PushMessage.self, from: Data(text.utf8)) else { return nil }
        self = message
    }
}
