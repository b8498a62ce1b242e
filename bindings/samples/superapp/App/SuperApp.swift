import Foundation
import MPin
import Observation
import SuperappHanded

/// A super-app on the command line. It owns the login; the smaller apps get what they need from it.
///
///     register MAIL     registers a user; asks for a PIN when the link in the mail was opened
///     login MAIL        asks for the PIN
///     open orders|card  starts a smaller app
///     logout
///     quit
///
/// ISSUER is the URL of mpind, CLIENT_ID the app there, STORE the file for the users, API the URL of the orders
/// (bindings/samples/api), AUDIENCE their name at the provider, MINI_APPS the folder of the smaller apps.
@main
struct SuperApp {
    static func main() async {
        do { try await run(ProcessInfo.processInfo.environment) } catch {
            say("\(error)")
            exit(1)
        }
    }

    private static func run(_ environment: [String: String]) async throws {
        func named(_ name: String) -> String { environment[name] ?? "" }
        // Without a backend the app starts without a network, too.
        let client = try await MPinClient(Configuration(storagePath: named("STORE")))
        let questions = SessionQuestions(pin: { request in
            say("PIN of \(request.userID):")
            return await nextLine().map { PIN($0) }
        })
        let session = try await SessionManager(client, questions)
        try await session.add(
            Provider(name: "home", login: .pin, clientID: named("CLIENT_ID"), issuer: named("ISSUER")))
        let program = Bundle.main.executableURL?.deletingLastPathComponent() ?? URL(filePath: ".")
        let orders = MiniApps.MiniApp(
            program: "superapp-orders", audience: named("AUDIENCE"), service: named("API"), scope: "openid")
        let card = MiniApps.MiniApp(
            program: "superapp-card", audience: named("ISSUER"), service: named("ISSUER"), scope: "openid profile")
        let apps = MiniApps(
            folder: environment["MINI_APPS"].map { URL(filePath: $0) } ?? program,
            apps: ["orders": orders, "card": card])
        let model = await AuthViewModel(session)
        let following = Task { await model.follow() }
        await LoginView(model).draw()
        await Commands(client: client, issuer: named("ISSUER"), session: session, apps: apps, model: model).run()
        following.cancel()
    }
}

/// The view of the login: a line that is written again whenever what it shows changes.
@MainActor struct LoginView {
    private let model: AuthViewModel

    init(_ model: AuthViewModel) { self.model = model }

    func draw() {
        let text = withObservationTracking {
            model.isAuthenticated ? "signed in as \(model.userProfile.email), with \(model.userCreds)" : "signed out"
        } onChange: {
            Task { @MainActor in draw() }
        }
        say(text)
    }
}
