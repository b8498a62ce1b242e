import Hummingbird
import Logging
import MPinService

/// The pages on which people ask for the mail again.
extension Website {
    func awaitMail(_ request: Request) throws -> Response {
        let old = sessions.id(request)
        let id = try old ?? .random()
        var response = pages(request).awaitMail(csrf: sessions.formToken(id)).response()
        if old == nil { sessions.give(id, seconds: nil, to: &response) }
        return response
    }

    /// Sends the mail again. It goes only to the address itself, so anybody may ask for it, but only a limited number
    /// of times for each address. Neither the answer nor its time depends on whether there is a registration, because
    /// the mail is sent after the answer.
    func resend(_ request: Request, _ logger: Logger) async throws -> Response {
        let pages = pages(request)
        guard let form = try await form(request, of: sessions.id(request)), let csrf = form["csrf"],
            let address = form["address"],
            (1...config.limits.service.userIDBytes).contains(address.utf8.count),
            UserID.hiddenCharacters(in: address) == nil
        else { return pages.refusedForm.response(.forbidden) }
        let now = config.clock()
        let (isAllowed, again, pending) = try await mails.ask(for: address, at: now)
        if let pending {
            Task { await send(pending, logger) }
        }
        let page = pages.mailSent(to: address, again: again, at: now, csrf: csrf, isTooEarly: !isAllowed)
        var response = page.response(isAllowed ? .ok : .tooManyRequests)
        if !isAllowed { response.headers[.retryAfter] = String(again.secondsFrom(now)) }
        return response
    }

    private func send(_ pending: PendingMails.Pending, _ logger: Logger) async {
        guard let user = MPinID(hex: pending.link.id)?.userID else { return }
        let content = MailContent(
            link: pending.link.url(base: config.site.publicURL, key: config.linkKey), user: user,
            expires: pending.link.expires)
        do { try await mailer.send(content, in: Language.named(pending.language) ?? config.site.language) } catch {
            logger.error("mail was not sent again", metadata: ["error": "\(error)"])
        }
    }
}
