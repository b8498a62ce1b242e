/// A text with places for values, written `{{name}}`. If an inserted value itself contains `{{name}}`, that is not
/// replaced.
struct Template: Sendable {
    private enum Piece: Sendable {
        case text(String)
        case place(String)
    }

    private let pieces: [Piece]

    /// Parses a template. Throws if a place is not closed, or if its name is not one of `names`. If `names` is nil, any
    /// name is allowed.
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

    /// Inserts the values. A place without a value becomes empty.
    func filled(_ values: [String: String]) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .place(let name): values[name] ?? ""
            }
        }.joined()
    }

    /// Inserts HTML into a template of plain text.
    func filled(_ values: [String: HTML]) -> HTML {
        pieces.reduce("") { html, piece in
            switch piece {
            case .text(let text): "\(html)\(text)"
            case .place(let name): "\(html)\(values[name] ?? "")"
            }
        }
    }

    /// Inserts HTML into a template of HTML.
    func filledMarkup(_ values: [String: HTML]) -> String { filled(values.mapValues(\.text)) }
}
