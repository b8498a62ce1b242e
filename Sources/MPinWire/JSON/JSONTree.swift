import CJansson
import MPinSecrets

/// A JSON value under construction. It is the `Encoder` of the wire's `Codable` messages.
final class JSONTree: Encoder, SingleValueEncodingContainer {
    /// The tree owns one reference to this value. Nil until something was encoded.
    private var value: UnsafeMutablePointer<json_t>?
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(codingPath: [any CodingKey]) { self.codingPath = codingPath }

    /// Encodes `content`.
    convenience init(_ content: some Encodable, codingPath: [any CodingKey] = []) throws {
        _ = JSONMemory.isWiped
        self.init(codingPath: codingPath)
        try encode(content)
    }

    deinit { json_decref(value) }

    /// The text without white space, in memory that is wiped.
    func text() throws -> SecretBytes {
        let text = SecretBytes(count: dump(into: nil))
        var bytes = text.mutableSpan
        let count = bytes.withUnsafeMutableBufferPointer { dump(into: $0) }
        guard count == text.count, count > 0 else { throw failure("nothing encoded, or out of memory") }
        return text
    }

    /// The text without white space, in memory that is not wiped.
    func bytes() throws -> [UInt8] {
        // Most texts fit into this place on the stack. Asking for the size first would cost as much as writing the text.
        var place = InlineArray<2048, UInt8>(repeating: 0)
        var room = place.mutableSpan
        let (bytes, size) = room.withUnsafeMutableBufferPointer { buffer in
            let size = dump(into: buffer)
            return (size <= buffer.count ? Array(buffer.prefix(size)) : text(of: size), size)
        }
        guard bytes.count == size, size > 0 else { throw failure("nothing encoded, or out of memory") }
        return bytes
    }

    /// The text without white space, which has `size` bytes.
    private func text(of size: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: size) { buffer, count in count = min(dump(into: buffer), buffer.count) }
    }

    /// Writes the text without white space if it fits into the buffer. Returns the size of the text whether it fits or
    /// not, and 0 if there is no value.
    private func dump(into buffer: UnsafeMutableBufferPointer<UInt8>?) -> Int {
        let flags = Int(JSON_COMPACT | JSON_ENCODE_ANY)
        guard let value else { return 0 }
        guard let buffer else { return json_dumpb(value, nil, 0, flags) }
        return buffer.withMemoryRebound(to: CChar.self) { json_dumpb(value, $0.baseAddress, $0.count, flags) }
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(JSONObjectWriter<Key>(tree: self, object: reuse(JSON_OBJECT) ?? set(json_object())))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONArrayWriter(tree: self, array: reuse(JSON_ARRAY) ?? set(json_array()))
    }

    func encodeNil() throws { set(json_null()) }

    /// Encodes strings, numbers and the other types in the list directly, and every other type by its own
    /// `encode(to:)`.
    func encode<Value: Encodable>(_ content: Value) throws {
        switch content {
        case let flag as Bool: set(flag ? json_true() : json_false())
        case let text as String: set(jsonText(text))
        case let secret as SecretHex:
            let digits = secret.secret.hexDigits
            set(text: digits.span)
        case let secret as SecretText: set(text: secret.secret.span)
        case let number as Double: set(json_real(number))
        case let number as Float: set(json_real(Double(number)))
        case let number as any FixedWidthInteger: try set(number: number)
        default: return try content.encode(to: self)
        }
        guard value != nil else { throw failure("not a JSON value") }
    }

    // The generic function compares types, which takes time. These functions encode the most frequent types without a
    // comparison.
    func encode(_ text: String) throws { set(jsonText(text)) }
    func encode(_ number: Int) throws { set(json_integer(Int64(number))) }
    func encode(_ number: Int64) throws { set(json_integer(number)) }

    /// Encodes any value. This is much faster than a container for each array and object in it.
    func encode(content: JSONValue) throws {
        guard set(Self.node(content)) != nil else { throw failure("not a JSON value") }
    }

    /// A null pointer if `content` is or contains a number that JSON does not have, or if there is no memory.
    private static func node(_ content: JSONValue) -> UnsafeMutablePointer<json_t>? {
        switch content {
        case .null: return json_null()
        case .bool(let flag): return flag ? json_true() : json_false()
        case .int(let number): return json_integer(Int64(number))
        case .double(let number): return json_real(number)
        case .string(let text): return jsonText(text)
        case .array(let elements):
            let array = json_array()
            for element in elements where json_array_append_new(array, node(element)) != 0 {
                json_decref(array)
                return nil
            }
            return array
        case .object(let members):
            let object = json_object()
            for (name, member) in members where json_object_set_new(object, name, node(member)) != 0 {
                json_decref(object)
                return nil
            }
            return object
        }
    }

    /// Returns a new reference to the value, which the receiver then owns. It is JSON's null if nothing was encoded.
    func take() -> UnsafeMutablePointer<json_t>? { value.map { json_incref($0) } ?? json_null() }

    private func set(text: Span<UInt8>) {
        set(
            text.withUnsafeBufferPointer { bytes in
                bytes.withMemoryRebound(to: CChar.self) { text in
                    text.baseAddress.map { json_stringn($0, text.count) } ?? json_string("")
                }
            })
    }

    private func set(number: any FixedWidthInteger) throws {
        guard let number = Int64(exactly: number) else { throw failure("number out of range") }
        set(json_integer(number))
    }

    @discardableResult
    private func set(_ new: UnsafeMutablePointer<json_t>?) -> UnsafeMutablePointer<json_t>? {
        json_decref(value)
        value = new
        return new
    }

    private func reuse(_ type: json_type) -> UnsafeMutablePointer<json_t>? {
        value?.pointee.type == type ? value : nil
    }

    fileprivate func failure(_ text: String) -> EncodingError {
        .invalidValue(0, .init(codingPath: codingPath, debugDescription: text))
    }
}

/// Writes the members of an object.
private struct JSONObjectWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let tree: JSONTree
    /// Owned by `tree`.
    let object: UnsafeMutablePointer<json_t>?
    var codingPath: [any CodingKey] { tree.codingPath }

    mutating func encodeNil(forKey key: Key) throws { json_object_set_new(object, key.stringValue, json_null()) }

    // The generic function makes a tree for the value. These functions encode the most frequent types without one.
    mutating func encode(_ text: String, forKey key: Key) throws { try set(key, jsonText(text)) }
    mutating func encode(_ flag: Bool, forKey key: Key) throws { try set(key, flag ? json_true() : json_false()) }
    mutating func encode(_ number: Int, forKey key: Key) throws { try set(key, json_integer(Int64(number))) }
    mutating func encode(_ number: Int64, forKey key: Key) throws { try set(key, json_integer(number)) }

    private func set(_ key: Key, _ value: UnsafeMutablePointer<json_t>?) throws {
        guard json_object_set_new(object, key.stringValue, value) == 0 else { throw tree.failure("no JSON text") }
    }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let child = try JSONTree(value, codingPath: codingPath + [key])
        json_object_set_new(object, key.stringValue, child.take())
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        let child = JSONTree(codingPath: codingPath + [key])
        let container = child.container(keyedBy: type)
        json_object_set_new(object, key.stringValue, child.take())
        return container
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        let child = JSONTree(codingPath: codingPath + [key])
        let container = child.unkeyedContainer()
        json_object_set_new(object, key.stringValue, child.take())
        return container
    }

    mutating func superEncoder() -> any Encoder { tree }
    mutating func superEncoder(forKey key: Key) -> any Encoder { tree }
}

/// Writes the elements of an array.
private struct JSONArrayWriter: UnkeyedEncodingContainer {
    let tree: JSONTree
    /// Owned by `tree`.
    let array: UnsafeMutablePointer<json_t>?
    var codingPath: [any CodingKey] { tree.codingPath }
    var count: Int { json_array_size(array) }

    mutating func encodeNil() throws { json_array_append_new(array, json_null()) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        let child = try JSONTree(value, codingPath: codingPath + [JSONIndex(count)])
        json_array_append_new(array, child.take())
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        let child = JSONTree(codingPath: codingPath + [JSONIndex(count)])
        let container = child.container(keyedBy: type)
        json_array_append_new(array, child.take())
        return container
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let child = JSONTree(codingPath: codingPath + [JSONIndex(count)])
        let container = child.unkeyedContainer()
        json_array_append_new(array, child.take())
        return container
    }

    mutating func superEncoder() -> any Encoder { tree }
}

/// Makes a JSON string. A null pointer if there is no memory.
private func jsonText(_ text: String) -> UnsafeMutablePointer<json_t>? {
    var text = text
    return text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { text in
            text.baseAddress.map { json_stringn($0, text.count) } ?? json_string("")
        }
    }
}
