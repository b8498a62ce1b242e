import HTTPTypes
import Hummingbird
import MPinOpenID

/// Forward authentication over HTTP. The reverse proxy of each protected host passes the three paths of
/// ``ForwardAuth/Path`` on to this server, so browsers see them as pages of the host.
struct ForwardAuthRoutes: Sendable {
    let config: OpenIDConfig
    let rules: ForwardAuth

    var routes: [Route] {
        typealias Path = ForwardAuth.Path
        let site = config.site
        return [
            site.page(.get, Path.verify, .proxy) { try await verify($0, $1) },
            site.page(.get, Path.start, .access) { try await start($0, $1) },
            site.page(.get, Path.callback, .access) { try await callback($0, $1) },
        ]
    }

    /// Answers GET /auth/verify, the question of the proxy who sends a request: 200 with the user in headers. If nobody
    /// is logged in, nginx gets 401 with the address of the login, and other proxies get a redirect there, which they
    /// pass on to the browser. Scripts get 401 without an address.
    private func verify(_ request: Request, _ context: RequestContext) async throws -> Response {
        let (asked, client) = try await host(request, context)
        if let cookie = HostCookies(of: client).session(request),
            let user = try await rules.user(cookie, at: client)
        {
            return Response(status: .ok, headers: user.headers)
        }
        guard !request.isOfScript else { return Response(status: .unauthorized) }
        let isReading = ["GET", "HEAD"].contains(asked.method)
        let path = isReading ? ReturnPath(asked.target) : .start
        let query = RequestParameters.query([("to", path.text)])
        let status: HTTPResponse.Status = asked.isOfNginx ? .unauthorized : isReading ? .found : .seeOther
        return Response(
            status: status, headers: [.location: "\(asked.origin.text)\(ForwardAuth.Path.start)?\(query)"])
    }

    /// Answers GET /auth/start?to=PATH: sends the browser to the provider, and keeps in a cookie that the login has
    /// begun in this browser. A browser that is logged in goes to the path at once.
    private func start(_ request: Request, _ context: RequestContext) async throws -> Response {
        let (asked, client) = try await host(request, context)
        let cookies = HostCookies(of: client)
        let path = ReturnPath(RequestParameters(request.uri.query ?? "")?["to"])
        if let cookie = cookies.session(request), try await rules.user(cookie, at: client) != nil {
            return Response(status: .seeOther, headers: [.location: asked.origin.text + path.text])
        }
        let begun = try await rules.begin(at: client, returningTo: path)
        var response = Response(status: .seeOther, headers: [.location: begun.location])
        cookies.giveLogin(begun, request, to: &response)
        return response
    }

    /// Answers GET /auth/callback, the redirect URI: begins the session of the host, and sends the browser to where it
    /// wanted to go.
    private func callback(_ request: Request, _ context: RequestContext) async throws -> Response {
        let (asked, client) = try await host(request, context)
        let cookies = HostCookies(of: client)
        guard let answer = RequestParameters(request.uri.query ?? ""),
            let state = answer["state"].flatMap({ OpaqueToken($0) }), let browser = cookies.login(state, request)
        else { return page(request, .tooLateTitle, .oidcOver, ReturnPath.start.text, .badRequest) }
        let outcome = try await rules.finish(answer, state: state, browser: browser, at: client)
        var response: Response
        switch outcome {
        case .loggedIn(let cookie, let path):
            response = Response(status: .seeOther, headers: [.location: asked.origin.text + path.text])
            cookies.giveSession(cookie, to: &response)
        case .refused(let path):
            let again = ForwardAuth.Path.start + "?" + RequestParameters.query([("to", path.text)])
            response = page(request, .refusedLoginTitle, .statusRefused, again, .forbidden)
        case .unknown: return page(request, .tooLateTitle, .oidcOver, ReturnPath.start.text, .badRequest)
        }
        cookies.deleteLogin(state, from: &response)
        return response
    }

    /// Returns what the proxy says about the request, and the client of the protected host. Throws 403 if the sender is
    /// no trusted proxy, or no client protects that host.
    private func host(_ request: Request, _ context: RequestContext) async throws -> (ProxiedRequest, Client) {
        do {
            let asked = try ProxiedRequest(request, context)
            guard let client = try await rules.client(asked.origin) else {
                throw APIError(.forbidden, "No client protects \(asked.origin.text)")
            }
            guard asked.clientID.map({ $0 == client.id }) ?? true else {
                throw APIError(.forbidden, "X-Mpin-Client names another client than \(client.id)")
            }
            return (asked, client)
        } catch let error as APIError {
            context.logger.notice("forward authentication refused", metadata: ["reason": "\(error.message)"])
            throw error
        }
    }

    /// A page with one message and a link. It has no style, because the files of the website are not at this host.
    private func page(
        _ request: Request, _ title: Phrase, _ text: Phrase, _ path: String, _ status: HTTPResponse.Status
    ) -> Response {
        let say = config.site.language(request)
        let page: HTML = """
            <!DOCTYPE html>
            <html lang="\(say.code)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(say[title])</title>
            </head>
            <body>
            <main>
            <h1>\(say[title])</h1>
            <p>\(say[text])</p>
            <p><a href="\(path)">\(say[.startAgain])</a></p>
            </main>
            </body>
            </html>

            """
        return .html(page.text, status: status)
    }
}

extension ForwardedUser {
    /// The headers by which the website learns who its user is. All four are always there, so that a proxy that copies
    /// them replaces those that a browser has invented.
    fileprivate var headers: HTTPFields {
        [
            .remoteUser: id, .remoteName: name, .remoteEmail: email ?? "",
            .remoteGroups: groups.joined(separator: ","),
        ]
    }
}
