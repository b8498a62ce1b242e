import Foundation
import MPinSecrets
package import MPinService
import MPinStore

/// The mail with an activation link: the built-in one in every language, or the operator's.
package struct MailTemplates: Sendable {
    /// The operator's mails by language, where nil stands for all other languages. If there are none, the built-in
    /// mails are used.
    private let own: [String?: MailTemplate]

    /// Uses the built-in mails.
    package init() { own = [:] }

    /// Reads the operator's mails: `confirm.txt` in the folder, `confirm.html` if the mail has an HTML part, and files
    /// for single languages, such as `confirm.de.txt`.
    package init(folder: String) throws(StartError) {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            throw StartError("mail-templates: \(folder) cannot be read")
        }
        let endings = [nil] + Language.all.map(\.code)
        let known = endings.flatMap { [Self.name($0, "txt"), Self.name($0, "html")] }
        for name in names where name.hasPrefix("confirm") && !known.contains(name) {
            throw StartError("mail-templates: \(folder)/\(name) is none of \(known.joined(separator: ", "))")
        }
        var own: [String?: MailTemplate] = [:]
        for language in endings {
            own[language] = try Self.template(folder, language, names)
        }
        guard own[nil] != nil else { throw StartError("mail-templates: \(folder) has no confirm.txt") }
        self.own = own
    }

    private static func name(_ language: String?, _ ending: String) -> String {
        (["confirm"] + [language, ending].compactMap(\.self)).joined(separator: ".")
    }

    private static func template(
        _ folder: String, _ language: String?, _ names: [String]
    ) throws(StartError) -> MailTemplate? {
        let (text, html) = (name(language, "txt"), name(language, "html"))
        guard names.contains(text) else {
            guard !names.contains(html) else { throw StartError("mail-templates: \(folder)/\(html) needs \(text)") }
            return nil
        }
        return try MailTemplate(
            text: file(folder, text), html: names.contains(html) ? file(folder, html) : nil,
            name: "mail-templates: \(folder)/\(name(language, "*"))")
    }

    private static func file(_ folder: String, _ name: String) throws(StartError) -> String {
        guard let text = try? PlainFile.text(folder + "/" + name) else {
            throw StartError("mail-templates: \(folder)/\(name) cannot be read as UTF-8")
        }
        return text
    }

    func subject(in language: Language, brand: Brand) -> String {
        guard let template = own[language.code] ?? own[nil] else {
            return language.plain(.mailSubject, ["service": brand.name])
        }
        return template.subject.filled(["service": brand.name])
    }

    /// Mails with a code or about an address are always the built-in ones, because the operator's are for registrations by
    /// link.
    func mail(_ content: MailContent, in language: Language, brand: Brand) -> FilledMail {
        if let code = content.code { return content.ours(code: code, in: language, brand: brand) }
        guard content.newAddress == nil, let template = own[language.code] ?? own[nil] else {
            return content.ours(in: language, brand: brand)
        }
        let subject = subject(in: language, brand: brand)
        let (plain, markup) = content.values(brand)
        return FilledMail(
            subject: subject, text: template.text.filled(plain), html: template.html?.filledMarkup(markup))
    }
}

/// The values in a mail.
struct MailContent {
    let link: String
    let user: String
    let expires: String
    /// The code that the user types in, in the place of the link; nil for a mail with a link.
    var code: String?
    /// The new address of the user. Nil if it is the mail of a registration, which goes to the user id.
    var newAddress: String?
    /// The address that the new one has replaced, if the mail tells its owner so. Then the link leads to the account
    /// page. Nil if the mail goes to the new address, with the link that confirms it.
    var oldAddress: String?

    var recipient: String { oldAddress ?? newAddress ?? user }

    /// The values that templates can use: `plain` for plain text, `markup` for HTML.
    func values(_ brand: Brand) -> (plain: [String: String], markup: [String: HTML]) {
        let plain = [
            "link": link, "user": user, "service": brand.name, "accent": brand.accent.css,
            "accentText": brand.accent.textOnIt.css, "expires": Moment(expires)?.readable ?? expires,
            "address": newAddress ?? user,
        ]
        return (plain, plain.mapValues { "\($0)" })
    }

    /// The built-in mail with a code, in plain text.
    fileprivate func ours(code: String, in say: Language, brand: Brand) -> FilledMail {
        let plain = values(brand).plain
        let (hello, who) = (say.plain(.mailHello, plain), say.plain(.mailWho, plain))
        let (type, until) = (say.plain(.mailCode, plain), say.plain(.mailUntil, plain))
        let text = "\(hello)\n\n\(who)\n\(type)\n\n\(code)\n\n\(until)\n"
        return FilledMail(subject: say.plain(.mailSubject, plain), text: text, html: nil)
    }

    /// The texts of the built-in mail with a link.
    private var phrases: [String: Phrase] {
        if oldAddress != nil {
            return [
                "subject": .mailChangedSubject, "hello": .mailHello, "who": .mailChangedWho, "open": .mailChangedOpen,
                "until": .mailChangedUntil, "button": .settingsTitle,
            ]
        }
        return [
            "subject": newAddress == nil ? .mailSubject : .mailAddressSubject, "hello": .mailHello,
            "who": newAddress == nil ? .mailWho : .mailAddressWho, "open": .mailOpen, "until": .mailUntil,
            "button": .confirmButton,
        ]
    }

    /// The built-in mail with a link.
    fileprivate func ours(in say: Language, brand: Brand) -> FilledMail {
        var (plain, markup) = values(brand)
        for (name, phrase) in phrases {
            plain[name] = say.plain(phrase, plain)
            markup[name] = say[phrase, markup]
        }
        markup["language"] = "\(say.code)"
        let text = "{{hello}}\n\n{{who}}\n{{open}}\n\n{{link}}\n\n{{until}}\n"
        let html = String(decoding: PackageResources.confirm_html, as: UTF8.self)
        return FilledMail(
            subject: plain["subject"] ?? "", text: (try? Template(text))?.filled(plain) ?? "",
            html: (try? Template(html))?.filledMarkup(markup))
    }
}

/// A complete mail.
struct FilledMail {
    let subject: String
    let text: String
    let html: String?
}

/// The operator's mail in one language. mpind knows a value for each `{{name}}` in it.
private struct MailTemplate: Sendable {
    let subject: Template
    let text: Template
    let html: Template?
    private static let names: Set = ["service", "user", "link", "expires", "accent", "accentText"]

    /// Reads a mail. `text`: the line `Subject: …`, an empty line, and the text. `name`: the name of the mail in
    /// errors.
    init(text: String, html: String?, name: String) throws(StartError) {
        let text = text.replacing("\r\n", with: "\n")
        let parts = text.split(separator: "\n\n", maxSplits: 1)
        guard parts.count == 2, parts[0].hasPrefix("Subject:"), !parts[0].contains("\n") else {
            throw StartError("\(name): the text must begin with a line \"Subject: …\" and an empty line")
        }
        do {
            subject = try Template(
                parts[0].dropFirst("Subject:".count).trimmingCharacters(in: .whitespaces), names: ["service"])
            self.text = try Template(String(parts[1]), names: Self.names)
            self.html = try html.map { text throws(Template.Failure) in try Template(text, names: Self.names) }
        } catch { throw StartError("\(name): \(error)") }
        guard self.text.names.contains("link"), self.html?.names.contains("link") ?? true else {
            throw StartError("\(name): the text and the HTML must each have {{link}}")
        }
        if let html { try Self.check(html, name) }
    }

    /// Throws if the user id would be inserted into a tag, a script or a style, because it is escaped only for the text
    /// of an element.
    private static func check(_ html: String, _ name: String) throws(StartError) {
        for place in html.ranges(of: "{{user}}") {
            let before = html[..<place.lowerBound].lowercased()
            let isInTag = before.last { $0 == "<" || $0 == ">" } == "<"
            let isInCode = ["script", "style"].contains {
                before.ranges(of: "<" + $0).count > before.ranges(of: "</" + $0).count
            }
            guard !isInTag, !isInCode else {
                throw StartError("\(name): {{user}} may stand in the HTML's text only, not in a tag, script or style")
            }
        }
    }
}
