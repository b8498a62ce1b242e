import Hummingbird
import MPinOpenID

/// The provider's cookies. Browsers take the longer names over https only, and from this host only; on this machine, over
/// plain http, there is nobody between the browser and the server.
struct ProviderCookies {
    let isSecure: Bool

    /// Of the session that spares the next PIN.
    private var sessionName: String { name("mpin-sso") }
    /// Of the browser that began a login.
    private var browserName: String { name("mpin-authorize") }

    private func name(_ name: String) -> String { (isSecure ? "__Host-" : "") + name }

    func session(_ request: Request) -> OpaqueToken? { token(sessionName, request) }
    func browser(_ request: Request) -> OpaqueToken? { token(browserName, request) }

    private func token(_ name: String, _ request: Request) -> OpaqueToken? {
        request.cookies[name].flatMap { OpaqueToken($0.value) }
    }

    func giveSession(_ token: OpaqueToken, to response: inout Response) {
        give(sessionName, token, seconds: BrowserSessions.lifetime, to: &response)
    }

    /// Until the browser is closed.
    func giveBrowser(_ token: OpaqueToken, to response: inout Response) {
        give(browserName, token, seconds: nil, to: &response)
    }

    /// Not strict: browsers come from the clients' sites.
    private func give(_ name: String, _ token: OpaqueToken, seconds: Int?, to response: inout Response) {
        response.setCookie(
            Cookie(
                name: name, value: token.text, maxAge: seconds, path: "/", secure: isSecure, httpOnly: true,
                sameSite: .lax))
    }
}
