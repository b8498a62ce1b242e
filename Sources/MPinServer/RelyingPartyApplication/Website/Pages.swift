import HTTPTypes
import Hummingbird
import MPinStore

/// The pages in the language of one visitor.
struct Pages {
    let brand: Brand
    let language: Language
    /// The client for browsers. Nil if there is none.
    var browserClient: BrowserClient?
    /// Whether the pages are those of the client's origin. Otherwise they lead there.
    var hostsClient = false

    /// `script`: the name of the page's own script. `module`: that of its script of the client for browsers.
    func page(_ title: Phrase, _ content: HTML, script: String? = nil, module: String? = nil) -> Page {
        Page(self, title: language[title], content: content, script: script, module: module)
    }

    /// A page with one message and links to other pages.
    func message(_ title: Phrase, _ text: HTML, _ ways: HTML...) -> Page {
        let ways = ways.reduce("" as HTML) { "\($0)\($1)" }
        return page(
            title,
            """
            <section class="card">
            <p class="lead">\(text)</p>
            <p class="actions">\(ways)</p>
            </section>
            """)
    }

    func button(_ path: String, _ text: Phrase, isQuiet: Bool = false) -> HTML {
        let style: HTML = isQuiet ? "button quiet" : "button"
        return "<a class=\"\(style)\" href=\"\(path)\">\(language[text])</a>"
    }

    /// Shows a time in UTC, which a script changes to the visitor's time zone.
    func time(_ moment: Moment) -> HTML {
        "<time datetime=\"\(moment.iso)\">\(moment.readable)</time>"
    }
}

/// The start page, sign-up, account and logout.
extension Pages {
    func home(user: String?) -> Page {
        guard let user else {
            return page(
                .homeTitle,
                """
                <p class="lead">\(language[.homeLead])</p>
                <p class="actions">\(button("/login", .logIn))\(button("/signup", .signUp, isQuiet: true))</p>
                """, module: "page-home.js")
        }
        let name: HTML = "<strong>\(user)</strong>"
        return page(
            .welcomeTitle,
            """
            <section class="card">
            <p class="lead">\(language[.loggedInAs, ["user": name]])</p>
            <p class="actions">\(button("/account", .accountTitle))</p>
            </section>
            """, module: "page-home.js")
    }

    /// The page that explains how to register. `backend`: the base URL for clients. `subject`: the subject of the mail.
    func signUp(backend: String, subject: String) -> Page {
        page(
            .signUp,
            """
            \(signUpHere)
            <p class="lead">\(language[.signUpLead])</p>
            <ol class="steps">
            <li><h2>\(language[.signUpAddressTitle])</h2>
            <p>\(language[.signUpAddressText, ["address": "<code>\(backend)</code>"]])</p>
            <pre tabindex="0"><code>mpin-example --backend \(backend) \\
              --store ~/.mpin register you@example.com</code></pre></li>
            <li><h2>\(language[.signUpMailTitle])</h2>
            <p>\(language[.signUpMailText])</p>
            <blockquote><dl><dt>\(language[.signUpMailSubject])</dt><dd>\(subject)</dd>\
            <dt>\(language[.signUpMailLink])</dt><dd>\(backend)/mpinActivate?…</dd></dl></blockquote>
            <p>\(language[.signUpMailTrust])</p>
            <p><a href="/signup/mail">\(language[.signUpMailMissing])</a></p></li>
            <li><h2>\(language[.signUpPINTitle])</h2>
            <p>\(language[.signUpPINText])</p></li>
            </ol>
            <p class="actions">\(button("/login", .signUpDone))</p>
            """, module: clientScript)
    }

    /// `settings`: the path of the page where the user can change more. Nil if there is none.
    func account(_ session: WebSession, csrf: String, settings: String?) -> Page {
        let user: HTML = "<strong id=\"user\">\(session.userID)</strong>"
        return page(
            .accountTitle,
            """
            <section class="card">
            <p class="lead">\(language[.loggedInAs, ["user": user]])</p>
            <dl><dt>\(language[.accountSince])</dt><dd>\(time(session.since))</dd>\
            <dt>\(language[.accountUntil])</dt>\
            <dd>\(language[.accountUntilTime, ["time": time(session.expires)]])</dd></dl>
            <p>\(language[.accountPrivate])</p>
            <form method="post" action="/logout" class="actions"><input type="hidden" name="csrf" value="\(csrf)">\
            <button type="submit">\(language[.logOut])</button>\
            \(settings.map { button($0, .settingsTitle, isQuiet: true) } ?? "")</form>
            </section>
            """)
    }

    var loggedOut: Page { message(.loggedOutTitle, language[.loggedOutLead], button("/login", .logInAgain)) }
}

/// The pages of a login without scripts.
extension Pages {
    func continueForm(_ way: LoginOffer.Way, webOTT: String, csrf: String) -> HTML {
        """
        <form method="post" action="\(way.path)"><input type="hidden" name="csrf" value="\(csrf)">\
        <input type="hidden" name="webOTT" value="\(webOTT)">\
        <button type="submit">\(language[.loginContinue])</button></form>
        """
    }

    /// The page after somebody has pressed the button of a login page before the login has succeeded. `state`: why
    /// nobody is logged in yet.
    func notYet(_ state: LoginState, _ way: LoginOffer.Way, webOTT: String, csrf: String) -> Page {
        let text: HTML =
            switch state {
            case .open: "\(language[.notYetLead]) \(language[.notYetText])"
            case .declined: language[.statusDeclined]
            case .refused(let phrase): language[phrase]
            }
        return page(
            .notYetTitle,
            """
            <section class="card">
            <p class="lead">\(text)</p>
            <div class="actions">\(continueForm(way, webOTT: webOTT, csrf: csrf))\
            \(button(way.path, .startAgain, isQuiet: true))</div>
            </section>
            """)
    }

    /// The page that asks the person at the browser whether a phone's login is theirs.
    func proposal(user: String, csrf: String) -> Page {
        page(
            .proposalTitle,
            """
            <section class="card">
            <p class="lead">\(language[.proposalLead, ["user": "<strong id=\"user\">\(user)</strong>"]])</p>
            <p>\(language[.proposalText])</p>
            <form method="post" action="/login/confirm" class="actions">\
            <input type="hidden" name="csrf" value="\(csrf)">\
            <button type="submit" name="answer" value="yes">\(language[.proposalYes])</button>\
            <button type="submit" name="answer" value="no" class="quiet">\(language[.proposalNo])</button></form>
            </section>
            """)
    }

    var declined: Page { message(.declinedTitle, language[.declinedLead], button("/login/number", .startAgain)) }

    var tooLate: Page { message(.tooLateTitle, language[.statusExpired], button("/login", .startAgain)) }

    var refusedLogin: Page { message(.refusedLoginTitle, language[.statusRefused], button("/login", .startAgain)) }

    /// The page for a form that is too old or comes from another site.
    var refusedForm: Page { message(.refusedFormTitle, language[.refusedFormText], button("/", .backToStart)) }
}

/// Errors that can happen on any page.
extension Pages {
    var notFound: Page { message(.notFoundTitle, language[.notFoundLead], button("/", .backToStart)) }

    var failed: Page { message(.failedTitle, language[.failedLead], button("/", .backToStart)) }

    /// The page for an error that has no page of its own.
    func refusal(_ error: APIError) -> Response {
        let isOurs = error.status.code >= 500 || error.status == .tooManyRequests
        let page =
            switch error.status {
            case .notFound: notFound
            default: isOurs ? failed : message(.refusedTitle, language[.refusedLead], button("/", .backToStart))
            }
        var response = page.response(error.status)
        if let seconds = error.retryAfter { response.headers[.retryAfter] = String(seconds) }
        return response
    }

    /// The page for an error of the RPS, with the same status and `Retry-After`.
    func failed(_ error: any Error) -> Response {
        refusal(error as? APIError ?? (error as? NoRoom)?.spelled ?? APIError(.badGateway, ""))
    }
}

extension Moment {
    /// The time in the form `2026-11-21 02:37 UTC`.
    var readable: String { iso.prefix(16).replacing("T", with: " ") + " UTC" }
}
