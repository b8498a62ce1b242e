/// A text with places, written `{{name}}`. What is put into a place is never read for places again.
struct Template: Sendable {
    private enum Piece: Sendable {
        case text(String)
        case place(String)
    }

    private let pieces: [Piece]

    /// Throws where a place does not end, or its name is not one of `names`; nil: any name will do.
    init(_ text: String, names: Set<String>? = nil) throws(Failure) {
        var pieces: [Piece] = []
        var rest = text[...]
        while let start = rest.firstRange(of: "{{") {
            guard let end = rest[start.upperBound...].firstRange(of: "}}") else { throw .unfinished }
            let name = String(rest[start.upperBound..<end.lowerBound])
            guard names?.contains(name) ?? true else { throw .unknown(name) }
            pieces += [.text(String(rest[..<start.lowerBound])), .place(name)]
            rest = rest[end.upperBound...]
        }
        self.pieces = pieces + [.text(String(rest))]
    }

    enum Failure: Error, CustomStringConvertible {
        case unfinished
        case unknown(String)

        var description: String {
            switch self {
            case .unfinished: "a {{ has no }}"
            case .unknown(let name): "{{\(name)}} is no place that mpind fills"
            }
        }
    }

    var names: Set<String> {
        Set(pieces.compactMap { if case .place(let name) = $0 { name } else { nil } })
    }

    /// A place without a value stays empty.
    func filled(_ values: [String: String]) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .place(let name): values[name] ?? ""
            }
        }.joined()
    }

    /// The same where the template's own text is no markup.
    func filled(_ values: [String: HTML]) -> HTML {
        pieces.reduce("") { html, piece in
            switch piece {
            case .text(let text): "\(html)\(text)"
            case .place(let name): "\(html)\(values[name] ?? "")"
            }
        }
    }

    /// The same where it is.
    func filledMarkup(_ values: [String: HTML]) -> String { filled(values.mapValues(\.text)) }
}
