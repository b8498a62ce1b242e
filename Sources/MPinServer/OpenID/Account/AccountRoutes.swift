import HTTPTypes
import Hummingbird
import MPinOpenID
import MPinStore
import NIOCore

/// Paths of the account page, relative to the issuer. The website has its own page at `/account`, which links to this
/// one.
enum AccountPaths {
    static let page = "/account/settings"
    static let login = "/account/login"
    static let profile = "/account/profile"
    static let devices = "/account/devices"
    static let applications = "/account/applications"
    static let sessions = "/account/sessions"
    static let address = "/account/address"
    /// Where the link in the mail to a new address leads.
    static let link = "/account/link"
}

/// A form of the account page that the user of a browser session has sent.
struct AccountForm {
    let session: BrowserSession
    let cookie: SessionCookie
    let members: RequestParameters
    let pages: Pages

    var userID: String { session.login.userID }

    /// What the member `session` has for all sessions but that of this browser. No session has this id.
    static let otherSessions = "others"
}

/// The account page, where users see and change what the provider knows about them.
extension OpenIDFace {
    var accountRoutes: [Route] {
        [
            page(.get, AccountPaths.page, .access) { try await showAccount($0, $1) },
            page(.get, AccountPaths.login, .access) { request, context in
                try await logInToAccount(request, context, isRecent: true)
            },
            page(.post, AccountPaths.profile, .access) { request, _ in try await changeProfile(request) },
            page(.post, AccountPaths.devices, .access) { try await removeDevice($0, $1.logger) },
            page(.post, AccountPaths.applications, .access) { request, _ in try await withdrawConsent(request) },
            page(.post, AccountPaths.sessions, .access) { try await endSessions($0, $1.logger) },
            page(.post, AccountPaths.address, .access) { try await changeAddress($0, $1) },
            page(.get, AccountPaths.link, .access) { request, _ in try await showAddressLink(request) },
            page(.post, AccountPaths.link, .access) { request, context in
                try await confirmAddress(request, context.logger)
            },
        ]
    }

    /// Answers GET of the account page. A browser without a session gets the login page; if the person cancels that, the
    /// start page.
    private func showAccount(_ request: Request, _ context: RequestContext) async throws -> Response {
        let pages = pages(request)
        do {
            guard let cookie = cookies.session(request), let session = try await accountSession(cookie) else {
                if request.query("error") != nil { return seeOther("/") }
                return try await logInToAccount(request, context, isRecent: false)
            }
            return try await accountPage(pages, session, cookie, isSaved: request.query("saved") != nil).response()
        } catch is StoreError { return pages.failed.response(.serviceUnavailable) }
    }

    /// The session of a user of the server. Nil for one of a project: this server knows nothing about it but its devices.
    private func accountSession(_ cookie: SessionCookie) async throws -> BrowserSession? {
        try await provider.session(cookie).flatMap { $0.login.user.project == nil ? $0 : nil }
    }

    /// Begins a login that ends at the account page. `isRecent`: the user must enter the PIN again if the last time is
    /// too long ago.
    private func logInToAccount(
        _ request: Request, _ context: RequestContext, isRecent: Bool
    ) async throws -> Response {
        let wish = try provider.accountRequest(returningTo: AccountPaths.page, isRecent: isRecent)
        let pages = pages(request)
        return try await telling(wish.address, pages, context.logger) {
            try await begin(wish, accountClient, request, context, pages)
        }
    }

    /// What stands for the client in a login for the account page.
    var accountClient: Client { .account(name: config.site.brand.name, at: provider.now) }

    /// Runs `change` with a form of the account page. A form of another site is refused. A browser without a session is
    /// sent to the account page; if the form needs a recent login and the last one is too long ago, the user must enter
    /// the PIN again, and comes back to the account page.
    func changing(
        _ request: Request, isSensitive: (RequestParameters) -> Bool, _ change: (AccountForm) async throws -> Response
    ) async throws -> Response {
        let pages = pages(request)
        guard request.isFromThisSite, request.isForm, let cookie = cookies.session(request),
            let members = RequestParameters(String(buffer: try await request.bytes(limits))),
            let token = members["csrf"], cookie.isFormToken(token)
        else { return pages.refusedForm.response(.forbidden) }
        do {
            guard let session = try await accountSession(cookie) else { return seeOther(path(AccountPaths.page)) }
            guard !isSensitive(members) || provider.isRecent(session) else {
                return seeOther(path(AccountPaths.login))
            }
            return try await change(AccountForm(session: session, cookie: cookie, members: members, pages: pages))
        } catch is StoreError { return pages.failed.response(.serviceUnavailable) }
    }

    /// Sends the browser back to the account page after a change.
    var saved: Response { seeOther(path(AccountPaths.page) + "?saved=1") }

    private func seeOther(_ path: String) -> Response { Response(status: .seeOther, headers: [.location: path]) }
}
