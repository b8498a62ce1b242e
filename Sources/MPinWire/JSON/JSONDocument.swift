import CJansson
import Glibc
package import MPinSecrets

/// Why a text is not the expected message.
package enum JSONFailure: Error, Equatable, CustomStringConvertible {
    /// The text is not one JSON object or array in UTF-8, or an object has two members of the same name.
    case notJSON
    /// The text has more than ``JSON/maxBytes`` bytes or ``JSON/maxDepth`` levels.
    case tooLarge
    /// A member is missing or has another type. The text is its path.
    case mismatch(String)

    /// One line for a person. It names members and never contains values.
    package var description: String {
        switch self {
        case .notJSON: "not a JSON object"
        case .tooLarge: "the JSON text is too large or too deep"
        case .mismatch(let path):
            path.isEmpty ? "not the JSON expected" : "member \(path) is missing or of another type"
        }
    }
}

/// JSON by jansson. Refuses duplicate names and everything but white space after the value; limits size and depth.
package enum JSON {
    /// The maximum size of a text in bytes. It equals the limit of the transport for answers.
    package static let maxBytes = 1 << 20
    /// The maximum number of nested arrays and objects. The wire's own messages have at most three levels.
    package static let maxDepth = 32

    /// Decodes `text` as a `Value`. The text must be an object or array; with `fromAny` it may be any JSON value.
    package static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from text: Span<UInt8>, fromAny: Bool = false
    ) throws(JSONFailure) -> Value {
        if let message = type as? any PlainMessage.Type, let members = PlainMembers(text),
            let value = message.init(plain: members) as? Value
        {
            return value
        }
        let document = try JSONDocument(text, isAny: fromAny)
        do {
            return try JSONNode(document: document, value: document.root, codingPath: []).decode(type)
        } catch let error as DecodingError {
            throw .mismatch(error.memberPath)
        } catch {
            throw .mismatch("")
        }
    }

    /// Encodes `value` as a text whose memory is wiped when it is released.
    package static func encode(_ value: some Encodable) throws(JSONFailure) -> SecretBytes {
        do {
            let node = try JSONTree(value)
            return try node.text()
        } catch { throw .mismatch("") }
    }

    /// Encodes `value`. The memory of the text is not wiped, so the value must contain no secret, unless its
    /// destination cannot be wiped either.
    package static func bytes(_ value: some Encodable) throws(JSONFailure) -> [UInt8] {
        do {
            let node = try JSONTree(value)
            return try node.bytes()
        } catch { throw .mismatch("") }
    }

    /// Encodes a value of any form, as the other function does, and faster.
    package static func bytes(_ value: JSONValue) throws(JSONFailure) -> [UInt8] { try JSONWriter(value).bytes }
}

/// A parsed text. Its memory is wiped when it is freed.
final class JSONDocument {
    let root: UnsafeMutablePointer<json_t>

    init(_ text: Span<UInt8>, isAny: Bool = false) throws(JSONFailure) {
        _ = JSONMemory.isWiped
        guard text.count <= JSON.maxBytes, Self.isShallow(text) else { throw .tooLarge }
        let flags = Int(JSON_REJECT_DUPLICATES) | (isAny ? Int(JSON_DECODE_ANY) : 0)
        let root = text.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.flatMap { json_loadb($0, text.count, flags, nil) }
            }
        }
        guard let root else { throw .notJSON }
        self.root = root
    }

    deinit { json_decref(root) }

    /// Whether the text has at most ``JSON/maxDepth`` levels. jansson's own limit is 2048.
    private static func isShallow(_ text: Span<UInt8>) -> Bool {
        var depth = 0
        var isInString = false
        var isEscaped = false
        for index in text.indices {
            let character = text[index]
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if character == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if character == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch character {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth &+= 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth &-= 1
            default: break
            }
            if depth > JSON.maxDepth { return false }
        }
        return true
    }
}

extension DecodingError {
    /// The names of the members that lead to the failure, joined by dots.
    fileprivate var memberPath: String {
        switch self {
        case .keyNotFound(let key, let context): (context.codingPath + [key]).dotted
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.dotted
        @unknown default: ""
        }
    }
}

extension [any CodingKey] {
    fileprivate var dotted: String { map(\.stringValue).joined(separator: ".") }
}

/// Makes jansson wipe the memory that it frees, because values and the copies of its parser may contain secrets.
enum JSONMemory {
    /// Whether jansson wipes the memory that it frees. Must be read before jansson is used, because the first reading
    /// sets this up. jansson has one pair of memory functions for the whole process. They are replaced only if they are
    /// `malloc` and `free`, so that the program's own functions stay, and memory that jansson has given out before can
    /// still be freed.
    static let isWiped: Bool = {
        var allocate: json_malloc_t?
        var release: json_free_t?
        json_get_alloc_funcs(&allocate, &release)
        let plain: (json_malloc_t, json_free_t) = (malloc, free)
        guard address(allocate) == address(plain.0), address(release) == address(plain.1) else { return false }
        json_set_alloc_funcs(plain.0) { block in
            if let block { explicit_bzero(block, malloc_usable_size(block)) }
            free(block)
        }
        return true
    }()

    private static func address<Function>(_ function: Function?) -> UnsafeRawPointer? {
        function.map { unsafeBitCast($0, to: UnsafeRawPointer.self) }
    }
}
