/// The parameters of a request (RFC 6749 section 3.1), each with all its values: what is sent twice is no parameter but a
/// mistake, or an attack on whoever reads the other one.
package struct RequestParameters: Sendable, Equatable {
    /// Names and values of one request, at most.
    private static let maxCount = 100

    private var values: [String: [String]] = [:]

    /// Reads `application/x-www-form-urlencoded`, which a query is as well. nil where an escape is no byte, the bytes are
    /// no UTF-8, or there are more than 100 parameters.
    package init?(_ text: String) {
        let members = text.utf8.split(separator: UInt8(ascii: "&"))
        guard members.count <= Self.maxCount else { return nil }
        for member in members {
            let parts = member.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.flatMap(Self.decoded),
                let value = parts.count == 2 ? parts.last.flatMap(Self.decoded) : ""
            else { return nil }
            values[name, default: []].append(value)
        }
    }

    /// The value; nil where there is none, an empty one, which counts as none, or more than one.
    package subscript(name: String) -> String? {
        guard let found = values[name], found.count == 1, let value = found.first, !value.isEmpty else { return nil }
        return value
    }

    package func isRepeated(_ name: String) -> Bool { values[name].map { $0.count > 1 } ?? false }

    /// Whether any of them is sent twice.
    package var repeatsAny: Bool { values.values.contains { $0.count > 1 } }

    /// The texts between single spaces; nil where there is no such parameter.
    package func words(_ name: String) -> [String]? {
        self[name].map { $0.split(separator: " ").map(String.init) }
    }

    /// One half of what is form-encoded, such as a client's secret behind `Basic` (RFC 6749 section 2.3.1).
    package static func decoded(_ text: some Collection<UInt8>) -> String? {
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

    /// The query of a URL: every byte but the unreserved ones (RFC 3986 section 2.3) is escaped.
    package static func query(_ members: [(String, String)]) -> String {
        members.map { "\(escaped($0.0))=\(escaped($0.1))" }.joined(separator: "&")
    }

    private static func escaped(_ text: String) -> String {
        var escaped: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) {
                escaped.append(byte)
            } else {
                escaped += [UInt8(ascii: "%"), hexDigit(byte >> 4), hexDigit(byte & 15)]
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

    /// `A-Z a-z 0-9 - . _ ~`.
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: true
        default: false
        }
    }
}
