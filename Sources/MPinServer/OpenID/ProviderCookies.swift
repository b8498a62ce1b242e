import Hummingbird
import MPinOpenID

/// The provider's cookies. With https their names begin with `__Host-`, so browsers accept them only over https and
/// only from this very host. Over http, which is for this machine only, the names have no such prefix.
struct ProviderCookies {
    let isSecure: Bool

    /// The cookie of the browser session, with which the next client opens without a PIN.
    private var sessionName: String { name("mpin-sso") }
    /// The cookie that ties login transactions to the browser in which they began.
    private var browserName: String { name("mpin-authorize") }

    private func name(_ name: String) -> String { (isSecure ? "__Host-" : "") + name }

    func session(_ request: Request) -> SessionCookie? {
        request.cookies[sessionName].flatMap { SessionCookie($0.value) }
    }

    func browser(_ request: Request) -> OpaqueToken? { request.cookies[browserName].flatMap { OpaqueToken($0.value) } }

    /// Whether the request has any of these cookies.
    func areIn(_ request: Request) -> Bool { session(request) != nil || browser(request) != nil }

    func giveSession(_ cookie: SessionCookie, to response: inout Response) {
        give(sessionName, cookie.text, seconds: BrowserSessions.lifetime, to: &response)
    }

    /// Removes the cookie of a browser session that has ended.
    func forgetSession(in response: inout Response) { give(sessionName, "", seconds: 0, to: &response) }

    /// Sets the cookie for login transactions. It lasts until the browser is closed.
    func giveBrowser(_ token: OpaqueToken, to response: inout Response) {
        give(browserName, token.text, seconds: nil, to: &response)
    }

    /// SameSite is `lax` and not `strict`, because a browser that comes from a client's site must send the cookies.
    private func give(_ name: String, _ value: String, seconds: Int?, to response: inout Response) {
        response.setCookie(
            Cookie(
                name: name, value: value, maxAge: seconds, path: "/", secure: isSecure, httpOnly: true,
                sameSite: .lax))
    }
}
