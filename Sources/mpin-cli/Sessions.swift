import ArgumentParser
import FoundationEssentials
import Glibc
import MPin

/// The commands for an app's session. The description of the provider is kept beside the store, so only `login` needs it.
struct SessionCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "Stay logged in at an OpenID provider, and call APIs.",
        subcommands: [SessionLogin.self, Token.self, ShowProfile.self, Call.self, SessionLogout.self])
}

struct SessionLogin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Log in with the PIN at an OpenID provider of M-Pin, or otherwise at any provider.")

    @Argument(help: "User id; without a PIN, a hint for the provider's page.")
    var user: String?

    @Option(help: "Id of the client, as the provider has registered it.")
    var clientID: String

    @Option(help: "Issuer of the provider. (default: the backend)")
    var issuer: String?

    @Option(help: "Scopes to ask for, separated by spaces.")
    var scope: String?

    @Option(help: "Origin of an API that may get the token, https://host; may be given several times.")
    var origin: [String] = []

    @Flag(help: "Print a URL to log in at, with a browser on this machine.")
    var browser = false

    @Flag(help: "Print a code to type in a browser elsewhere.")
    var deviceCode = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard !browser || !deviceCode else { throw ValidationError("Give either --browser or --device-code.") }
        guard browser || deviceCode || user != nil else { throw ValidationError("A login by PIN needs a user id.") }
    }

    func run() async throws {
        try await common.run(needsBackend: issuer == nil || !browser && !deviceCode) { client in
            let provider = ProviderFile(
                login: browser ? 1 : deviceCode ? 2 : 0, clientID: clientID, issuer: issuer ?? common.backendURL ?? "",
                scope: scope, origins: origin)
            let session = try await common.session(client)
            try await session.add(provider.provider)
            try await session.login(ProviderFile.name, userID: user ?? "")
            try provider.write(try common.basic.storePath())
            return Report(user: try await session.profile().sub)
        }
    }
}

struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print an access token that is valid for a minute at least, for scripts.")

    @Option(help: "Scopes that are needed, separated by spaces.")
    var scope: String?

    @Option(help: "For how many seconds the token must be valid.")
    var minTTL: Int64 = 60

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.inSession { session in
            Report(token: try await session.credentials(scope: scope, minTTL: minTTL).accessToken)
        }
    }
}

struct ShowProfile: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile", abstract: "Print what the provider says about the user.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.inSession { session in
            guard try await session.state() != .signedOut else { throw Failure("nobody is logged in") }
            let profile = try await session.profile()
            return Report(profile: [
                "sub": profile.sub, "name": profile.name, "email": profile.email,
                "email_verified": profile.emailVerified, "picture": profile.picture, "updated_at": profile.updatedAt,
            ])
        }
    }
}

struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send a request with the access token, and print the answer.")

    @Argument(help: "URL of the API; its origin was given to `login`.")
    var url: String

    @Option(help: "GET, POST, PUT, PATCH or DELETE.")
    var method = "GET"

    @Option(help: "A body of JSON.")
    var data: String?

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.inSession { session in
            guard let method = APIRequest.Method(rawValue: method.uppercased()) else {
                throw Failure("--method: not one of GET, POST, PUT, PATCH, DELETE")
            }
            let headers = data == nil ? [] : [(name: "Content-Type", value: "application/json")]
            let request = APIRequest(method, url, headers: headers, body: data.map { Array($0.utf8) })
            let answer = try await session.perform(request)
            let text = String(decoding: answer.body, as: UTF8.self)
            guard (200..<300).contains(answer.status) else {
                throw Failure("HTTP \(answer.status)\(text.isEmpty ? "" : ": \(text.prefix(1000))")")
            }
            return Report(httpStatus: answer.status, body: text)
        }
    }
}

struct SessionLogout: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout", abstract: "Delete the tokens here, and have the provider revoke them.")

    @Flag(help: "Also end the session at the provider that the login has begun.")
    var everywhere = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.inSession { session in
            try await session.logout(everywhere: everywhere)
            return Report()
        }
    }
}

extension CommonOptions {
    /// Runs a command on the session of the last login.
    fileprivate func inSession(_ work: (SessionManager) async throws -> Report) async throws {
        try await run(needsBackend: false) { client in
            let session = try await session(client)
            try await session.add(try ProviderFile(try basic.storePath()).provider)
            return try await work(session)
        }
    }

    fileprivate func session(_ client: MPinClient) async throws -> SessionManager {
        let reader = PINReader(descriptor: pinFd)
        let questions = SessionQuestions(
            pin: { request in
                let left = request.attemptsLeft.map { ", \($0) tries left" } ?? ""
                return try? reader.read("PIN of \(request.userID)\(left)")
            },
            openBrowser: { url in
                say("Open in a browser: \(url)")
                return true
            },
            showCode: { code in
                say("Open \(code.url) in a browser and type \(code.userCode)")
            })
        return try await SessionManager(client, questions)
    }
}

/// The provider of the last login, in a file beside the store. It holds no secret.
private struct ProviderFile: Codable {
    static let name = "provider"
    var login: Int32
    var clientID: String
    var issuer: String
    var scope: String?
    var origins: [String]

    var provider: Provider {
        var provider = Provider(name: Self.name, login: Provider.Login(rawValue: login) ?? .pin, clientID: clientID)
        provider.issuer = issuer
        provider.scope = scope ?? provider.scope
        provider.origins = origins
        return provider
    }

    init(login: Int32, clientID: String, issuer: String, scope: String?, origins: [String]) {
        self.login = login
        self.clientID = clientID
        self.issuer = issuer
        self.scope = scope
        self.origins = origins
    }

    /// Reads the file beside the store.
    init(_ store: String) throws {
        guard let text = try? Data(contentsOf: URL(filePath: Self.path(store))) else {
            throw Failure("nobody is logged in")
        }
        guard let read = try? JSONDecoder().decode(Self.self, from: text) else {
            throw Failure("\(Self.path(store)) is damaged: log in again")
        }
        self = read
    }

    func write(_ store: String) throws {
        do {
            try JSONEncoder().encode(self).write(to: URL(filePath: Self.path(store)), options: .atomic)
        } catch { throw Failure("\(Self.path(store)) cannot be written: log in again") }
    }

    private static func path(_ store: String) -> String { store + ".provider" }
}
