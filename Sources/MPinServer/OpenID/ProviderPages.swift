import HTTPTypes
import Hummingbird
import MPinOpenID
import MPinService

/// Builds the pages that a browser shows between a client's authorization request and the answer to it.
struct ProviderPages {
    let pages: Pages
    /// The name of the login transaction.
    let id: String
    let client: Client
    let address: ReturnAddress
    let config: OpenIDConfig
    /// The device that somebody logs in. Nil if the client is in this browser.
    var device: DeviceCodes.Request?

    private var say: Language { pages.language }
    private var loginPath: String { config.path + LoginPaths.login }

    /// The first line of the login page and of each question. It names the client with its logo and host, so that users
    /// know where the login leads.
    private var heading: HTML {
        let logo: HTML =
            client.logo.map { "<img class=\"logo\" src=\"\($0)\" alt=\"\" referrerpolicy=\"no-referrer\">" } ?? ""
        if let device { return "<p class=\"lead\" id=\"client\">\(logo)\(lead(device))</p>" }
        let host = address.redirectURI.host.isEmpty ? address.redirectURI.origin : address.redirectURI.host
        let values: [String: HTML] = ["name": "<strong>\(client.name)</strong>", "host": "<strong>\(host)</strong>"]
        return "<p class=\"lead\" id=\"client\">\(logo)\(say[.oidcClient, values])</p>"
    }

    private func response(_ page: Page, _ status: HTTPResponse.Status = .ok) -> Response {
        var sources = Page.Sources()
        sources.forms = [address.redirectURI.origin]
        sources.images = client.logo.flatMap { try? RedirectURI($0) }.map { [$0.origin] } ?? []
        return page.response(status, sources: sources)
    }

    /// Returns the login page, with a QR code or an access number for a phone.
    func login(_ browser: AuthenticationService.OpenedBrowser, _ way: LoginOffer.Way) -> Response {
        let shown: HTML
        switch way {
        case .code:
            let url = "\(config.site.publicURL)#\(browser.wid)"
            guard let picture = QRCode.svg(url, label: say.plain(.loginCodePicture)) else {
                return pages.failed.response(.internalServerError)
            }
            shown = picture
        case .number: shown = "<output id=\"number\" class=\"code\">\(browser.wid)</output>"
        }
        let host = config.site.publicURL.split(separator: "/").last.map(String.init) ?? config.site.publicURL
        return response(
            pages.page(
                way == .code ? .loginCodeTitle : .loginNumberTitle,
                """
                \(heading)
                \(device.map { wishes($0.scopes) } ?? "")
                \(choice(way))
                \(way == .code ? pages.loginHere(wid: browser.wid, application: client.name) : "")
                <section class="card login" id="login" data-web-ott="\(browser.webOTT)" data-asks data-leaves \
                data-seconds="\(browser.seconds)" data-access="/\(config.prefix)/access" \(say.statusTexts)>
                <p>\(say[way == .code ? pages.codeStep : .loginNumberStep])</p>
                \(shown)
                <p>\(say[.loginHost, ["host": "<strong>\(host)</strong>"]])</p>
                <p id="status" role="status">\(say[.statusWaiting])</p>
                <p id="remaining"></p>
                \(form(loginPath, "<button type=\"submit\">\(say[.loginContinue])</button>"))
                <p id="renew" hidden><a class="button" href="\(link(way))">\(say[.startAgain])</a></p>
                </section>
                \(signUp)
                \(answers("login", [("cancel", .oidcCancel)]))
                """, script: "live", module: way == .code ? pages.clientScript : nil))
    }

    /// What somebody without a registered device does, who then goes on with the same login: the app finds the service
    /// by its address (GetServiceDetails in the client core).
    private var signUp: HTML {
        guard let picture = config.signUpPictures[say.code] else { return "" }
        return """
            <details id="sign-up"><summary>\(say[.oidcSignUpTitle])</summary>
            <p>\(say[.oidcSignUpText, ["address": "<code>\(config.site.publicURL)</code>"]])</p>
            \(picture)
            </details>
            """
    }

    /// Returns the page for a person without scripts who pressed the button before the phone has logged in.
    func notYet(_ view: WaitingBrowser.View, _ way: LoginOffer.Way) -> Response {
        let text: HTML =
            switch view.refusal {
            case nil: "\(say[.notYetLead]) \(say[.notYetText])"
            case .wrong: say[.statusWrongPIN]
            case .retired: say[.statusRegisterAgain]
            default: say[.statusBlocked]
            }
        return response(
            pages.page(
                .notYetTitle,
                """
                <section class="card">
                <p class="lead">\(text)</p>
                <div class="actions">\(form(loginPath, "<button type=\"submit\">\(say[.loginContinue])</button>"))\
                \(pages.button(link(way), .startAgain, isQuiet: true))</div>
                </section>
                """))
    }

    /// Returns the page that asks whether the account of the phone is that of the person at the browser.
    func confirmation(_ login: UserLogin) -> Response {
        question(
            "confirmation", .proposalTitle, "<p>\(say[.proposalLead, user(login)])</p><p>\(say[.proposalText])</p>",
            [("yes", .proposalYes), ("no", .proposalNo)])
    }

    /// Returns the page for a user who may not use the client, with status 403.
    func noAccess(_ login: UserLogin) -> Response {
        let values = user(login).merging(["name": "<strong>\(client.name)</strong>"]) { own, _ in own }
        return question(
            "no-access", .oidcNoAccessTitle, "<p id=\"no-access\">\(say[.oidcNoAccessText, values])</p>",
            [("other", .oidcOther), ("cancel", .oidcCancel)], .forbidden)
    }

    func account(_ login: UserLogin) -> Response {
        question(
            "account", .oidcAccountTitle, "<p>\(say[.loggedInAs, user(login)])</p>",
            [("yes", .oidcGoOn), ("other", .oidcOther), ("cancel", .oidcCancel)])
    }

    func consent(_ login: UserLogin, _ scopes: [String]) -> Response {
        let warning: HTML = device == nil ? "" : "<p>\(say[.oidcDeviceWarning])</p>"
        return question(
            "consent", .oidcConsentTitle, "<p>\(say[.loggedInAs, user(login)])</p>\(warning)\(wishes(scopes))",
            [("yes", .oidcAllow), ("no", .oidcDeny), ("other", .oidcOther)])
    }

    /// The list of what the client asks for.
    private func wishes(_ scopes: [String]) -> HTML {
        let list = scopes.reduce("" as HTML) { "\($0)<li>\(say.scope($1))</li>" }
        return "<p>\(say[.oidcConsentLead])</p><ul>\(list)</ul>"
    }

    /// The sentence that names the client of a device, with its host if the operator has registered one, and the code
    /// that the device shows, which the person can compare.
    private func lead(_ device: DeviceCodes.Request) -> HTML {
        let host = client.redirectURIs.first { $0.scheme == "https" }?.host
        let place: HTML = host.map { " (<strong>\($0)</strong>)" } ?? ""
        return say[
            .oidcDeviceClient,
            [
                "name": "<strong>\(client.name)</strong>\(place)",
                "code": "<strong id=\"user-code\">\(device.userCode.text)</strong>",
            ]]
    }

    private func user(_ login: UserLogin) -> [String: HTML] {
        ["user": "<strong id=\"user\">\(login.user.shown)</strong>"]
    }

    private func question(
        _ step: String, _ title: Phrase, _ text: HTML, _ choices: [(String, Phrase)],
        _ status: HTTPResponse.Status = .ok
    ) -> Response {
        response(
            pages.page(
                title,
                """
                \(heading)
                <section class="card">
                \(text)
                \(answers(step, choices))
                </section>
                """, script: "once"), status)
    }

    /// Returns the form with the buttons of a page. The first button is the main one; the others look less prominent.
    private func answers(_ step: String, _ choices: [(String, Phrase)]) -> HTML {
        let buttons = choices.enumerated().reduce("" as HTML) { buttons, choice in
            let style: HTML = choice.offset == 0 && step != "login" ? "" : " class=\"quiet\""
            let (value, text) = choice.element
            return "\(buttons)<button type=\"submit\" name=\"answer\" value=\"\(value)\"\(style)>\(say[text])</button>"
        }
        let path = config.path + LoginPaths.confirm
        return form(path, "<input type=\"hidden\" name=\"step\" value=\"\(step)\">\(buttons)")
    }

    private func form(_ path: String, _ content: HTML) -> HTML {
        """
        <form method="post" action="\(path)" class="actions"><input type="hidden" name="id" value="\(id)">\
        \(content)</form>
        """
    }

    private func link(_ way: LoginOffer.Way) -> String {
        "\(loginPath)?id=\(id)&way=\(way == .code ? "code" : "number")"
    }

    private func choice(_ way: LoginOffer.Way) -> HTML {
        let (code, number): (HTML, HTML) =
            way == .code ? (" aria-current=\"page\"", "") : ("", " aria-current=\"page\"")
        return """
            <nav class="choice" aria-label="\(say[.loginWays])"><a href="\(link(.code))"\(code)>\(say[.loginWayCode])</a>\
            <a href="\(link(.number))"\(number)>\(say[.loginWayNumber])</a></nav>
            """
    }
}

extension Language {
    /// Returns what a scope lets a client know or do. A scope of the client's own stands for itself.
    func scope(_ scope: String) -> HTML {
        let known: [String: Phrase] = [
            "openid": .oidcScopeOpenid, "profile": .oidcScopeProfile, "email": .oidcScopeEmail,
            "offline_access": .oidcScopeOffline,
        ]
        return known[scope].map { self[$0] } ?? "<code>\(scope)</code>"
    }
}

extension Pages {
    /// Returns the page that says why the browser is not sent back to the client.
    func fault(_ fault: PageFault) -> Page {
        let text: Phrase =
            switch fault {
            case .noClient, .unknownClient: .oidcFaultClient
            case .noRedirectURI, .foreignRedirectURI: .oidcFaultAddress
            case .tooLongState, .unreadable: .oidcFaultRequest
            }
        return message(.oidcFaultTitle, language[text], button("/", .backToStart))
    }

    /// The page for a login transaction that has ended, or that began in another browser.
    var over: Page { message(.tooLateTitle, language[.oidcOver], button("/", .backToStart)) }

    /// Returns the page for an expired login. Its link leads to `path`, where the login begins anew.
    func tooLate(_ path: String) -> Page { message(.tooLateTitle, language[.statusExpired], button(path, .startAgain)) }

    /// Returns a page with a form that carries the answer to the client (OAuth 2.0 Form Post Response Mode). A script
    /// submits it; without scripts, the person does.
    func formPost(_ members: [(String, String)], to uri: RedirectURI) -> Response {
        let inputs = members.reduce("" as HTML) {
            "\($0)<input type=\"hidden\" name=\"\($1.0)\" value=\"\($1.1)\">"
        }
        let page = page(
            .oidcReturnTitle,
            """
            <form method="post" action="\(uri.text)" id="answer" class="actions">\(inputs)\
            <button type="submit">\(language[.oidcGoOn])</button></form>
            """, script: "submit")
        var sources = Page.Sources()
        sources.forms = [uri.origin]
        return page.response(sources: sources)
    }
}
