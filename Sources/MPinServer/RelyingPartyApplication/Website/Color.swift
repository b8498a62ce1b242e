import Foundation

/// A colour (sRGB), and its contrast to others (WCAG 2.2).
package struct Color: Sendable, Equatable {
    /// The parts red, green and blue, from 0 to 1.
    private let parts: [Double]

    static let black = Color(parts: [0, 0, 0])
    static let white = Color(parts: [1, 1, 1])
    /// The built-in accent colour of the pages.
    package static let indigo = Color(bytes: [0x43, 0x38, 0xca])

    private init(parts: [Double]) { self.parts = parts }

    init(bytes: [UInt8]) { parts = bytes.map { Double($0) / 255 } }

    /// Reads `RRGGBB`, with or without a leading `#`, which begins a comment in a shell.
    package init?(_ text: String) {
        let digits = text.hasPrefix("#") ? text.dropFirst() : text[...]
        guard digits.utf8.count == 6, digits.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let number = UInt32(digits, radix: 16)
        else { return nil }
        self.init(bytes: [16, 8, 0].map { UInt8(number >> $0 & 255) })
    }

    /// The colour as `#rrggbb`.
    package var css: String {
        "#"
            + parts.map { part in
                let text = String(Int((part * 255).rounded()), radix: 16)
                return text.count == 1 ? "0" + text : text
            }.joined()
    }

    /// The relative luminance as WCAG defines it, from 0 for black to 1 for white.
    private var luminance: Double {
        let linear = parts.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    /// The contrast, from 1 for equal colours to 21 for black on white.
    package func contrast(_ other: Color) -> Double {
        let (one, two) = (luminance, other.luminance)
        return (max(one, two) + 0.05) / (min(one, two) + 0.05)
    }

    /// The colour for text on this colour: black or white, whichever has more contrast. The contrast is at least 4.58.
    package var textOnIt: Color { contrast(.white) >= contrast(.black) ? .white : .black }

    /// The colour nearest to this one, on the way to `end`, that can be read on all `papers`: its contrast to each is
    /// at least 4.5.
    func readable(on papers: [Color], towards end: Color) -> Color {
        for step in 0...100 {
            let share = Double(step) / 100
            let mixed = zip(parts, end.parts).map { $0 * (1 - share) + $1 * share }
            // The colour is first rounded as in its CSS text, because the rounded one must be readable.
            guard let color = Color(Color(parts: mixed).css) else { continue }
            if papers.allSatisfy({ color.contrast($0) >= 4.5 }) { return color }
        }
        return end
    }
}
