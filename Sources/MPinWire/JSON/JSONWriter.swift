/// Writes values as JSON text (RFC 8259) without a tree in between. Tokens and the answers that contain them are such
/// values. The text is that of ``JSON/encode(_:)``, but for the form of numbers with a fraction.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []

    init(_ value: JSONValue) throws(JSONFailure) {
        bytes.reserveCapacity(512)
        try write(value)
    }

    private mutating func write(_ value: JSONValue) throws(JSONFailure) {
        switch value {
        case .null: append("null")
        case .bool(let flag): append(flag ? "true" : "false")
        case .int(let number): bytes.append(contentsOf: String(number).utf8)
        case .double(let number):
            // JSON has neither infinities nor NaN.
            guard number.isFinite else { throw .mismatch("") }
            bytes.append(contentsOf: String(number).utf8)
        case .string(let text): write(text)
        case .array(let elements): try write(elements)
        case .object(let members): try write(members)
        }
    }

    private mutating func write(_ elements: [JSONValue]) throws(JSONFailure) {
        append("[")
        var isFirst = true
        for element in elements {
            if !isFirst { append(",") }
            isFirst = false
            try write(element)
        }
        append("]")
    }

    private mutating func write(_ members: [String: JSONValue]) throws(JSONFailure) {
        append("{")
        var isFirst = true
        for (name, member) in members {
            if !isFirst { append(",") }
            isFirst = false
            write(name)
            append(":")
            try write(member)
        }
        append("}")
    }

    /// Writes a string. Only what must be escaped is escaped (RFC 8259 section 7).
    private mutating func write(_ text: String) {
        append("\"")
        var text = text
        text.withUTF8 { utf8 in
            guard utf8.contains(where: Self.mustBeEscaped) else { return bytes.append(contentsOf: utf8) }
            for byte in utf8 { write(byte) }
        }
        append("\"")
    }

    private static func mustBeEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func write(_ byte: UInt8) {
        guard Self.mustBeEscaped(byte) else { return bytes.append(byte) }
        switch byte {
        case UInt8(ascii: "\""): append("\\\"")
        case UInt8(ascii: "\\"): append("\\\\")
        case UInt8(ascii: "\n"): append("\\n")
        case UInt8(ascii: "\r"): append("\\r")
        case UInt8(ascii: "\t"): append("\\t")
        case 0x08: append("\\b")
        case 0x0C: append("\\f")
        default:
            append(byte < 0x10 ? "\\u000" : "\\u00")
            bytes.append(contentsOf: String(byte, radix: 16, uppercase: true).utf8)
        }
    }

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }
}
