/// The parameters of a request (RFC 6749 section 3.1), each with all its values. A parameter that is sent twice is a
/// mistake, or an attack on a program that reads the other value; so both values are kept, and it can be refused.
package struct RequestParameters: Sendable {
    /// The largest number of parameters in one request.
    private static let maxCount = 100

    /// In the order in which they were sent. There are so few that a search takes less time than a hash.
    private var members: [(name: String, value: String)] = []
    /// Whether any parameter is sent more than once.
    package private(set) var repeatsAny = false

    /// Reads `application/x-www-form-urlencoded` text, the form of a query and of a posted form. Nil if an escape is
    /// malformed, if a decoded text is not UTF-8, or if there are more than 100 parameters.
    package init?(_ text: String) {
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "&"))
        guard parts.count <= Self.maxCount else { return nil }
        members.reserveCapacity(parts.count)
        for member in parts {
            let end = member.firstIndex(of: UInt8(ascii: "=")) ?? member.endIndex
            guard let name = Self.decoded(member[..<end]), let value = Self.decoded(member[end...].dropFirst()) else {
                return nil
            }
            repeatsAny = repeatsAny || members.contains { $0.name == name }
            members.append((name, value))
        }
    }

    /// Returns the value of a parameter. Nil if it is missing, empty, or sent more than once.
    package subscript(name: String) -> String? {
        guard let value = members.first(where: { $0.name == name })?.value, !value.isEmpty, !isRepeated(name) else {
            return nil
        }
        return value
    }

    package func isRepeated(_ name: String) -> Bool { repeatsAny && members.count { $0.name == name } > 1 }

    /// Returns the words of a value that are separated by spaces. Nil if there is no such parameter.
    package func words(_ name: String) -> [String]? {
        self[name].map { Self.words(of: $0) }
    }

    /// The words of a text that are separated by spaces. A split as characters would take longer.
    static func words(of text: String) -> [String] {
        Array(text.utf8).split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Decodes a form-encoded text, for example the name or the secret in a `Basic` header (RFC 6749 section 2.3.1).
    /// Nil if it is malformed.
    package static func decoded(_ text: some Collection<UInt8>) -> String? {
        // Most values are such texts.
        if text.allSatisfy(isUnreserved) { return String(decoding: text, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        Character(UnicodeScalar(digit)).hexDigitValue.map { UInt8($0) }
    }

    /// Returns the parameters as the query of a URL. All bytes but the unreserved ones (RFC 3986 section 2.3) are
    /// escaped.
    package static func query(_ members: [(String, String)]) -> String {
        var query: [UInt8] = []
        for (name, value) in members {
            if !query.isEmpty { query.append(UInt8(ascii: "&")) }
            escape(name, to: &query)
            query.append(UInt8(ascii: "="))
            escape(value, to: &query)
        }
        return String(decoding: query, as: UTF8.self)
    }

    private static func escape(_ text: String, to query: inout [UInt8]) {
        for byte in text.utf8 {
            if isUnreserved(byte) {
                query.append(byte)
            } else {
                query += [UInt8(ascii: "%"), hexDigit(byte >> 4), hexDigit(byte & 15)]
            }
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

    /// Returns whether the byte is one of `A-Z a-z 0-9 - . _ ~`.
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: true
        default: false
        }
    }
}
