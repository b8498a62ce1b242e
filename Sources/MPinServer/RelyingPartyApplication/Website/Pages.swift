import HTTPTypes
import Hummingbird

/// What the pages say.
enum Pages {
    static func home(user: String?) -> Page {
        guard let user else {
            return Page(
                title: "Log in with your phone",
                content: """
                    <p class="lead">No password to remember, none to steal. You enter a PIN on your phone, and this page \
                    opens.</p>
                    <p class="actions"><a class="button" href="/login">Log in</a>\
                    <a class="button quiet" href="/signup">Sign up</a></p>
                    """)
        }
        return Page(
            title: "Welcome back",
            content: """
                <p class="lead">You are logged in as <strong>\(user)</strong>.</p>
                <p class="actions"><a class="button" href="/account">Your account</a></p>
                """)
    }

    /// `backend`: what clients are told as their base URL.
    static func signUp(backend: String) -> Page {
        Page(
            title: "Sign up",
            content: """
                <p class="lead">Signing up happens on your phone, or in any M-Pin client. It takes three steps.</p>
                <ol class="steps">
                <li><h2>Register your mail address</h2>
                <p>Point the client at <code>\(backend)</code>. With the example client:</p>
                <pre><code>mpin-example --backend \(backend) \\
                  --store ~/.mpin register you@example.com</code></pre></li>
                <li><h2>Open the link in the mail</h2>
                <p>It comes within a minute and looks like this:</p>
                <blockquote><dl><dt>Subject</dt><dd>\(Mailer.subject)</dd>\
                <dt>Link</dt><dd>\(backend)/mpinActivate?…</dd></dl></blockquote>
                <p>The link leads to this site and nowhere else. If you did not ask for it, do nothing.</p></li>
                <li><h2>Choose a PIN</h2>
                <p>The client asks for it now. Nobody else ever sees it, this site included.</p></li>
                </ol>
                <p class="actions"><a class="button" href="/login">I have signed up: log in</a></p>
                """)
    }

    static func account(_ session: WebSession, csrf: String) -> Page {
        Page(
            title: "Your account",
            content: """
                <section class="card">
                <p class="lead">You are logged in as <strong id="user">\(session.userID)</strong>.</p>
                <dl><dt>Since</dt><dd>\(session.since.readable)</dd>\
                <dt>Until</dt><dd>\(session.expires.readable), unless you log out before</dd></dl>
                <p>Only you can see this page: it takes your phone and your PIN.</p>
                <form method="post" action="/logout"><input type="hidden" name="csrf" value="\(csrf)">\
                <button type="submit">Log out</button></form>
                </section>
                """)
    }

    static let loggedOut = Page(
        title: "Logged out",
        content: """
            <p class="lead">You are logged out.</p>
            <p class="actions"><a class="button" href="/login">Log in again</a></p>
            """)

    /// The way on where no script runs.
    static func continueForm(_ way: LoginOffer.Way, webOTT: String, csrf: String) -> HTML {
        """
        <form method="post" action="\(way.path)"><input type="hidden" name="csrf" value="\(csrf)">\
        <input type="hidden" name="webOTT" value="\(webOTT)">\
        <button type="submit">I have entered my PIN</button></form>
        """
    }

    static func notYet(_ way: LoginOffer.Way, webOTT: String, csrf: String) -> Page {
        Page(
            title: "Not yet",
            content: """
                <section class="card">
                <p class="lead">Your phone has not logged in yet.</p>
                <p>Enter your PIN there and come back, or <a href="\(way.path)">start again</a>.</p>
                \(continueForm(way, webOTT: webOTT, csrf: csrf))
                </section>
                """)
    }

    /// Whom somebody's phone wants to log this browser in as.
    static func proposal(user: String, csrf: String) -> Page {
        Page(
            title: "Is this you?",
            content: """
                <section class="card">
                <p class="lead">A phone has typed the number of this page. This browser is about to be logged in as \
                <strong id="user">\(user)</strong>.</p>
                <p>Say yes only if that is you, and you have just entered your PIN. In an account of somebody else its owner \
                would see what you do.</p>
                <form method="post" action="/login/confirm" class="actions">\
                <input type="hidden" name="csrf" value="\(csrf)">\
                <button type="submit" name="answer" value="yes">Yes, log me in</button>\
                <button type="submit" name="answer" value="no" class="quiet">No, not me</button></form>
                </section>
                """)
    }

    static let declined = Page(
        title: "Not logged in",
        content: """
            <p class="lead">Nobody was logged in. Somebody else may have typed the number of this page by mistake, or on \
            purpose.</p>
            <p class="actions"><a class="button" href="/login/number">Start again</a></p>
            """)

    static let tooLate = Page(
        title: "Too late",
        content: "<p class=\"lead\">This login has expired.</p><p><a href=\"/login\">Start again</a></p>")

    static let refusedLogin = Page(
        title: "Login refused",
        content: "<p class=\"lead\">The login was refused.</p><p><a href=\"/login\">Start again</a></p>")

    /// A form whose page lay around for too long, or that another site has sent.
    static let refusedForm = Page(
        title: "Please try again",
        content: "<p>This form is not from here or too old. <a href=\"/\">Go back to the start</a>.</p>")
}

/// Confirming a registration (wire section 8.4).
extension Pages {
    /// Opening a link must not activate by itself: mail scanners open links too.
    static func confirm(user: String) -> Page {
        Page(
            title: "Confirm your registration",
            content: """
                <section class="card">
                <p class="lead">You are registering <strong>\(user)</strong>.</p>
                <p>Confirm only if you have just started this yourself.</p>
                <form method="post"><button type="submit">Confirm</button></form>
                </section>
                """)
    }

    static let activated = Page(
        title: "Confirmed", content: "<p class=\"lead\">Return to your phone and choose a PIN.</p>")
    static let expired = Page(
        title: "Link expired", content: "<p>This link has expired. Start the registration again on your phone.</p>")
    static let used = Page(
        title: "Nothing to confirm", content: "<p>This registration was finished before, or it has expired.</p>")
    static let invalid = Page(title: "Invalid link", content: "<p>This is not a link that was sent from here.</p>")
    static let failed = Page(
        title: "Try again later",
        content: "<p>The server cannot do this at the moment. Please try again in a minute.</p>")

    /// The same with the status, and the time, that the RPS has put it off with.
    static func failed(_ error: any Error) -> Response {
        let error = error as? APIError
        var response = failed.response(error?.status ?? .badGateway)
        if let seconds = error?.retryAfter { response.headers[.retryAfter] = String(seconds) }
        return response
    }
}

extension Moment {
    /// `2026-11-21 02:37 UTC`.
    fileprivate var readable: String { iso.prefix(16).replacing("T", with: " ") + " UTC" }
}
