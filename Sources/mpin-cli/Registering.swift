import ArgumentParser
import Foundation
import MPin

struct Register: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Register: the server mails a link; once it is open, choose a PIN.")

    @Argument(help: "User id, as a rule a mail address.")
    var user: String

    @Option(help: "Seconds to wait for the link to be opened; 0: do not wait, `confirm` goes on later.")
    var wait = 600

    @Flag(help: "Ask for a code, from the operator or another device, that spares the mail.")
    var withCode = false

    @Option(help: "Name of this device, for the server's lists.")
    var deviceName: String?

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run { client in
            if let known = try await client.user(user), known.state == .blocked { try await client.delete(known) }
            let user = try await client.makeUser(user, deviceName: try await wantedDeviceName(client))
            switch user.state {
            case .registered: throw Failure("\(user.id) is registered; to begin anew: mpin-cli delete \(user.id)")
            case .startedRegistration: try await client.restartRegistration(user)
            case .activated: break
            default: try await client.startRegistration(user, activateCode: code())
            }
            if !user.notice.isEmpty { say("The server says: \(user.notice)") }
            return try await finish(user, client, common, wait: wait)
        }
    }

    /// The device name to send, or nil for none. The server's setting `setDeviceName` decides whether a name is sent;
    /// without this setting, the name in `--device-name` is sent, if there is one.
    private func wantedDeviceName(_ client: MPinClient) async throws -> String? {
        switch try await client.setting("setDeviceName") {
        case "true": return deviceName ?? ProcessInfo.processInfo.hostName
        case "false":
            if deviceName != nil { say("The server keeps no device names: --device-name is not sent.") }
            return nil
        default: return deviceName
        }
    }
}

extension Register {
    private func code() throws -> String? {
        try withCode ? PINReader(descriptor: common.pinFd).readCode("Code") : nil
    }
}

struct Confirm: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Go on with a registration: the link has been opened.")

    @Argument(help: "User id.")
    var user: String

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run { client in
            try await finish(try await common.known(user, client), client, common, wait: 0)
        }
    }
}

/// Waits until the link has been opened, then asks for the PIN.
private func finish(
    _ user: User, _ client: MPinClient, _ common: CommonOptions, wait: Int
) async throws -> Report {
    let deadline = ContinuousClock.now + .seconds(wait)
    if wait > 0, try await !isConfirmed(user, client) {
        say("Open the link in the mail to \(user.id). Waiting; `mpin-cli confirm \(user.id)` goes on later.")
    }
    var nextWord = ContinuousClock.now + .seconds(15)
    while ContinuousClock.now < deadline, try await !isConfirmed(user, client) {
        try await Task.sleep(for: .seconds(1))
        guard ContinuousClock.now > nextWord else { continue }
        nextWord += .seconds(15)
        say("Still waiting, for \((deadline - .now).components.seconds) seconds at most.")
    }
    try await client.confirmRegistration(user)
    let pin = try PINReader(descriptor: common.pinFd).read("Choose a PIN of \(user.pinDigits)", isNew: true)
    try await client.finishRegistration(user, pin: pin)
    return Report(user: user.id, state: "\(user.state)")
}

private func isConfirmed(_ user: User, _ client: MPinClient) async throws -> Bool {
    do throws(MPinError) {
        try await client.confirmRegistration(user)
        return true
    } catch {
        guard error.code == .identityNotVerified else { throw error }
        return false
    }
}

extension User {
    var pinDigits: String { pinLength.map { "\($0) digits" } ?? "4 to 6 digits" }
}
