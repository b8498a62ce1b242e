import MPin
import Observation

/// The tokens of the user, for the super-app alone: a smaller app gets a `Handed`.
struct Creds: CustomStringConvertible {
    var accessToken = ""
    var idToken = ""
    /// Empty if there is none.
    var refreshToken = ""

    static let empty = Creds()

    static func from(_ credentials: Credentials) -> Creds {
        Creds(
            accessToken: credentials.accessToken, idToken: credentials.idToken ?? "",
            refreshToken: credentials.refreshToken ?? "")
    }

    /// Shows no token.
    var description: String { accessToken.isEmpty ? "no tokens" : "tokens" }
}

/// What the views show. A view that reads a property is drawn again when it changes.
///
/// The session does the work: it keeps the login and renews the tokens. This model only copies what it says.
@MainActor @Observable final class AuthViewModel {
    private(set) var isAuthenticated = false
    private(set) var userProfile = Profile()
    private(set) var userCreds = Creds.empty
    /// What the last action has failed with; empty if it has not.
    private(set) var failure = ""
    @ObservationIgnored private let session: SessionManager

    init(_ session: SessionManager) { self.session = session }

    /// Shows the login of the last time, and then each change.
    func follow() async {
        let events = session.events()
        await show()
        for await _ in events { await show() }
    }

    func login(_ userID: String) async {
        await attempt { session throws(MPinError) in try await session.login("home", userID: userID) }
    }

    func logout() async {
        await attempt { session throws(MPinError) in try await session.logout(everywhere: true) }
    }

    private func attempt(_ action: (SessionManager) async throws(MPinError) -> Void) async {
        do throws(MPinError) {
            try await action(session)
            failure = ""
        } catch { failure = error.description }
        await show()
    }

    private func show() async {
        let state = try? await session.state()
        let isIn = state == .signedIn
        let profile = isIn ? try? await session.profile() : nil
        // Without a network the tokens may have expired; the user is logged in all the same.
        let creds = isIn ? try? await session.credentials(minTTL: 0) : nil
        isAuthenticated = isIn
        userProfile = profile ?? Profile()
        userCreds = creds.map(Creds.from) ?? .empty
    }
}
