import Foundation
import MPinServer
import XCTest

/// Tests the mails with activation links, with our templates and with those of an operator.
final class MailTemplateTests: XCTestCase {
    private func folder(_ files: [String: String]) throws -> String {
        let folder = NSTemporaryDirectory() + "mails-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(atPath: folder) }
        for (name, text) in files { try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name)) }
        return folder
    }

    /// Starts a registration of the user on a new server, and returns the mail with the link.
    private func mail(
        _ user: String, headers: [String: String] = [:], _ change: (inout RelyingPartyApplicationConfig) -> Void
    ) throws -> String {
        let server = try InProcess(
            changeRPS: { $0.forwardUserHeaders = ["Accept-Language"] }, changeRPA: change
        ).keep(in: self)
        let body = "{\"userId\":\(user.quoted)}"
        XCTAssertEqual(try server.backend.call("PUT", "/rps/user", body, headers: headers).status, 200)
        let files = try FileManager.default.contentsOfDirectory(atPath: server.backend.mailFolder)
        return try String(contentsOfFile: server.backend.mailFolder + "/" + XCTUnwrap(files.first), encoding: .utf8)
    }

    /// Returns the part of a mail that has the content type `type`, without the headers of the part.
    private func part(_ type: String, _ mail: String) throws -> String {
        let boundary = try XCTUnwrap(mail.firstMatch(of: /multipart\/alternative; boundary="([^"]+)"/)).1
        let parts = mail.components(separatedBy: "--" + boundary)
        XCTAssertTrue(mail.hasSuffix("--\(boundary)--\r\n"))
        let part = try XCTUnwrap(parts.first { $0.contains("Content-Type: \(type); charset=utf-8\r\n") })
        return try XCTUnwrap(part.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n"))
    }

    func testOurMailIsWrittenInTheLanguageOfThePhoneAndElseTheOperators() throws {
        for (header, language, subject) in [
            ("de", "en", "Bestätigen Sie Ihre Registrierung bei M-Pin"), ("ja", "es", "Confirme su registro en M-Pin"),
        ] {
            let mail = try mail("alice@example.com", headers: ["Accept-Language": header]) {
                $0.site.language = Language.named(language) ?? .english
            }
            XCTAssertTrue(try part("text/html", mail).contains("<title>\(subject)</title>"), mail)
            XCTAssertTrue(try part("text/plain", mail).contains("alice@example.com"))
        }
    }

    func testTheTextAndTheHTMLLeadToTheSameLink() throws {
        let mail = try mail("alice@example.com") {
            $0.site.brand.name = "Acme & Co"
            $0.site.brand.accent = Color("ffcc00") ?? .indigo
        }
        XCTAssertTrue(mail.contains("\r\nSubject: Confirm your Acme & Co registration\r\n"), mail)
        let (text, html) = (try part("text/plain", mail), try part("text/html", mail))
        let link = try XCTUnwrap(text.firstMatch(of: /\r\n(http:\S+mpinActivate\S+)\r\n/)).1
        XCTAssertTrue(html.contains("href=\"\(link.replacing("&", with: "&amp;"))\""), html)
        XCTAssertTrue(html.contains("background:#ffcc00;color:#000000"), html)
        XCTAssertTrue(html.contains("Acme &amp; Co"), html)
    }

    func testTheOperatorsMailTakesThePlaceOfOurs() throws {
        let templates = try MailTemplates(
            folder: folder([
                "confirm.txt": "Subject: Welcome to {{service}}\r\n\r\nOpen {{link}} until {{expires}}, {{user}}.\n",
                "confirm.html": "<p style=\"color:{{accent}}\">Hello {{user}}: <a href=\"{{link}}\">go</a></p>",
                "confirm.de.txt": "Subject: Willkommen\n\nNur Text: {{link}}\n",
            ]))
        let english = try mail("alice@example.com") { $0.site.mail = templates }
        XCTAssertTrue(english.contains("\r\nSubject: Welcome to M-Pin\r\n"), english)
        XCTAssertTrue(try part("text/plain", english).hasPrefix("Open http://"))
        XCTAssertTrue(try part("text/html", english).hasPrefix("<p style=\"color:#4338ca\">Hello alice@example.com: "))
        let german = try mail("alice@example.com", headers: ["Accept-Language": "de"]) { $0.site.mail = templates }
        XCTAssertTrue(german.contains("\r\nSubject: Willkommen\r\n"), german)
        XCTAssertTrue(german.contains("\r\nContent-Type: text/plain; charset=utf-8\r\n"))
        XCTAssertFalse(german.contains("multipart"), "there is no HTML in German")
    }

    /// A user id must be inserted as plain text: not as HTML, and not as a placeholder of the template.
    func testAUserIDIsInsertedAsText() throws {
        let templates = try MailTemplates(
            folder: folder([
                "confirm.txt": "Subject: Hello\n\n{{user}}\n{{link}}\n",
                "confirm.html": "<p title=\"x\">{{user}}</p>{{link}}",
            ]))
        for change in [{ _ in }, { $0.site.mail = templates }] as [(inout RelyingPartyApplicationConfig) -> Void] {
            let mail = try mail("x&'user'/accent@example.com", change)
            let (text, html) = (try part("text/plain", mail), try part("text/html", mail))
            XCTAssertTrue(text.contains("x&'user'/accent@example.com"), text)
            XCTAssertTrue(html.contains("x&amp;&#39;user&#39;/accent@example.com"), html)
        }
        let server = try InProcess().keep(in: self)
        for wrong in ["<b>@example.com", "{{link}}@example.com", "\"a\"@example.com", "a@b.c\r\nBcc: eve@example.com"] {
            let status = try server.backend.call("PUT", "/rps/user", "{\"userId\":\(wrong.quoted)}").status
            XCTAssertTrue([400, 403].contains(status), "\(wrong): \(status)")
        }
    }

    func testConfigCheckRefusesTemplatesThatWouldMakeBadMails() throws {
        let text = "Subject: Hello\n\n{{link}}\n"
        for (files, problem) in [
            ([:], "has no confirm.txt"), (["confirm.html": "{{link}}"], "needs confirm.txt"),
            (["confirm.txt": "{{link}}\n"], "must begin with a line"),
            (["confirm.txt": "Subject: a\nBcc: b\n\n{{link}}"], "must begin with a line"),
            (["confirm.txt": "Subject: a\n\nno link"], "must each have {{link}}"),
            (["confirm.txt": text, "confirm.html": "none"], "must each have {{link}}"),
            (["confirm.txt": text + "{{lnik}}"], "{{lnik}} is no place"),
            (["confirm.txt": text + "{{user"], "has no }}"),
            (["confirm.txt": "Subject: {{user}}\n\n{{link}}"], "{{user}} is no place"),
            (["confirm.txt": text, "confirm.it.txt": text], "is none of"),
            (["confirm.txt": text, "confirm.html": "<a title={{user}} href=\"{{link}}\">"], "text only"),
            (["confirm.txt": text, "confirm.html": "{{link}}<script>x = '{{user}}'</script>"], "text only"),
            (["confirm.txt": text, "confirm.html": "{{link}}<style>p { } {{user}}</style>"], "text only"),
        ] as [([String: String], String)] {
            let folder = try folder(files)
            let options = ["--all-in-one", "--state-dir", "x", "--mail-templates", folder]
            let settings = try SettingsReader(.serve).read(arguments: options, environment: [:])
            XCTAssertThrowsError(try settings.check(), "\(files)") { XCTAssertTrue("\($0)".contains(problem), "\($0)") }
        }
        XCTAssertThrowsError(try MailTemplates(folder: "/nowhere"))
        let piped = try folder([:])
        XCTAssertEqual(mkfifo(piped + "/confirm.txt", 0o600), 0)
        XCTAssertThrowsError(try MailTemplates(folder: piped), "nobody writes to a pipe") {
            XCTAssertTrue("\($0)".contains("cannot be read"), "\($0)")
        }
        _ = try MailTemplates(
            folder: folder(["confirm.txt": text, "confirm.html": "<b>{{user}}</b><a href='{{link}}'>"]))
    }
}
