import HTTPTypes
import Hummingbird
import MPinOpenID

/// The cookies of a protected host. With https their names begin with `__Host-`, so browsers accept them only over
/// https and only from this very host. Over http, which is for this machine only, the names have no such prefix.
struct HostCookies {
    /// The number of logins that a browser may have begun at a host. Cookies of more logins would become longer than
    /// proxies accept.
    static let maxLogins = 16

    private let isSecure: Bool

    init(of client: Client) { isSecure = client.protectedOrigin?.text.hasPrefix("https://") ?? true }

    /// The cookie of the session at the host.
    private var sessionName: String { prefix + "mpin-auth" }
    /// The beginning of the names of the cookies that tie logins to the browser, one for each tab.
    private var loginPrefix: String { prefix + "mpin-auth-login-" }
    private var prefix: String { isSecure ? "__Host-" : "" }

    private func loginName(_ state: OpaqueToken) -> String { loginPrefix + state.text.prefix(8) }

    func session(_ request: Request) -> OpaqueToken? { token(sessionName, request) }
    func login(_ state: OpaqueToken, _ request: Request) -> OpaqueToken? { token(loginName(state), request) }

    private func token(_ name: String, _ request: Request) -> OpaqueToken? {
        request.cookies[name].flatMap { OpaqueToken($0.value) }
    }

    func giveSession(_ token: OpaqueToken, to response: inout Response) {
        give(sessionName, token.text, seconds: BrowserSessions.lifetime, to: &response)
    }

    /// Sets the cookie of a login that has begun. If the browser has too many of them, all others are deleted.
    func giveLogin(_ begun: ForwardAuth.Begun, _ request: Request, to response: inout Response) {
        let others = logins(request)
        if others.count >= Self.maxLogins { for name in others { delete(name, from: &response) } }
        give(loginName(begun.state), begun.browser.text, seconds: LoginTransactions.seconds, to: &response)
    }

    func deleteLogin(_ state: OpaqueToken, from response: inout Response) { delete(loginName(state), from: &response) }

    /// Returns the names of the cookies of all logins that the browser has begun.
    private func logins(_ request: Request) -> [String] {
        request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
            .map { $0.drop { $0 == " " }.prefix { $0 != "=" } }.filter { $0.hasPrefix(loginPrefix) }.map(String.init)
    }

    private func delete(_ name: String, from response: inout Response) { give(name, "-", seconds: 0, to: &response) }

    /// SameSite is `lax` and not `strict`, because a browser that comes from the provider must send the cookies.
    private func give(_ name: String, _ value: String, seconds: Int, to response: inout Response) {
        let cookie = try? Cookie.validated(
            name: name, value: value, maxAge: seconds, path: "/", secure: isSecure, httpOnly: true, sameSite: .lax)
        if let cookie { response.setCookie(cookie) }
    }
}
