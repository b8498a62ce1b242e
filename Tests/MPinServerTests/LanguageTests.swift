import Foundation
import MPinServer
import XCTest

/// Tests the languages of the website and its mails.
final class LanguageTests: XCTestCase {
    private func texts(_ code: String) throws -> [String: String] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        let folder = root.appendingPathComponent("Sources/MPinServer/RelyingPartyApplication/Website/Languages")
        let file = try Data(contentsOf: folder.appendingPathComponent(code + ".json"))
        return try JSONDecoder().decode([String: String].self, from: file)
    }

    private func places(_ text: String) -> [String] { text.matches(of: /\{\{(\w+)\}\}/).map { String($0.1) }.sorted() }

    func testEveryFileHasExactlyTheTextsThatThePagesShowWithTheSamePlaces() throws {
        let english = try texts("en")
        XCTAssertEqual(Language.all.map(\.code), ["en", "de", "fr", "es"])
        for language in Language.all {
            let texts = try texts(language.code)
            XCTAssertEqual(Set(texts.keys), Set(Phrase.allCases.map(\.rawValue)), language.code)
            for (name, text) in texts {
                XCTAssertFalse(text.trimmingCharacters(in: .whitespaces).isEmpty, "\(language.code) \(name)")
                XCTAssertEqual(places(text), places(english[name] ?? ""), "\(language.code) \(name)")
                XCTAssertFalse(text.contains("<"), "texts hold no markup: \(language.code) \(name)")
            }
        }
    }

    func testTheVisitorsOwnOrderDecides() {
        for (header, code) in [
            ("de", "de"), ("de-AT, en;q=0.8", "de"), ("en;q=0.5,fr-CA;q=0.9", "fr"), ("ES", "es"),
            ("it, nl;q=0.9", nil), ("it, es;q=0.1", "es"), ("de;q=0, fr;q=0.2", "fr"), ("*", nil), ("", nil),
            ("fr, de", "fr"), ("de;q=x, en", "en"), (";;,,=;q=", nil), ("deutsch", nil),
        ] as [(String, String?)] {
            XCTAssertEqual(Language.preferred(header)?.code, code, header)
        }
        XCTAssertNil(Language.preferred(nil))
    }

    func testPagesSpeakTheVisitorsLanguageAndElseTheOperators() throws {
        let server = try InProcess(changeRPA: { $0.site.language = Language.named("fr") ?? .english }).keep(in: self)
        for (header, code, title) in [
            ("de", "de", "Mit dem Telefon anmelden"), ("es-MX", "es", "Inicie sesión con su teléfono"),
            ("en", "en", "Log in with your phone"), ("ja", "fr", "Connectez-vous avec votre téléphone"),
        ] {
            let page = try server.backend.call("GET", "/", headers: ["Accept-Language": header])
            XCTAssertTrue(page.text.contains("<html lang=\"\(code)\">"), page.text)
            XCTAssertTrue(page.text.contains("<h1>\(title)</h1>"), page.text)
            XCTAssertEqual(page.headers["content-language"], code)
            XCTAssertEqual(page.headers["vary"], "Accept-Language")
        }
    }
}
