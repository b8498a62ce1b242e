import HTTPTypes
import Hummingbird
import MPinStore

/// What the pages say to one visitor.
struct Pages {
    let brand: Brand
    let language: Language

    func page(_ title: Phrase, _ content: HTML, script: String? = nil) -> Page {
        Page(self, title: language[title], content: content, script: script)
    }

    /// A page that says one thing and shows a way on.
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

    func way(_ path: String, _ text: Phrase, isQuiet: Bool = false) -> HTML {
        let style: HTML = isQuiet ? "button quiet" : "button"
        return "<a class=\"\(style)\" href=\"\(path)\">\(language[text])</a>"
    }

    /// In the visitor's own zone once the script has run; before that in UTC.
    func time(_ moment: Moment) -> HTML {
        "<time datetime=\"\(moment.iso)\">\(moment.readable)</time>"
    }
}

/// The start, and the way into an account.
extension Pages {
    func home(user: String?) -> Page {
        guard let user else {
            return page(
                .homeTitle,
                """
                <p class="lead">\(language[.homeLead])</p>
                <p class="actions">\(way("/login", .logIn))\(way("/signup", .signUp, isQuiet: true))</p>
                """)
        }
        let name: HTML = "<strong>\(user)</strong>"
        return message(.welcomeTitle, language[.loggedInAs, ["user": name]], way("/account", .accountTitle))
    }

    /// `backend`: what clients are told as their base URL; `subject`: that of the mail.
    func signUp(backend: String, subject: String) -> Page {
        page(
            .signUp,
            """
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
            <p class="actions">\(way("/login", .signUpDone))</p>
            """)
    }

    func account(_ session: WebSession, csrf: String) -> Page {
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
            <form method="post" action="/logout"><input type="hidden" name="csrf" value="\(csrf)">\
            <button type="submit">\(language[.logOut])</button></form>
            </section>
            """)
    }

    var loggedOut: Page { message(.loggedOutTitle, language[.loggedOutLead], way("/login", .logInAgain)) }
}

/// A login where no script runs.
extension Pages {
    func continueForm(_ way: LoginOffer.Way, webOTT: String, csrf: String) -> HTML {
        """
        <form method="post" action="\(way.path)"><input type="hidden" name="csrf" value="\(csrf)">\
        <input type="hidden" name="webOTT" value="\(webOTT)">\
        <button type="submit">\(language[.loginContinue])</button></form>
        """
    }

    /// `state`: what the phone did instead of logging in.
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
            \(self.way(way.path, .startAgain, isQuiet: true))</div>
            </section>
            """)
    }

    /// Whom somebody's phone wants to log this browser in as.
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

    var declined: Page { message(.declinedTitle, language[.declinedLead], way("/login/number", .startAgain)) }

    var tooLate: Page { message(.tooLateTitle, language[.statusExpired], way("/login", .startAgain)) }

    var refusedLogin: Page { message(.refusedLoginTitle, language[.statusRefused], way("/login", .startAgain)) }

    /// A form whose page lay around for too long, or that another site has sent.
    var refusedForm: Page { message(.refusedFormTitle, language[.refusedFormText], way("/", .backToStart)) }
}

/// What goes wrong on any page.
extension Pages {
    var notFound: Page { message(.notFoundTitle, language[.notFoundLead], way("/", .backToStart)) }

    var failed: Page { message(.failedTitle, language[.failedLead], way("/", .backToStart)) }

    /// A page for a refusal that no page of its own is for.
    func refusal(_ error: APIError) -> Response {
        let isOurs = error.status.code >= 500 || error.status == .tooManyRequests
        let page =
            switch error.status {
            case .notFound: notFound
            default: isOurs ? failed : message(.refusedTitle, language[.refusedLead], way("/", .backToStart))
            }
        var response = page.response(error.status)
        if let seconds = error.retryAfter { response.headers[.retryAfter] = String(seconds) }
        return response
    }

    /// The status, and the time, that the RPS has put it off with.
    func failed(_ error: any Error) -> Response { refusal(error as? APIError ?? APIError(.badGateway, "")) }
}

extension Moment {
    /// `2026-11-21 02:37 UTC`.
    var readable: String { iso.prefix(16).replacing("T", with: " ") + " UTC" }
}
