package import MPinSecrets

/// Secret bytes that are sent as hex. ``JSON/decode(_:from:fromAny:)`` decodes them without making a `String` of the
/// hex text. Other decoders make one, and a `String` is not wiped.
package struct SecretHex: Codable, Sendable, Equatable {
    package let secret: SecretBytes

    package init(_ secret: SecretBytes) { self.secret = secret }

    package init(from decoder: any Decoder) throws {
        let text = [UInt8](try decoder.singleValueContainer().decode(String.self).utf8)
        guard let secret = SecretBytes(hex: text.span) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "not hex"))
        }
        self.secret = secret
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(secret.hex())
    }
}

/// A secret text, such as a one-time token. As with ``SecretHex``, our decoder makes no `String` of it.
package struct SecretText: Codable, Sendable, Equatable {
    /// The text in UTF-8.
    package let secret: SecretBytes

    package init(_ secret: SecretBytes) { self.secret = secret }

    /// Copies `text`. The original is not wiped.
    package init(_ text: String) { secret = SecretBytes(unguarded: text) }

    /// The size in UTF-8, in bytes.
    package var count: Int { secret.count }

    /// A copy that is not wiped. For servers, whose requests are in memory that is not wiped either.
    package var plainText: String { secret.span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }

    /// Joins two texts.
    package static func + (left: SecretText, right: SecretText) -> SecretText {
        SecretText(SecretBytes(joining: [left.secret, right.secret]))
    }

    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(plainText)
    }
}

extension SecretText: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self.init(text) }
}

/// An integer that old peers may write as text (wire section 6.2).
package struct LenientInt: Codable, Sendable, Equatable {
    package let value: Int

    package init(_ value: Int) { self.value = value }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int.self) {
            value = number
        } else if let number = Int(try container.decode(String.self)) {
            value = number
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an integer")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// A truth value that old peers may write as 0, 1, "0" or "1" (wire section 6.7).
package struct LenientBool: Codable, Sendable, Equatable {
    package let value: Bool

    package init(_ value: Bool) { self.value = value }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let flag = try? container.decode(Bool.self) {
            value = flag
        } else {
            switch try container.decode(LenientInt.self).value {
            case 0: value = false
            case 1: value = true
            default: throw DecodingError.dataCorruptedError(in: container, debugDescription: "neither 0 nor 1")
            }
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// Any JSON value, for members that are passed on without being read.
package enum JSONValue: Codable, Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The number of levels of arrays and objects in this value; 0 for a scalar.
    package var depth: Int {
        switch self {
        case .array(let members): 1 + (members.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.values.map(\.depth).max() ?? 0)
        case .null, .bool, .int, .double, .string: 0
        }
    }

    package init(from decoder: any Decoder) throws {
        if let node = decoder as? JSONNode {
            self = node.content
            return
        }
        let container = try decoder.singleValueContainer()
        // A failed attempt to decode a type costs more than a successful one, so the most frequent type comes first.
        if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        if let tree = encoder as? JSONTree { return try tree.encode(content: self) }
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// The member with that name; nil if there is none, or if this is not an object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }
}

/// The body of an error answer of our servers (wire section 2).
package struct ErrorResponse: Codable, Sendable {
    package var version: String?
    /// The name of the service; sent only with the HTTP status 404.
    package var service_name: String?
    package var message: String
    /// After a wrong PIN: how many more wrong PINs are possible before the identity is blocked. Nil if the server does
    /// not say. Old clients ignore it.
    package var attemptsLeft: Int?

    package init(message: String, service_name: String? = nil, attemptsLeft: Int? = nil) {
        version = wireVersion
        self.service_name = service_name
        self.message = message
        self.attemptsLeft = attemptsLeft
    }
}

/// The content of an error answer of any server: `{"message"}` (wire section 2), or at MIRACL servers `{"error",
/// "info", "requestID"}` and the older `{"error": {"code", "info"}, "requestID"}`.
package struct ErrorDetail: Sendable {
    /// The name of the error, such as `LIMITED_QUICKCODE_GENERATION`; empty if there is none.
    package let code: String
    /// The server's description of the error; may be empty.
    package let text: String
    /// The server's identifier of the request; may be empty.
    package let requestID: String
    /// After a wrong PIN: how many more wrong PINs are possible before the identity is blocked; nil if the server does
    /// not say.
    package let attemptsLeft: Int?
    /// Further details of MIRACL Trust's servers, such as the time of `backoff` (TRUST wire section 3).
    package let context: [String: String]

    package init(_ body: JSONValue) {
        let error = body["error"] ?? .null
        context = Self.context(body["context"] ?? error["context"])
        code = Self.text(error) ?? Self.text(error["code"]) ?? ""
        let words = [Self.text(body["message"]), code, Self.text(body["info"]) ?? Self.text(error["info"])]
        text = words.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: ": ")
        requestID = Self.text(body["requestID"]) ?? ""
        if case .int(let left)? = body["attemptsLeft"], left >= 0 { attemptsLeft = left } else { attemptsLeft = nil }
    }

    private static func text(_ value: JSONValue?) -> String? {
        guard case .string(let text) = value else { return nil }
        return text
    }

    /// The members with a text or a number.
    private static func context(_ value: JSONValue?) -> [String: String] {
        guard case .object(let members) = value else { return [:] }
        return members.compactMapValues { member in
            if case .int(let number) = member { String(number) } else { text(member) }
        }
    }
}
