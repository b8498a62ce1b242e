import ArgumentParser
import FoundationEssentials
import MPin

/// What a command prints at its end.
struct Report: Encodable {
    /// `OK`, or the name of the error.
    var result = "OK"
    var text: String?
    var user: String?
    var state: String?
    var users: [[String: String]]?
    /// How many users were exported or imported.
    var count: Int?
    var code: String?
    var secondsToLive: Int32?
    var answer: String?
    /// The token of a login at a MIRACL Trust project, for the application's own server.
    var jwt: String?
    var session: SessionReport?
    var signed: SignedReport?
    var httpStatus: Int?
    var requestID: String?
    /// After a wrong PIN: how many attempts are left. Nil if the server does not say.
    var attemptsLeft: Int?
    /// When to try again, in seconds since 1970. Nil if the server does not say.
    var retryAt: Int64?
    /// What an API has answered.
    var body: String?
    /// An access token.
    var token: String?
    var profile: [String: String]?
}

extension CommonOptions {
    /// Runs a command's work with a client of the server, prints its report, and ends the program with the documented
    /// exit code.
    func run(needsBackend: Bool = true, _ work: (MPinClient) async throws -> Report) async throws {
        try await basic.run {
            if needsBackend, backendURL == nil { throw Failure("no backend: --backend or MPIN_BACKEND") }
            var configuration = try basic.configuration()
            configuration.backend = backendURL
            configuration.prefix = prefix
            return try await work(try await MPinClient(configuration))
        }
    }

    /// The URL of the backend; nil if neither `--backend` nor the environment names one.
    var backendURL: String? { backend ?? environment("MPIN_BACKEND") }

    var pinFd: Int32? { basic.pinFd }

    /// The user with the id `id`. Throws if the store has no such user.
    func known(_ id: String, _ client: MPinClient) async throws -> User {
        guard let user = try await client.user(id) else { throw Failure("\(id) is not registered here") }
        return user
    }
}

/// The variable `name` of the environment; nil if it is missing or empty.
func environment(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
}

extension BasicOptions {
    /// Does a command's work, prints its report, and ends the program with the documented exit code.
    func run(_ work: () async throws -> Report) async throws {
        do { write(try await work()) } catch let error as MPinError {
            write(
                Report(
                    result: name(error.code), text: error.text, httpStatus: error.httpStatus,
                    requestID: error.requestID.isEmpty ? nil : error.requestID, attemptsLeft: error.attemptsLeft,
                    retryAt: error.retryAt))
            throw exitCode(error)
        } catch let error as Blocked {
            write(Report(result: "BLOCKED", text: "\(error.user): ask the operator to unblock you, or register again"))
            throw ExitCode(4)
        } catch let error as Failure {
            write(Report(result: "FAILED", text: error.description))
            throw ExitCode(1)
        }
    }

    /// The settings of a client without a backend.
    func configuration() throws -> Configuration {
        var configuration = Configuration(storagePath: try storePath())
        configuration.caFile = caFile
        return configuration
    }

    var reader: PINReader { PINReader(descriptor: pinFd) }

    /// The path of the store. Creates the default folder if no path is given and the folder does not exist.
    func storePath() throws -> String {
        if let path = store ?? environment("MPIN_STORE") { return path }
        let folder = URL.homeDirectory.appending(path: ".mpin")
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch { throw Failure("\(folder.path): the folder cannot be made") }
        return folder.appending(path: "store").path
    }

    private func write(_ report: Report) {
        guard json else { return print(printable(report.lines)) }
        print(jsonText(report))
    }

    private func exitCode(_ error: MPinError) -> ExitCode {
        switch error.code {
        // A time to try again means that wrong PINs have blocked the user until then.
        case .incorrectPIN: ExitCode(error.retryAt == nil ? 3 : 4)
        case .revoked: ExitCode(4)
        case .identityNotVerified: ExitCode(5)
        default: ExitCode(1)
        }
    }

    private func name(_ code: MPinError.Code) -> String {
        "\(code)".replacing(/[A-Z]+/) { "_\($0.output)" }.uppercased()
    }
}

/// The value as JSON in one line; empty if it cannot be encoded.
func jsonText(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
}

extension Report {
    /// A list of users.
    init(listing users: [User]) {
        self.init(users: users.map { ["user": $0.id, "state": "\($0.state)", "backend": $0.backend] })
    }

    /// The report as text for the user.
    fileprivate var lines: String {
        if let users {
            return users.isEmpty
                ? "nobody is registered here"
                : users.map { "\($0["user"] ?? "")\t\($0["state"] ?? "")\t\($0["backend"] ?? "")" }
                    .joined(separator: "\n")
        }
        if let count { return "\(count) users" }
        if let jwt { return jwt }
        if let session { return session.lines }
        if let signed { return jsonText(signed) }
        if let profile {
            return profile.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { "\($0.key)\t\($0.value)" }
                .joined(separator: "\n")
        }
        if let output = token ?? body { return output }
        let end = secondsToLive.map { " (good for \($0) s)" } ?? ""
        if let code { return "\(code)\(end)" }
        let later = retryAt.map { "; try again at \(Date(timeIntervalSince1970: Double($0)).ISO8601Format())" } ?? ""
        return text.map { "\(result): \($0)\(later)" } ?? result
    }
}
