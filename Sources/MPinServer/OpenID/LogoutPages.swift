import MPinOpenID

/// The form of the page that asks whether to log out.
struct LogoutForm {
    let path: String
    /// The token by which forms of other sites are refused.
    let csrf: String
    /// The client's request. Nil if it was refused.
    let wish: LogoutRequest?

    /// The hidden inputs: the token, and what leads back to the client.
    func inputs(_ language: Language) -> HTML {
        let members: [(String, String?)] = [
            ("csrf", csrf), ("ui_locales", language.code), ("client_id", wish?.client?.id),
            ("post_logout_redirect_uri", wish?.requestedURI), ("state", wish?.state),
        ]
        return members.reduce("" as HTML) { inputs, member in
            guard let value = member.1 else { return inputs }
            return "\(inputs)<input type=\"hidden\" name=\"\(member.0)\" value=\"\(value)\">"
        }
    }
}

extension Pages {
    /// Returns the page that asks whether to log out. With `isRefused` it also says that the client's request is
    /// refused.
    func logout(_ session: BrowserSession, _ form: LogoutForm, isRefused: Bool = false) -> Page {
        let user: HTML = "<strong id=\"user\">\(session.login.user.shown)</strong>"
        let refusal: HTML = isRefused ? "<p role=\"alert\">\(language[.oidcLogoutFault])</p>" : ""
        return page(
            .oidcLogoutTitle,
            """
            <section class="card">
            \(refusal)
            <p class="lead">\(language[.loggedInAs, ["user": user]])</p>
            <p>\(language[.oidcLogoutText])</p>
            <form method="post" action="\(form.path)" class="actions">\(form.inputs(language))\
            <button type="submit" name="answer" value="here">\(language[.logOut])</button>\
            <button type="submit" name="answer" value="everywhere" class="quiet">\(language[.oidcLogoutEverywhere])</button>\
            \(button("/", .oidcLogoutStay, isQuiet: true))</form>
            </section>
            """)
    }

    /// Returns the page after a logout. It links back to the client, if that has asked for it.
    func loggedOut(from wish: LogoutRequest?) -> Page {
        message(.loggedOutTitle, language[.loggedOutLead], wayBack(from: wish))
    }

    /// Returns the page for a browser that has sent no login. It may have one all the same, which it does not send from a frame
    /// of another site, so the page claims no logout.
    func nobodyLoggedOut(from wish: LogoutRequest?) -> Page {
        message(.oidcLogoutNobodyTitle, language[.oidcLogoutNobodyLead], wayBack(from: wish))
    }

    private func wayBack(from wish: LogoutRequest?) -> HTML {
        guard let client = wish?.client, let location = wish?.location else { return button("/", .backToStart) }
        let text = language[.oidcLogoutBack, ["name": "\(client.name)"]]
        return "<a class=\"button\" href=\"\(location)\">\(text)</a>"
    }

    var refusedLogout: Page { message(.refusedTitle, language[.oidcLogoutFault], button("/", .backToStart)) }
}
