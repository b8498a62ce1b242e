import ArgumentParser
import FoundationEssentials
import MPin

/// The commands for projects of MIRACL Trust.
struct Trust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Register and log in at a project of MIRACL Trust, or of mpind.",
        discussion: """
            Register with the link or code of a mail, choose a PIN, log in:

              export MPIN_PROJECT=my-app
              export MPIN_PROJECT_URL=https://mpin.example
              mpin-cli trust register alice@example.com
              mpin-cli trust login alice@example.com
              mpin-cli trust login alice@example.com --qr 'https://app.example/#0f1e2d...'

            Codes, tokens and links of mails are asked for like PINs: they
            are no arguments, because other users can see those.
            """,
        subcommands: [
            Register.self, Login.self, QuickCode.self, Sign.self, ChangePIN.self, Session.self, Abort.self, List.self,
            Delete.self, Export.self, Import.self,
        ])
}

/// The options of the commands for projects of MIRACL Trust.
struct TrustOptions: ParsableArguments {
    @Option(help: "Id of the project. (default: $MPIN_PROJECT)")
    var project: String?

    @Option(help: "Base URL of the project's service. (default: $MPIN_PROJECT_URL or that of MIRACL Trust)")
    var url: String?

    @Option(help: "Name of this device, for the project's lists. (default: that of the host)")
    var deviceName: String?

    @OptionGroup var basic: BasicOptions
}

extension TrustOptions {
    /// Runs a command's work with a client of the project, prints its report, and ends the program with the documented
    /// exit code.
    func run(_ work: (MPinClient) async throws -> Report) async throws {
        try await basic.run {
            guard let project = projectID else { throw Failure("no project: --project or MPIN_PROJECT") }
            let client = try await MPinClient(try basic.configuration())
            try await client.setProject(
                project, url: url ?? environment("MPIN_PROJECT_URL"),
                deviceName: deviceName ?? ProcessInfo.processInfo.hostName)
            return try await work(client)
        }
    }

    /// The id of the project; nil if neither `--project` nor the environment names one.
    var projectID: String? { project ?? environment("MPIN_PROJECT") }

    /// The user with the id `id`. Throws if the store has no such user of the project.
    func known(_ id: String, _ client: MPinClient) async throws -> User {
        guard let user = try await client.user(id) else {
            throw Failure("\(id) is not registered here at the project \(projectID ?? "")")
        }
        return user
    }

    /// Asks for the PIN of a user.
    func pin() throws -> PIN { try basic.reader.read("PIN") }
}

/// A page's session, as reports show it. What the server does not say is missing.
struct SessionReport: Encodable {
    let accessID: String
    let project: String?
    let user: String?
    /// What the login or the signature is for.
    let description: String?
    /// What is to be signed, in hex; nil for a login.
    let hash: String?
    let pinLength: Int?
    /// The address of the screen that shows the code; nil if nothing is known about the screen.
    let screen: String?

    init(_ session: TrustSession) {
        accessID = session.accessID
        project = session.projectName.nilIfEmpty ?? session.projectID.nilIfEmpty
        user = session.userID.nilIfEmpty
        description = session.description.nilIfEmpty
        hash = hexText(session.hash).nilIfEmpty
        pinLength = session.pinLength == 0 ? nil : session.pinLength
        screen = session.place.screenAddress.nilIfEmpty
    }

    /// The session as text for the user.
    var lines: String {
        let members = [
            ("project", project), ("user", user), ("for", description), ("hash", hash), ("screen", screen ?? "unknown"),
        ]
        let known = members.compactMap { name, value in value.map { "\(name): \($0)" } }
        return ([hash == nil ? "a login" : "a signature"] + known).joined(separator: "\n")
    }
}

extension String {
    fileprivate var nilIfEmpty: String? { isEmpty ? nil : self }
}

/// Lower-case hex.
func hexText(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// The bytes of a text in hex. Nil if it is no hex.
func bytes(hex text: String) -> [UInt8]? {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
