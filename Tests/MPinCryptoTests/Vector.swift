import Foundation

/// One test vector of `Tests/Vectors/bn254cx-mpin.json`. `SCHEMA.md` in the same folder explains the members.
struct Vector {
    let id: String
    let op: String
    private let input: [String: Any]
    private let output: [String: Any]

    /// The error for a member that is missing or has another type than the schema says.
    struct Malformed: Error {
        let id: String
        let member: String
    }

    /// Returns all vectors of the file.
    static func load() throws -> [Vector] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Vectors/bn254cx-mpin.json")
        let document = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let vectors = document?["vectors"] as? [[String: Any]] ?? []
        guard vectors.count == document?["count"] as? Int else { throw Malformed(id: "file", member: "count") }
        return try vectors.map(Vector.init)
    }

    private init(_ json: [String: Any]) throws {
        guard let id = json["id"] as? String, let op = json["op"] as? String,
            let input = json["in"] as? [String: Any], let output = json["out"] as? [String: Any]
        else { throw Malformed(id: json["id"] as? String ?? "?", member: "id, op, in or out") }
        self.id = id
        self.op = op
        self.input = input
        self.output = output
    }

    /// Returns the input `name` as bytes.
    func bytes(_ name: String) throws -> [UInt8] { try require(optionalBytes(name), name) }

    /// Returns the input `name` as bytes; nil if it is null.
    func optionalBytes(_ name: String) throws -> [UInt8]? { try hex(input[name], name) }

    /// Returns the input `name` as an integer.
    func int(_ name: String) throws -> Int { try require(input[name] as? Int, name) }

    /// Returns the output `name` as bytes; nil if it is null.
    func expected(_ name: String) throws -> [UInt8]? { try hex(output[name], name) }

    /// Returns the output `name` as an integer; nil if it is null or absent.
    func expectedInt(_ name: String) -> Int? { output[name] as? Int }

    /// Returns the output `name` as a truth value.
    func expectedBool(_ name: String) throws -> Bool { try require(output[name] as? Bool, name) }

    /// Whether the vector says that the result is the point at infinity.
    var isInfinity: Bool { output["infinity"] as? Bool ?? false }

    private func hex(_ value: Any?, _ name: String) throws -> [UInt8]? {
        if value is NSNull { return nil }
        let text = Array(try require(value as? String, name).utf8)
        return try stride(from: 0, to: text.count, by: 2).map { i in
            let digits = String(decoding: text[i..<min(i + 2, text.count)], as: UTF8.self)
            return try require(UInt8(digits, radix: 16), name)
        }
    }

    private func require<Value>(_ value: Value?, _ name: String) throws -> Value {
        guard let value else { throw Malformed(id: id, member: name) }
        return value
    }
}
