import HTTPTypes
import Hummingbird
import MPinWire

/// The texts of the pages and mails in one language, from a file that is a part of the program.
package struct Language: Sendable {
    /// The code in HTML and HTTP, such as `en`.
    package let code: String
    private let texts: [Phrase: Template]
    /// The texts of the client's scripts, as a JSON object. They have their places `{{name}}`, which the scripts fill.
    let clientTexts: HTML

    /// All languages. The first one is the default.
    package static let all = [
        Language("en", PackageResources.en_json), Language("de", PackageResources.de_json),
        Language("fr", PackageResources.fr_json), Language("es", PackageResources.es_json),
    ]

    package static var english: Language { all[0] }

    package static func named(_ code: String) -> Language? { all.first { $0.code == code } }

    private init(_ code: String, _ file: [UInt8]) {
        self.code = code
        // A missing text would be shown as its name. A test checks that no file lacks one.
        let read = (try? JSON.decode([String: String].self, from: file.span)) ?? [:]
        texts = Dictionary(
            uniqueKeysWithValues: Phrase.allCases.compactMap { phrase in
                read[phrase.rawValue].flatMap { try? Template($0) }.map { (phrase, $0) }
            })
        let names = Phrase.allCases.filter { $0.rawValue.hasPrefix("client") } + [.mailAddress, .oidcCancel, .oidcGoOn]
        let ofClient = names.reduce(into: [String: String]()) { $0[$1.rawValue] = read[$1.rawValue] }
        let json = (try? JSON.bytes(ofClient)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        clientTexts = "\(json)"
    }

    /// The text of a phrase as HTML, with the values inserted.
    subscript(_ phrase: Phrase, _ values: [String: HTML] = [:]) -> HTML {
        texts[phrase]?.filled(values) ?? "\(phrase.rawValue)"
    }

    /// The text of a phrase as plain text, with the values inserted.
    func plain(_ phrase: Phrase, _ values: [String: String] = [:]) -> String {
        texts[phrase]?.filled(values) ?? phrase.rawValue
    }

    /// The text with its places `{{name}}` as they are, for a script that fills them.
    func raw(_ phrase: Phrase) -> HTML {
        guard let template = texts[phrase] else { return self[phrase] }
        return self[phrase, Dictionary(uniqueKeysWithValues: template.names.map { ($0, "{{\($0)}}" as HTML) })]
    }
}

extension Language {
    /// The language that an `Accept-Language` header (RFC 9110 section 12.5.4) prefers, or the first of several with
    /// the same weight. Nil if the header names none of ``all``.
    package static func preferred(_ header: String?) -> Language? {
        var best: (language: Language, weight: Double)?
        for range in (header ?? "").split(separator: ",").prefix(32) {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let tag = parts.first, let language = named(String(tag.prefix { $0 != "-" })) else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            if weight > best?.weight ?? 0 { best = (language, weight) }
        }
        return best?.language
    }
}
