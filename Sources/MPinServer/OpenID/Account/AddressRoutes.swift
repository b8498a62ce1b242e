import Hummingbird
import Logging
import MPinOpenID
import MPinService
import MPinStore
import NIOCore

/// A user's change of the mail address. The new address counts after its owner has opened the link in a mail to it and
/// has pressed the button there. A mail to the old address tells of it.
extension OpenIDFace {
    var mailer: Mailer { config.mailer }

    /// Answers the form of the account page: sends the link to the new address, or forgets the address that waits.
    func changeAddress(_ request: Request, _ context: RequestContext) async throws -> Response {
        try await changing(request, isSensitive: { _ in true }) { form in
            guard form.members["answer"] != "cancel" else {
                try await provider.profiles.cancelEmail(for: form.userID, at: provider.now)
                return saved
            }
            guard mailer.sends, let address = form.members["address"].flatMap({ EmailAddress($0) }) else {
                return try await refusal(form, .email)
            }
            // The mail goes to somebody who may not have asked for it, so it counts like that of a registration.
            try rates.admit(.register, address: context.remoteAddress)
            try await rates.admit(.register, user: address.text)
            try await rates.admit(.register, user: form.userID)
            return try await send(to: address, form, context)
        }
    }

    private func send(
        to address: EmailAddress, _ form: AccountForm, _ context: RequestContext
    ) async throws -> Response {
        let now = provider.now
        let token = try await provider.profiles.requestEmail(address.text, for: form.userID, at: now)
        let link = provider.base + AccountPaths.link + "?" + RequestParameters.query([("token", token.text)])
        let content = MailContent(
            link: link, user: form.userID, expires: now.adding(seconds: Profiles.linkSeconds).iso,
            newAddress: address.text)
        do { try await mailer.send(content, in: form.pages.language) } catch is Mailer.NoAddress {
            try await provider.profiles.cancelEmail(for: form.userID, at: now)
            return try await refusal(form, .email)
        } catch {
            context.logger.error("mail was not sent", metadata: ["error": "\(error)"])
            try await provider.profiles.cancelEmail(for: form.userID, at: now)
            return form.pages.failed.response(.badGateway)
        }
        return saved
    }

    /// Answers GET of the link: a page with a button. Opening the link changes nothing, because mail scanners open
    /// links, too.
    func showAddressLink(_ request: Request) async throws -> Response {
        let pages = pages(request)
        guard let token = request.query("token").flatMap({ OpaqueToken($0) }),
            let link = try await provider.profiles.emailLink(token, at: provider.now)
        else { return pages.addressLinkOver.response(.gone) }
        return pages.confirmAddress(link, path(AccountPaths.link), token.text).response()
    }

    /// Answers the button of that page. No session is needed, because the mail may be read on another device. The link
    /// itself is secret.
    func confirmAddress(_ request: Request, _ logger: Logger) async throws -> Response {
        let pages = pages(request)
        guard request.isFromThisSite, request.isForm,
            let form = RequestParameters(String(buffer: try await request.bytes(limits)))
        else { return pages.refusedForm.response(.forbidden) }
        guard let token = form["token"].flatMap({ OpaqueToken($0) }),
            let (link, old) = try await provider.profiles.confirmEmail(token, at: provider.now)
        else { return pages.addressLinkOver.response(.gone) }
        config.audit.record(.profile("email-verified", user: link.userID, by: LogoutCause.user.rawValue))
        if let old, old != link.address { await tell(old, link, pages.language, logger) }
        return pages.addressConfirmed(link, path(AccountPaths.page)).response()
    }

    /// Tells the owner of the address that was replaced. If the mail cannot be sent, the change stays.
    private func tell(_ old: String, _ link: Profiles.EmailLink, _ language: Language, _ logger: Logger) async {
        let content = MailContent(
            link: provider.base + AccountPaths.page, user: link.userID, expires: "", newAddress: link.address,
            oldAddress: old)
        do { try await mailer.send(content, in: language) } catch {
            logger.error("mail to the old address was not sent", metadata: ["error": "\(error)"])
        }
    }
}

extension Pages {
    /// The page that asks whether the address is that of the account's user. `action`: where the form goes.
    fileprivate func confirmAddress(_ link: Profiles.EmailLink, _ action: String, _ token: String) -> Page {
        page(
            .addressTitle,
            """
            <section class="card">
            <p class="lead">\(language[.addressLead, values(link)])</p>
            <p>\(language[.confirmText])</p>
            <form method="post" action="\(action)" class="actions"><input type="hidden" name="token" value="\(token)">\
            <button type="submit">\(language[.confirmButton])</button></form>
            </section>
            """)
    }

    fileprivate func addressConfirmed(_ link: Profiles.EmailLink, _ account: String) -> Page {
        message(.confirmedTitle, language[.addressDone, values(link)], button(account, .settingsTitle))
    }

    fileprivate var addressLinkOver: Page {
        message(.expiredTitle, language[.addressOver], button("/", .backToStart))
    }

    private func values(_ link: Profiles.EmailLink) -> [String: HTML] {
        ["address": "<strong id=\"address\">\(link.address)</strong>", "user": "<strong>\(link.userID)</strong>"]
    }
}
