import CJansson
import Glibc
package import MPinSecrets

/// Why a text is not the message that was expected.
package enum JSONFailure: Error, Equatable, CustomStringConvertible {
    /// Not one JSON object or array in UTF-8, or a member named twice.
    case notJSON
    /// More than ``JSON/maxBytes`` bytes or ``JSON/maxDepth`` levels.
    case tooLarge
    /// A member is missing or of another type; the text is its path.
    case mismatch(String)

    /// One line for a person; it names members and never quotes values.
    package var description: String {
        switch self {
        case .notJSON: "not a JSON object"
        case .tooLarge: "the JSON text is too large or too deep"
        case .mismatch(let path):
            path.isEmpty ? "not the JSON expected" : "member \(path) is missing or of another type"
        }
    }
}

/// JSON by jansson: duplicate names refused, size and depth bounded, nothing but white space behind the value.
package enum JSON {
    /// The largest text in bytes, as large as the largest answer of the transport.
    package static let maxBytes = 1 << 20
    /// Levels of arrays and objects; the wire's messages have three.
    package static let maxDepth = 32

    /// Reads `text` as a `Value`: an object or array, or, `fromAny`, any other JSON value, too.
    package static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from text: Span<UInt8>, fromAny: Bool = false
    ) throws(JSONFailure) -> Value {
        let document = try JSONDocument(text, isAny: fromAny)
        do {
            return try JSONNode(document: document, value: document.root, codingPath: []).decode(type)
        } catch let error as DecodingError {
            throw .mismatch(error.memberPath)
        } catch {
            throw .mismatch("")
        }
    }

    /// The text of `value` in memory that is wiped.
    package static func encode(_ value: some Encodable) throws(JSONFailure) -> SecretBytes {
        do {
            let node = try JSONTree(value)
            return try node.text()
        } catch { throw .mismatch("") }
    }

    /// The text of a `value` that holds no secret, or goes where the text cannot be wiped.
    package static func bytes(_ value: some Encodable) throws(JSONFailure) -> [UInt8] {
        do {
            let node = try JSONTree(value)
            return try node.bytes()
        } catch { throw .mismatch("") }
    }
}

/// A parsed text, wiped when it goes.
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

    /// jansson itself stops at 2048 levels only.
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

/// The memory that jansson frees, wiped: of values, and of what its parser has copied on the way to them.
enum JSONMemory {
    /// To be asked for before jansson is. Its functions are the whole process's: they are replaced only while they are
    /// plain `malloc` and `free`, so that those of a program are kept and what anybody has got from jansson stays good.
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
