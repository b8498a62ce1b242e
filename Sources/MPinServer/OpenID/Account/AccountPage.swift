import MPinOpenID
import MPinService
import MPinStore

/// What the account page shows.
struct Account {
    /// The session of the browser that shows the page.
    let session: BrowserSession
    let profile: Profile
    let devices: [Device]
    let consents: [Consent]
    let sessions: [BrowserSession]
    /// The names of the clients by their ids.
    let names: [String: String]
    /// Whether the server can send mails. If not, users cannot change their mail addresses.
    let sendsMail: Bool
    let now: Moment

    /// The address that waits for its link, if the link is still valid.
    var pendingEmail: Profile.PendingEmail? { profile.pendingEmail.flatMap { now < $0.expires ? $0 : nil } }
}

/// Builds the account page. Each section has forms of its own.
struct AccountPage {
    let pages: Pages
    let account: Account
    /// The path of the issuer.
    let base: String
    let csrf: String

    var say: Language { pages.language }

    /// Returns the page. `isSaved`: say that a change was made. `refused`: say that the new value of this member was
    /// refused.
    func page(isSaved: Bool, refused: ProfileFault.Member?) -> Page {
        let user: HTML = "<strong id=\"user\">\(account.session.login.userID)</strong>"
        let result: HTML = isSaved ? "<p role=\"status\" id=\"saved\">\(say[.settingsSaved])</p>" : ""
        return pages.page(
            .settingsTitle,
            """
            <p class="lead">\(say[.loggedInAs, ["user": user]])</p>
            \(result)
            <p>\(say[.settingsRecent])</p>
            \(profile(refused))
            \(address(refused))
            \(devices)
            \(applications)
            \(browsers)
            """)
    }

    /// A section with a heading.
    func section(_ id: String, _ title: Phrase, _ content: HTML) -> HTML {
        """
        <section class="card settings" id="\(id)" aria-labelledby="\(id)-title">
        <h2 id="\(id)-title">\(say[title])</h2>
        \(content)
        </section>
        """
    }

    /// A form that posts to `path`, with the token by which forms of other sites are refused.
    func form(_ path: String, _ content: HTML) -> HTML {
        """
        <form method="post" action="\(base + path)"><input type="hidden" name="csrf" value="\(csrf)">\
        \(content)</form>
        """
    }

    /// A form with one button, which stands for `value` in the member `name`. `about`: the id of the element that says
    /// what the button is about, because several buttons have the same text.
    func button(_ path: String, _ name: String, _ value: String, _ text: Phrase, about: String) -> HTML {
        form(
            path,
            """
            <button type="submit" class="quiet" name="\(name)" value="\(value)" aria-describedby="\(about)">\
            \(say[text])</button>
            """)
    }

    /// A list of items with headings, or the phrase for an empty one.
    func list(_ items: [HTML], orElse phrase: Phrase) -> HTML {
        guard !items.isEmpty else { return "<p>\(say[phrase])</p>" }
        return "<ul class=\"items\">\(items.reduce("" as HTML) { "\($0)<li>\($1)</li>" })</ul>"
    }

    /// The reason why a value was refused, for the field with this name.
    func alert(_ name: String, _ phrase: Phrase, isShown: Bool) -> (text: HTML, state: HTML) {
        guard isShown else { return ("", "") }
        return (
            "<p class=\"bad\" id=\"\(name)-fault\" role=\"alert\">\(say[phrase])</p>",
            " aria-invalid=\"true\" aria-describedby=\"\(name)-fault\""
        )
    }
}
