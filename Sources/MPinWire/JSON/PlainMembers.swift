/// A message that each login sends. It is read from ``PlainMembers`` if the client has written it in the simplest form,
/// because a tree of its text and a container for its members would take five times as long.
package protocol PlainMessage: Decodable {
    /// Nil if a member is missing, unknown or of another type. Then `init(from:)` decides, and says what is wrong.
    init?(plain members: PlainMembers)
}

/// The members of a small JSON object in the simplest form: names and texts of printable ASCII without escapes, whole
/// numbers that are not negative, true, false, null, and lists and objects of such values. Everything else is left to
/// jansson. So this reader decides about no text that is wrong or ambiguous.
package struct PlainMembers {
    package typealias Member = (name: String, value: JSONValue)
    package let members: [Member]

    /// The most members of one object, and the most elements of a list.
    private static let most = 16
    /// The most digits of a number, all of which fit into an `Int`.
    private static let mostDigits = 15

    /// Nil if the text is not, or may not be, such an object.
    package init?(_ text: Span<UInt8>) {
        var position = 0
        guard text.count <= JSON.maxBytes, let members = Self.object(text, &position, isInner: false) else {
            return nil
        }
        Self.skipSpace(text, &position)
        guard position == text.count else { return nil }
        self.members = members
    }

    /// Whether each member is one of these: of `texts` with a text, of `numbers` with a number, or of `others`.
    func consist(ofTexts texts: [String] = [], numbers: [String] = [], others: [String] = []) -> Bool {
        members.allSatisfy { name, value in
            switch value {
            case .string where texts.contains(name), .int where numbers.contains(name): true
            default: others.contains(name)
            }
        }
    }

    subscript(name: String) -> JSONValue? { members.first { $0.name == name }?.value }

    /// Nil if there is no such member, or if it is no text.
    func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }

    /// Nil if there is no such member, or if it is no number.
    func number(_ name: String) -> Int? { if case .int(let number)? = self[name] { number } else { nil } }

    /// `isInner`: whether it is in another object, so that its values may be neither lists nor objects.
    private static func object(_ text: Span<UInt8>, _ position: inout Int, isInner: Bool) -> [Member]? {
        var members: [Member] = []
        guard take("{", text, &position) else { return nil }
        if take("}", text, &position) { return members }
        members.reserveCapacity(8)
        repeat {
            guard members.count < most, let name = string(text, &position), take(":", text, &position),
                let value = value(text, &position, isInner: isInner),
                !members.contains(where: { $0.name == name })
            else { return nil }
            members.append((name, value))
        } while take(",", text, &position)
        return take("}", text, &position) ? members : nil
    }

    private static func list(_ text: Span<UInt8>, _ position: inout Int) -> [JSONValue]? {
        var elements: [JSONValue] = []
        guard take("[", text, &position) else { return nil }
        if take("]", text, &position) { return elements }
        repeat {
            guard elements.count < most, let element = value(text, &position, isInner: true) else { return nil }
            elements.append(element)
        } while take(",", text, &position)
        return take("]", text, &position) ? elements : nil
    }

    private static func value(_ text: Span<UInt8>, _ position: inout Int, isInner: Bool) -> JSONValue? {
        skipSpace(text, &position)
        guard position < text.count else { return nil }
        switch text[position] {
        case UInt8(ascii: "\""): return string(text, &position).map(JSONValue.string)
        case UInt8(ascii: "[") where !isInner: return list(text, &position).map(JSONValue.array)
        case UInt8(ascii: "{") where !isInner:
            guard let members = object(text, &position, isInner: true) else { return nil }
            return .object(Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first })
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return number(text, &position).map(JSONValue.int)
        default: return word(text, &position)
        }
    }

    private static func string(_ text: Span<UInt8>, _ position: inout Int) -> String? {
        guard take("\"", text, &position) else { return nil }
        let start = position
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""):
                let found = text.extracting(start..<position)
                position += 1
                return found.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
            case UInt8(ascii: "\\"): return nil
            case 0x20...0x7E: position += 1
            default: return nil
            }
        }
        return nil
    }

    /// Reads digits. What comes after them must be the end of the value, because a fraction or an exponent is refused
    /// there.
    private static func number(_ text: Span<UInt8>, _ position: inout Int) -> Int? {
        let start = position
        var number = 0
        while position < text.count, case let digit = text[position] &- UInt8(ascii: "0"), digit < 10 {
            guard position - start < mostDigits else { return nil }
            number = 10 * number + Int(digit)
            position += 1
        }
        // JSON has no number with a zero in front.
        return text[start] == UInt8(ascii: "0") && position - start > 1 ? nil : number
    }

    private static func word(_ text: Span<UInt8>, _ position: inout Int) -> JSONValue? {
        if take("true", text, &position) { return .bool(true) }
        if take("false", text, &position) { return .bool(false) }
        return take("null", text, &position) ? .null : nil
    }

    /// Skips white space, and then `wanted` if it comes next.
    private static func take(_ wanted: StaticString, _ text: Span<UInt8>, _ position: inout Int) -> Bool {
        skipSpace(text, &position)
        let end = position + wanted.utf8CodeUnitCount
        guard end <= text.count else { return false }
        for offset in 0..<wanted.utf8CodeUnitCount where text[position + offset] != wanted.utf8Start[offset] {
            return false
        }
        position = end
        return true
    }

    private static func skipSpace(_ text: Span<UInt8>, _ position: inout Int) {
        while position < text.count, case let byte = text[position],
            byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
        {
            position += 1
        }
    }
}
