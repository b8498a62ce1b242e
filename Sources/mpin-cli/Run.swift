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
    var code: String?
    var secondsToLive: Int32?
    var answer: String?
    var httpStatus: Int?
    var requestID: String?
    /// After a wrong PIN: how many attempts are left. Nil if the server does not say.
    var attemptsLeft: Int?
    /// What an API has answered.
    var body: String?
    /// An access token.
    var token: String?
    var profile: [String: String]?
}

extension CommonOptions {
    /// Runs a command's work, prints its report, and ends the program with the documented exit code.
    func run(needsBackend: Bool = true, _ work: (MPinClient) async throws -> Report) async throws {
        do {
            if needsBackend, backendURL == nil { throw Failure("no backend: --backend or MPIN_BACKEND") }
            write(try await work(try await client()))
        } catch let error as MPinError {
            write(
                Report(
                    result: name(error.code), text: error.text, httpStatus: error.httpStatus,
                    requestID: error.requestID.isEmpty ? nil : error.requestID, attemptsLeft: error.attemptsLeft))
            throw exitCode(error.code)
        } catch let error as Blocked {
            write(Report(result: "BLOCKED", text: "\(error.user): ask the operator to unblock you, or register again"))
            throw ExitCode(4)
        } catch let error as Failure {
            write(Report(result: "FAILED", text: error.description))
            throw ExitCode(1)
        }
    }

    private func client() async throws -> MPinClient {
        var configuration = Configuration(storagePath: try storePath())
        configuration.backend = backendURL
        configuration.prefix = prefix
        configuration.caFile = caFile
        return try await MPinClient(configuration)
    }

    /// The URL of the backend; nil if neither `--backend` nor the environment names one.
    var backendURL: String? { backend ?? environment("MPIN_BACKEND") }

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

    /// The user with the id `id`. Throws if the store has no such user.
    func known(_ id: String, _ client: MPinClient) async throws -> User {
        guard let user = try await client.user(id) else { throw Failure("\(id) is not registered here") }
        return user
    }

    private func environment(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private func write(_ report: Report) {
        guard json else { return print(printable(report.lines)) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if let text = try? encoder.encode(report) { print(String(decoding: text, as: UTF8.self)) }
    }

    private func exitCode(_ code: MPinError.Code) -> ExitCode {
        switch code {
        case .incorrectPIN: ExitCode(3)
        case .identityNotVerified: ExitCode(5)
        default: ExitCode(1)
        }
    }

    private func name(_ code: MPinError.Code) -> String {
        "\(code)".replacing(/[A-Z]+/) { "_\($0.output)" }.uppercased()
    }
}

extension Report {
    /// The report as text for the user.
    fileprivate var lines: String {
        if let users {
            return users.isEmpty
                ? "nobody is registered here"
                : users.map { "\($0["user"] ?? "")\t\($0["state"] ?? "")\t\($0["backend"] ?? "")" }
                    .joined(separator: "\n")
        }
        if let profile {
            return profile.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { "\($0.key)\t\($0.value)" }
                .joined(separator: "\n")
        }
        if let output = token ?? body { return output }
        let end = secondsToLive.map { " (good for \($0) s)" } ?? ""
        if let code { return "\(code)\(end)" }
        return text.map { "\(result): \($0)" } ?? result
    }
}
