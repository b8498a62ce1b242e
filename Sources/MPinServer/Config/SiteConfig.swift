/// What users see of a server, whichever of its parts shows it: where links lead, and how pages and mails look.
package struct SiteConfig: Sendable {
    /// The base URL of links and QR codes, without a slash at the end. It is never taken from a request.
    package var publicURL: String
    package var delivery: MailDelivery
    /// The look and name of pages and mails.
    package var brand = Brand()
    /// The language of the mails, and of pages for visitors who ask for none of the available languages.
    package var language = Language.english
    package var mail = MailTemplates()
    /// A file of users who may no longer log in: on each line a user id or an M-Pin ID in hex. It is read for each
    /// permit and login.
    package var revokedUsersFile: String?
    /// The client that the pages run in the browser. Nil: users need a phone or a program.
    package var browserClient: BrowserClient?

    package init(publicURL: String, delivery: MailDelivery) {
        self.publicURL = publicURL
        self.delivery = delivery
    }

    /// `seconds`: how long the mail server may take for one mail.
    func mailer(seconds: Int) -> Mailer {
        Mailer(delivery: delivery, seconds: seconds, templates: mail, brand: brand)
    }
}
