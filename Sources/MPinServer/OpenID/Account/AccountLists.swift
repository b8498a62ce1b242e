import MPinOpenID
import MPinService
import MPinStore

/// The sections of the account page with what the user can end: devices, consents and browser sessions.
extension AccountPage {
    var devices: HTML {
        section("devices", .settingsDevices, list(account.devices.map(item), orElse: .settingsNone))
    }

    /// A device. Its removal cannot be undone, so the button appears only after a first press.
    private func item(_ device: Device) -> HTML {
        let id = "device-\(device.identity)"
        let name: HTML = device.name.map { "\($0)" } ?? say[.settingsDeviceUnnamed]
        let isOwn = MPinID(hex: account.session.login.mpinID)?.key == device.identity
        let notes = (isOwn ? [say[.settingsDeviceThis]] : []) + (device.isBlocked ? [say[.settingsBlocked]] : [])
        return """
            <h3 id="\(id)">\(name)</h3>
            \(notes.reduce("" as HTML) { "\($0)<p>\($1)</p>" })
            <dl><dt>\(say[.settingsRegistered])</dt><dd>\(pages.time(device.registered))</dd>\
            <dt>\(say[.settingsLastUsed])</dt><dd>\(device.lastUsed.map(pages.time) ?? say[.settingsNever])</dd></dl>
            <details><summary aria-describedby="\(id)">\(say[.settingsRemove])</summary>
            <p>\(say[.settingsRemoveText])</p>
            \(button(AccountPaths.devices, "device", device.identity, .settingsRemoveYes, about: id))
            </details>
            """
    }

    var applications: HTML {
        section("applications", .settingsApplications, list(account.consents.map(item), orElse: .settingsNone))
    }

    private func item(_ consent: Consent) -> HTML {
        let id = "application-\(consent.clientID)"
        return """
            <h3 id="\(id)">\(name(consent.clientID))</h3>
            <dl><dt>\(say[.settingsAllowed])</dt><dd>\(scopes(consent.scopes))</dd>\
            <dt>\(say[.accountSince])</dt><dd>\(pages.time(consent.since))</dd></dl>
            \(button(AccountPaths.applications, "client", consent.clientID, .settingsWithdraw, about: id))
            """
    }

    private func scopes(_ scopes: [String]) -> HTML {
        "<ul>\(scopes.reduce("" as HTML) { "\($0)<li>\(say.scope($1))</li>" })</ul>"
    }

    var browsers: HTML {
        let others = account.sessions.filter { $0.id != account.session.id }
        let end: HTML =
            others.isEmpty
            ? ""
            : form(
                AccountPaths.sessions,
                """
                <button type="submit" name="session" value="\(AccountForm.otherSessions)">\(say[.settingsEndOthers])</button>
                """)
        return section(
            "browsers", .settingsBrowsers, "\(list(account.sessions.map(item), orElse: .settingsNone))\(end)")
    }

    private func item(_ session: BrowserSession) -> HTML {
        let id = "session-\(session.id)"
        let title: Phrase = session.id == account.session.id ? .settingsBrowserThis : .settingsBrowserOther
        let clients = session.clients.isEmpty ? say[.settingsNone] : names(session.clients)
        return """
            <h3 id="\(id)">\(say[title])</h3>
            <dl><dt>\(say[.accountSince])</dt><dd>\(pages.time(session.begun))</dd>\
            <dt>\(say[.settingsLastUsed])</dt><dd>\(pages.time(session.used))</dd>\
            <dt>\(say[.settingsApplications])</dt><dd>\(clients)</dd></dl>
            \(button(AccountPaths.sessions, "session", session.id, .logOut, about: id))
            """
    }

    private func name(_ clientID: String) -> String { account.names[clientID] ?? clientID }

    private func names(_ clientIDs: [String]) -> HTML { "\(clientIDs.map(name).joined(separator: ", "))" }
}
