import Foundation
import MPinSecrets
import MPinService

/// Options for the look of the website and its mails.
extension ServerOptions {
    static let serviceLogo = ServerOption<String?>.text(
        "service-logo", .text("FILE"), "Logo of the pages, also in the browser's tab: SVG, PNG, JPEG or WebP.")
    static let accentColor = ServerOption<String>.text(
        "accent-color", String(Color.indigo.css.dropFirst()),
        .form("RRGGBB", "a colour such as 4338ca") { Color($0) != nil },
        "Colour of buttons and links; what stands on it is black or white, as it is read better.")
    static let language = ServerOption<String>.text(
        "language", Language.english.code, .choice(Language.all.map(\.code)),
        "Language of the mails, and of the pages for visitors who ask for none of these.")
    static let mailTemplates = ServerOption<String?>.text(
        "mail-templates", .text("FOLDER"),
        "Own mails: confirm.txt, with confirm.html as its other form, and confirm.de.txt and so on for a language.")

    static let browserClient = ServerOption<String?>.text(
        "browser-client", .text("FOLDER"),
        "The client for browsers (`make browser-client`), with which people sign up and log in without an app; none: there is none. It needs --trust. (default: share/mpin/browser-client beside this program's folder, if it is there)"
    )

    static let clientOrigin = ServerOption<String?>.text(
        "client-origin", .origin,
        "Another name of this server, at which alone the client for browsers runs, such as https://id.example.com. The website leads there. (default: the website's own)"
    )

    static let website = [serviceLogo.row, accentColor.row, language.row, mailTemplates.row]
}

extension Settings {
    /// The look of the website. Reads the file of the logo.
    func brand() throws -> Brand {
        var brand = Brand()
        if let name = self[ServerOptions.serviceName] {
            guard UserID.hiddenCharacters(in: name) == nil else {
                throw SettingsError("service-name: must not hold characters that nobody sees")
            }
            brand.name = name
        }
        brand.accent = Color(self[ServerOptions.accentColor]) ?? brand.accent
        guard let path = self[ServerOptions.serviceLogo] else { return brand }
        let bytes: [UInt8]
        do { bytes = try PlainFile.bytes(path) } catch {
            throw SettingsError("service-logo: cannot be read: \(error)")
        }
        do { brand.logo = try Logo(bytes) } catch {
            throw SettingsError("service-logo: \(path) \(error.reason)")
        }
        return brand
    }

    /// The client for browsers. Nil if there is none. `isWanted`: whether an option asks for it.
    func browserClient() throws(StartError) -> (client: BrowserClient, isWanted: Bool)? {
        let wish = self[ServerOptions.browserClient]
        guard wish != "none", let folder = wish ?? BrowserClient.installedFolder else {
            guard self[ServerOptions.clientOrigin] == nil else {
                throw StartError("--client-origin needs --browser-client")
            }
            return nil
        }
        var client = try BrowserClient(folder: folder)
        client.origin = self[ServerOptions.clientOrigin]?.lowercased()
        return (client, wish != nil)
    }

    func mails() throws(StartError) -> MailTemplates {
        guard let folder = self[ServerOptions.mailTemplates] else { return MailTemplates() }
        return try MailTemplates(folder: folder)
    }

    func apply(to config: inout RelyingPartyApplicationConfig) throws {
        config.shortLived = self[ServerOptions.shortLivedStore]
        try apply(to: &config.site)
    }

    func apply(to site: inout SiteConfig) throws {
        site.brand = try brand()
        site.mail = try mails()
        site.language = Language.named(self[ServerOptions.language]) ?? site.language
        site.revokedUsersFile = self[ServerOptions.revokedUsers]
    }
}
