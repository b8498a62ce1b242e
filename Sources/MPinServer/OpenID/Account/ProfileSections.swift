import MPinOpenID

/// The sections of the account page about the profile.
extension AccountPage {
    func profile(_ refused: ProfileFault.Member?) -> HTML {
        let profile = account.profile
        return section(
            "profile", .settingsProfile,
            form(
                AccountPaths.profile,
                """
                \(field(.name, profile.name, refused == .name))
                \(field(.picture, profile.picture, refused == .picture))
                \(field(.locale, profile.locale, refused == .locale))
                <button type="submit">\(say[.settingsSave])</button>
                """))
    }

    /// The field of a member of the profile. `isRefused`: say that the value was refused.
    private func field(_ member: Field, _ value: String?, _ isRefused: Bool) -> HTML {
        let (name, alert) = (member.name, alert(member.name, member.fault, isShown: isRefused))
        return """
            \(alert.text)
            <p><label for="\(name)">\(say[member.label])</label>
            <input id="\(name)" name="\(name)" type="\(member.kind)" value="\(value ?? "")" \
            autocomplete="\(member.autocomplete)" maxlength="\(member.limit)"\(alert.state)></p>
            """
    }

    /// How a member of the profile is typed in.
    private struct Field {
        let name: String
        let label: Phrase
        let fault: Phrase
        /// The type of the input, and what a browser may fill in (HTML section 4.10.18.7).
        let kind: String
        let autocomplete: String
        /// The greatest number of characters.
        let limit: Int

        static let name = Field(
            name: "name", label: .settingsName, fault: .settingsFaultName, kind: "text", autocomplete: "name",
            limit: 100)
        static let picture = Field(
            name: "picture", label: .settingsPicture, fault: .settingsFaultPicture, kind: "url", autocomplete: "photo",
            limit: RedirectURI.maxBytes)
        static let locale = Field(
            name: "locale", label: .settingsLocale, fault: .settingsFaultLocale, kind: "text",
            autocomplete: "language", limit: 35)
    }

    func address(_ refused: ProfileFault.Member?) -> HTML {
        let profile = account.profile
        let current: HTML =
            profile.email.map {
                say[
                    profile.isEmailVerified ? .settingsMailVerified : .settingsMailUnverified,
                    ["address": "<strong id=\"email\">\($0)</strong>"]]
            } ?? say[.settingsMailNone]
        return section(
            "address-section", .mailAddress,
            """
            <p>\(current)</p>
            \(pending)
            \(account.sendsMail ? newAddress(refused == .email) : "")
            """)
    }

    /// The address that waits for its link.
    private var pending: HTML {
        guard let pending = account.pendingEmail else { return "" }
        let values: [String: HTML] = [
            "address": "<strong>\(pending.address)</strong>", "time": pages.time(pending.expires),
        ]
        return """
            <p id="pending">\(say[.settingsMailPending, values])</p>
            \(button(AccountPaths.address, "answer", "cancel", .settingsMailCancel, about: "pending"))
            """
    }

    private func newAddress(_ isRefused: Bool) -> HTML {
        let alert = alert("address", .settingsFaultMail, isShown: isRefused)
        return form(
            AccountPaths.address,
            """
            \(alert.text)
            <p><label for="address">\(say[.settingsMailNew])</label>
            <input id="address" name="address" type="email" autocomplete="email" required \
            maxlength="\(EmailAddress.maxBytes)"\(alert.state)></p>
            <button type="submit">\(say[.settingsMailSend])</button>
            """)
    }
}
