import HTTPTypes
import Hummingbird
import MPinStore
import MPinWire

/// The pages to confirm a registration (wire section 8.4).
extension Pages {
    /// The page that asks for a confirmation. Opening the link must not confirm by itself, because mail scanners open
    /// links, too. `found`: who has begun the registration; nil if the RPS is Milagro's, which cannot tell, nor delete it.
    func confirm(user: String, until expires: Moment, _ found: RegistrationStateResponse?) -> Page {
        let device: HTML = found?.deviceName.map { "<p>\(language[.confirmDevice, ["device": "\($0)"]])</p>" } ?? ""
        let address: HTML = found?.address.map { "<p>\(language[.confirmFrom, ["address": "\($0)"]])</p>" } ?? ""
        let delete: HTML =
            found != nil
            ? "<button type=\"submit\" class=\"quiet\" name=\"delete\" value=\"1\">\(language[.confirmDelete])</button>"
            : ""
        return page(
            .confirmTitle,
            """
            <section class="card">
            <p class="lead">\(language[.confirmLead, ["user": "<strong>\(user)</strong>"]])</p>
            \(device)\(address)
            <p>\(language[.confirmText])</p>
            <p>\(language[.confirmUntil, ["time": time(expires)]])</p>
            <form method="post" class="actions"><button type="submit">\(language[.confirmButton])</button>\
            \(delete)</form>
            </section>
            """)
    }

    var activated: Page { message(.confirmedTitle, language[.confirmedLead], button("/login", .signUpDone)) }

    var confirmedBefore: Page {
        message(.confirmedTitle, language[.alreadyConfirmedLead], button("/login", .signUpDone))
    }

    var used: Page { message(.usedTitle, language[.usedLead], button("/login", .logIn)) }

    var expired: Page { message(.expiredTitle, language[.expiredLead], button("/signup", .signUp)) }

    var invalid: Page { message(.invalidTitle, language[.invalidLead], button("/signup", .signUp)) }

    func deleted(user: String) -> Page {
        let name: HTML = "<strong>\(user)</strong>"
        return message(.deletedTitle, language[.deletedLead, ["user": name]], button("/", .backToStart))
    }
}

/// The pages to wait for the mail. They do not reveal whether an address is being registered.
extension Pages {
    func awaitMail(csrf: String) -> Page {
        mail(
            """
            <p>\(language[.mailLead])</p>
            <form method="post" action="/signup/mail"><input type="hidden" name="csrf" value="\(csrf)">
            <p><label for="address">\(language[.mailAddress])</label>
            <input id="address" name="address" type="email" autocomplete="email" required maxlength="254"></p>
            <button type="submit">\(language[.mailResend])</button></form>
            """)
    }

    /// The page after a mail was asked for. `isTooEarly`: no mail was sent, because the last one was sent too recently.
    func mailSent(to address: String, again: Moment, at now: Moment, csrf: String, isTooEarly: Bool) -> Page {
        let name: HTML = "<strong>\(address)</strong>"
        let lead: Phrase = isTooEarly ? .mailTooEarlyLead : .mailSentLead
        return mail(
            """
            <p class="lead">\(language[lead, ["user": name]])</p>
            <p>\(language[.mailLead])</p>
            <p>\(language[.mailWait, ["time": time(again)]])</p>
            <form method="post" action="/signup/mail"><input type="hidden" name="csrf" value="\(csrf)">\
            <input type="hidden" name="address" value="\(address)">\
            <button type="submit" id="resend" data-seconds="\(again.secondsFrom(now))" \
            data-wait="\(language.raw(.mailResendIn))">\(language[.mailResend])</button></form>
            """)
    }

    private func mail(_ content: HTML) -> Page {
        page(
            .mailTitle,
            """
            <section class="card">
            \(content)
            <p class="soft">\(language[.mailDeleteText])</p>
            </section>
            """, script: "resend")
    }
}
