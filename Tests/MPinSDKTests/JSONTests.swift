import MPinSDK
import MPinSecrets
import MPinWire
import XCTest

private struct Sample: Codable, Equatable {
    var text: String
    var number: Int32
    var flag: Bool
    var list: [Int]
    var inner: [String: Double]?
    var secret: SecretHex
}

final class JSONTests: XCTestCase {
    private let good =
        #"{"text":"a\u00e9\n","number":-7,"flag":true,"list":[1,2,3],"inner":{"x":1.5},"secret":"00fF"}"#

    private func decode<Value: Decodable>(_ text: [UInt8], as type: Value.Type = JSONValue.self) -> Result<
        Value, JSONFailure
    > {
        do {
            let value = try JSON.decode(type, from: text.span)
            return .success(value)
        } catch { return .failure(error) }
    }

    private func decode<Value: Decodable>(_ text: String, as type: Value.Type = JSONValue.self) -> Result<
        Value, JSONFailure
    > {
        decode(Array(text.utf8), as: type)
    }

    private func encode(_ value: some Encodable) throws -> String {
        let text = try JSON.encode(value)
        return text.span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    func testEveryKindOfValueIsRead() throws {
        let sample = try decode(good, as: Sample.self).get()
        XCTAssertEqual(sample.text, "aé\n")
        XCTAssertEqual(sample.number, -7)
        XCTAssertTrue(sample.flag)
        XCTAssertEqual(sample.list, [1, 2, 3])
        XCTAssertEqual(sample.inner, ["x": 1.5])
        XCTAssertEqual(sample.secret.secret.hex(), "00ff")
    }

    func testWhatIsWrittenIsReadBack() throws {
        let sample = try decode(good, as: Sample.self).get()
        XCTAssertEqual(try decode(try encode(sample), as: Sample.self).get(), sample)
        let value = JSONValue.object([
            "null": .null, "yes": .bool(true), "no": .bool(false), "int": .int(-5), "real": .double(0.25),
            "text": .string("\"\\\u{1}\u{10FFFF}"), "list": .array([.array([]), .object([:]), .int(1)]),
        ])
        XCTAssertEqual(try decode(try encode(value)).get(), value)
        XCTAssertEqual(try decode(try JSON.bytes(value)).get(), value)
    }

    /// The writer without a tree against the one with a tree, which escapes as jansson does.
    func testTheTextIsTheSameWithoutATree() throws {
        let characters = String(String.UnicodeScalarView((0..<0x180).compactMap(Unicode.Scalar.init)))
        for value: JSONValue in [
            .null, .bool(true), .bool(false), .int(.min), .int(.max), .int(0), .string(""), .string(characters),
            .string(#"\u0000\"#), .array([]), .array([.int(1), .string("é"), .array([.null])]), .object([:]),
            .object(["a\"\n": .object(["b": .array([.int(-1), .bool(false)])])]),
        ] {
            XCTAssertEqual(String(decoding: try JSON.bytes(value), as: UTF8.self), try encode(value))
        }
        for number in [0.1, -1e300, .leastNonzeroMagnitude, 3.0] {
            XCTAssertEqual(
                try decode(try JSON.bytes(.array([.double(number)]))).get(), .array([JSONTests.read(number)]))
        }
        for number in [Double.infinity, -.infinity, .nan] {
            XCTAssertThrowsError(try JSON.bytes(.array([.double(number)])))
        }
    }

    /// What is read back for a number: a number without a fraction is read as an integer.
    private static func read(_ number: Double) -> JSONValue {
        Int(exactly: number).map(JSONValue.int) ?? .double(number)
    }

    func testMembersKeepTheirTypes() throws {
        XCTAssertEqual(
            try encode(Pass2Request(mpin_id: "7b", V: "04")),
            #"{"pass":2,"mpin_id":"7b","V":"04","WID":"0","OTP":false}"#)
        XCTAssertEqual(try encode(RegisterRequest(userId: "a")), #"{"userId":"a","mobile":1}"#)
    }

    func testEveryTruncationIsAnError() {
        let text = Array(good.utf8)
        for count in 0..<text.count {
            guard case .failure = decode(Array(text.prefix(count)), as: Sample.self) else {
                return XCTFail("\(count) bytes")
            }
        }
    }

    func testEveryByteChangedGivesAValueOrAnErrorAndNeverACrash() {
        let text = Array(good.utf8)
        var (values, errors) = (0, 0)
        for index in text.indices {
            for byte in UInt8(0)...255 where byte != text[index] {
                var damaged = text
                damaged[index] = byte
                if case .success = decode(damaged, as: Sample.self) { values += 1 } else { errors += 1 }
            }
        }
        XCTAssertEqual(values + errors, text.count * 255)
        XCTAssertGreaterThan(values, 0)
        XCTAssertGreaterThan(errors, 0)
    }

    func testTextsThatAreNoMessage() {
        let bad = [
            "", " ", "null", "1", "\"a\"", "true", "[", "{", "{}x", "{}{}", "{} []", "nul", "{'a':1}", "{\"a\":1,}",
            "[1,]",
            "{\"a\":01}", "{\"a\":+1}", "{\"a\":NaN}", "{\"a\":Infinity}", "{\"a\":0x1}", "{\"a\":1e999}",
            "{\"a\":99999999999999999999}", "{\"a\":\"\u{1}\"}", "{\"a\":\"\\u0000\"}", "{\"a\":\"\\ud800\"}",
            "{\"a\":\"\\x\"}", "{a:1}", "{\"a\" 1}", "// c\n{}", "\u{FEFF}{}", "{\"a\":1,\"a\":2}",
            "{\"b\":{\"a\":1,\"a\":1}}",
        ]
        for text in bad { XCTAssertEqual(decode(text), .failure(.notJSON), text) }
        for bytes in [
            [0xFF, 0xFE], [0x7B, 0x22, 0xC0, 0x80, 0x22, 0x3A, 0x31, 0x7D], [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D],
            [0x7B, 0, 0x7D],
        ] as [[UInt8]] {
            XCTAssertEqual(decode(bytes), .failure(.notJSON))
        }
        XCTAssertEqual(decode(" \n\t{ } \r\n"), .success(.object([:])))
    }

    func testDepthIsBounded() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        XCTAssertNotNil(try? decode(nested(JSON.maxDepth)).get())
        XCTAssertEqual(decode(nested(JSON.maxDepth + 1)), .failure(.tooLarge))
        XCTAssertEqual(decode(nested(10_000)), .failure(.tooLarge))
        XCTAssertEqual(decode(String(repeating: "{\"a\":", count: 100_000)), .failure(.tooLarge))
        let brackets = String(repeating: "[", count: 1000)
        XCTAssertEqual(
            decode("{\"a\":\"\(brackets)\\\"\(brackets)\"}"),
            .success(.object(["a": .string("\(brackets)\"\(brackets)")])))
    }

    func testSizeIsBounded() {
        let frame = "{\"a\":\"\"}".utf8.count
        func sized(_ count: Int) -> String { "{\"a\":\"\(String(repeating: "x", count: count - frame))\"}" }
        XCTAssertNotNil(try? decode(sized(JSON.maxBytes)).get())
        XCTAssertEqual(decode(sized(JSON.maxBytes + 1)), .failure(.tooLarge))
    }

    func testWrongTypesAndMissingMembersAreNamed() {
        let cases = [
            (#""number":-7"#, #""number":"x""#, "number"), (#""number":-7"#, #""number":3000000000"#, "number"),
            (#""number":-7"#, #""number":1.5"#, "number"), (#""number":-7"#, #""number":null"#, "number"),
            (#""number":-7"#, #""numbr":1"#, "number"), (#""flag":true"#, #""flag":1"#, "flag"),
            (#""flag":true"#, #""flag":"true""#, "flag"), (#"[1,2,3]"#, "{}", "list"),
            (#"[1,2,3]"#, "[1,true]", "list.1"),
            (#""x":1.5"#, #""x":"1""#, "inner.x"), (#""00fF""#, #""0""#, "secret"), (#""00fF""#, #""zz""#, "secret"),
            (#""00fF""#, "17", "secret"),
        ]
        for (old, new, path) in cases {
            let text = good.replacingOccurrences(of: old, with: new)
            XCTAssertNotEqual(text, good)
            XCTAssertEqual(decode(text, as: Sample.self), .failure(.mismatch(path)), new)
        }
        XCTAssertEqual(decode("[]", as: Sample.self), .failure(.mismatch("")))
    }

    func testOptionalMembersMayBeMissingOrNull() throws {
        for text in [#","inner":{"x":1.5}"#, #":{"x":1.5}"#] {
            let replacement = text.hasPrefix(",") ? "" : ":null"
            XCTAssertNil(
                try decode(good.replacingOccurrences(of: text, with: replacement), as: Sample.self).get().inner)
        }
    }

    func testWholeRealsAreIntegersToo() throws {
        XCTAssertEqual(try decode(good.replacingOccurrences(of: "-7", with: "-7.0"), as: Sample.self).get().number, -7)
    }

    func testNumbersThatJSONCannotWriteAreErrors() {
        XCTAssertThrowsError(try JSON.encode([Double.nan]))
        XCTAssertThrowsError(try JSON.encode([Double.infinity]))
        XCTAssertThrowsError(try JSON.encode([UInt64.max]))
    }

    /// Texts up to 2048 bytes are written on the stack, longer ones are not.
    func testTextsOfAnyLengthAreWhole() throws {
        for count in [0, 1, 2043, 2044, 2045, 10_000] {
            let text = String(repeating: "a", count: count)
            XCTAssertEqual(try JSON.bytes([text]), Array("[\"\(text)\"]".utf8), "\(count + 4) bytes")
        }
    }

    func testFailureTextsDoNotQuoteValues() {
        let text = good.replacingOccurrences(of: "00fF", with: "secret")
        guard case .failure(let failure) = decode(text, as: Sample.self) else { return XCTFail("decoded") }
        XCTAssertEqual("\(failure)", "member secret is missing or of another type")
    }
}
