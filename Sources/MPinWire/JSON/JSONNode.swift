import CJansson
import MPinSecrets

/// A value of a parsed text. It is the `Decoder` of the wire's `Codable` messages.
struct JSONNode: Decoder, SingleValueDecodingContainer {
    /// Owns the memory of `value`.
    let document: JSONDocument
    let value: UnsafeMutablePointer<json_t>
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard value.pointee.type == JSON_OBJECT else { throw mismatch(type) }
        return KeyedDecodingContainer(JSONMembers<Key>(node: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard value.pointee.type == JSON_ARRAY else { throw mismatch([Any].self) }
        return JSONElements(node: self)
    }

    func decodeNil() -> Bool { value.pointee.type == JSON_NULL }

    /// Decodes this value as a `Value`: strings, numbers and the other types in the list directly, every other type by
    /// its own `init(from:)`.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let result: Any?
        switch type {
        case is Bool.Type: result = bool
        case is String.Type: result = string
        case is SecretHex.Type: result = secret.map(SecretHex.init)
        case is SecretText.Type: result = withText { SecretText(SecretBytes(copying: $0)) }
        case is Double.Type: result = double
        case is Float.Type: result = double.map { Float($0) }
        case let integer as any FixedWidthInteger.Type: result = self.integer(integer)
        default: return try type.init(from: self)
        }
        guard let result = result as? Value else { throw mismatch(type) }
        return result
    }

    /// The node for `value`, which is the member or element of this node that `key` names.
    func child(_ value: UnsafeMutablePointer<json_t>, _ key: any CodingKey) -> JSONNode {
        JSONNode(document: document, value: value, codingPath: codingPath + [key])
    }

    // The generic function compares types, which takes time. These functions decode the types of the most frequent
    // members without a comparison.
    func decode(_ type: String.Type) throws -> String { try string ?? { throw mismatch(type) }() }
    func decode(_ type: Bool.Type) throws -> Bool { try bool ?? { throw mismatch(type) }() }
    func decode(_ type: Int.Type) throws -> Int { try integer(type) ?? { throw mismatch(type) }() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) ?? { throw mismatch(type) }() }

    private func mismatch(_ type: Any.Type) -> DecodingError {
        .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "another JSON type"))
    }

    /// This value as a `JSONValue`, whatever its type is. This is much faster than trying to decode each type.
    var content: JSONValue {
        switch value.pointee.type {
        case JSON_TRUE: .bool(true)
        case JSON_FALSE: .bool(false)
        case JSON_INTEGER: .int(Int(json_integer_value(value)))
        case JSON_REAL: integer(Int.self).map(JSONValue.int) ?? .double(json_real_value(value))
        case JSON_STRING: .string(string ?? "")
        case JSON_ARRAY: .array(elements)
        case JSON_OBJECT: .object(members)
        default: .null
        }
    }

    private var elements: [JSONValue] {
        (0..<json_array_size(value)).compactMap { index in
            json_array_get(value, index).map { JSONNode(document: document, value: $0, codingPath: []).content }
        }
    }

    private var members: [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        var member = json_object_iter(value)
        while let current = member {
            if let name = json_object_iter_key(current), let element = json_object_iter_value(current) {
                members[String(cString: name)] = JSONNode(document: document, value: element, codingPath: []).content
            }
            member = json_object_iter_next(value, current)
        }
        return members
    }

    private var bool: Bool? {
        switch value.pointee.type {
        case JSON_TRUE: true
        case JSON_FALSE: false
        default: nil
        }
    }

    private var string: String? {
        withText { text in text.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }
    }

    /// The bytes that a hex text contains; nil for any other value. The text is read in jansson's memory, so that no
    /// `String` is made from a secret.
    private var secret: SecretBytes? { withText { SecretBytes(hex: $0) } ?? nil }

    private var double: Double? {
        switch value.pointee.type {
        case JSON_INTEGER: Double(json_integer_value(value))
        case JSON_REAL: json_real_value(value)
        default: nil
        }
    }

    private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
        switch value.pointee.type {
        case JSON_INTEGER: Integer(exactly: json_integer_value(value))
        case JSON_REAL: Integer(exactly: json_real_value(value))
        default: nil
        }
    }

    private func withText<Result>(_ body: (Span<UInt8>) -> Result) -> Result? {
        guard value.pointee.type == JSON_STRING, let text = json_string_value(value) else { return nil }
        let bytes = UnsafeRawBufferPointer(start: text, count: json_string_length(value)).bindMemory(to: UInt8.self)
        return body(bytes.span)
    }
}

/// The members of an object.
private struct JSONMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let node: JSONNode
    var codingPath: [any CodingKey] { node.codingPath }

    var allKeys: [Key] {
        var keys: [Key] = []
        var member = json_object_iter(node.value)
        while let current = member {
            if let name = json_object_iter_key(current), let key = Key(stringValue: String(cString: name)) {
                keys.append(key)
            }
            member = json_object_iter_next(node.value, current)
        }
        return keys
    }

    func contains(_ key: Key) -> Bool { json_object_get(node.value, key.stringValue) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try member(key).decode(type)
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(key).decode(type) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).decode(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try member(key).decode(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try member(key).decode(type) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try member(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { node }
    func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }

    private func member(_ key: Key) throws -> JSONNode {
        guard let value = json_object_get(node.value, key.stringValue) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "missing"))
        }
        return node.child(value, key)
    }
}

/// The elements of an array.
private struct JSONElements: UnkeyedDecodingContainer {
    let node: JSONNode
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { node.codingPath }
    var count: Int? { json_array_size(node.value) }
    var isAtEnd: Bool { currentIndex >= json_array_size(node.value) }

    init(node: JSONNode) { self.node = node }

    mutating func decodeNil() throws -> Bool {
        let isNil = try element().decodeNil()
        if isNil { currentIndex += 1 }
        return isNil
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().decode(type) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }

    private mutating func next() throws -> JSONNode {
        let element = try element()
        currentIndex += 1
        return element
    }

    private func element() throws -> JSONNode {
        guard let value = json_array_get(node.value, currentIndex) else {
            throw DecodingError.valueNotFound(
                JSONNode.self, .init(codingPath: codingPath, debugDescription: "end of array"))
        }
        return node.child(value, JSONIndex(currentIndex))
    }
}

/// The index of an element, as a part of a path.
struct JSONIndex: CodingKey {
    let intValue: Int?
    var stringValue: String { intValue.map(String.init) ?? "" }

    init(_ index: Int) { intValue = index }
    init?(intValue: Int) { self.init(intValue) }
    init?(stringValue: String) { nil }
}
