import ArgumentParser
import MPin

extension Trust {
    struct Register: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Register: the project mails a link or a code; type it here, then choose a PIN.")

        @Argument(help: "User id, as a rule a mail address.")
        var user: String

        @Flag(help: "Ask for no mail: the link or code is here already, from an earlier mail or the project's server.")
        var noMail = false

        @Flag(help: "Ask for an activation token or a QuickCode, which spare the mail.")
        var withToken = false

        @Option(help: "The URL in the QR code of the page that the user registers for.")
        var qr: String?

        @OptionGroup var options: TrustOptions

        func validate() throws {
            guard !(noMail && withToken) else { throw ValidationError("Give either --no-mail or --with-token.") }
            if let qr, QRCode(qr) == nil { throw ValidationError("--qr: not an http URL with something behind a #.") }
        }

        func run() async throws {
            try await options.run { client in
                let token = try await activationToken(client)
                let user = try await client.startRegistration(user, activationToken: token)
                let digits = user.registrationPINLength.map { "\($0) digits" } ?? "4 to 6 digits"
                let pin = try options.basic.reader.read("Choose a PIN of \(digits)", isNew: true)
                try await client.finishTrustRegistration(user, pin: pin)
                return Report(user: user.id, state: "\(user.state)")
            }
        }

        /// Asks for the activation token, or for the link or the code of a mail, which is exchanged for one.
        private func activationToken(_ client: MPinClient) async throws -> String {
            let reader = options.basic.reader
            if withToken { return try reader.readCode("Activation token or QuickCode") }
            if !noMail {
                let mail = try await client.sendVerificationEmail(user, accessID: qr.flatMap(QRCode.init)?.code)
                say("A mail with a \(mail.method == .code ? "code" : "link") is on its way to \(user).")
            }
            let answer = try reader.readCode("Link or code")
            guard answer.contains("://") else { return try await client.activationToken(user, code: answer).token }
            let activation = try await client.activationToken(link: answer)
            guard activation.userID == user else { throw Failure("the link is for \(activation.userID)") }
            return activation.token
        }
    }
}
