import HTTPTypes
import Hummingbird
import MPinWire

/// What the pages and mails say in one language: a file that is a part of the program.
package struct Language: Sendable {
    /// As HTML and HTTP name it, such as `en`.
    package let code: String
    private let texts: [Phrase: Template]

    /// The first is the one that is spoken where nothing else is asked for.
    package static let all = [
        Language("en", PackageResources.en_json), Language("de", PackageResources.de_json),
        Language("fr", PackageResources.fr_json), Language("es", PackageResources.es_json),
    ]

    package static var english: Language { all[0] }

    package static func named(_ code: String) -> Language? { all.first { $0.code == code } }

    private init(_ code: String, _ file: [UInt8]) {
        self.code = code
        // A test reads every file. What one lacked all the same would be shown by its name.
        let read = (try? JSON.decode([String: String].self, from: file.span)) ?? [:]
        texts = Dictionary(
            uniqueKeysWithValues: Phrase.allCases.compactMap { phrase in
                read[phrase.rawValue].flatMap { try? Template($0) }.map { (phrase, $0) }
            })
    }

    /// The text, for a place in HTML.
    subscript(_ phrase: Phrase, _ values: [String: HTML] = [:]) -> HTML {
        texts[phrase]?.filled(values) ?? "\(phrase.rawValue)"
    }

    /// The text for anything but HTML.
    func plain(_ phrase: Phrase, _ values: [String: String] = [:]) -> String {
        texts[phrase]?.filled(values) ?? phrase.rawValue
    }

    /// As it stands in the file, for a script that fills its places.
    func raw(_ phrase: Phrase) -> HTML {
        guard let template = texts[phrase] else { return self[phrase] }
        return self[phrase, Dictionary(uniqueKeysWithValues: template.names.map { ($0, "{{\($0)}}" as HTML) })]
    }
}

extension Language {
    /// The one that an `Accept-Language` (RFC 9110 section 12.5.4) likes best; of equals the first. Nil: it likes none.
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
