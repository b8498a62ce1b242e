import Foundation
import MPinSecrets
import MPinWire
import XCTest

/// Tests the values of messages with our JSON coder and, as they are `Codable`, with Foundation's, which must agree.
final class ValueTests: XCTestCase {
    func testSecrets() throws {
        try assertAgreed(SecretHex.self, #""00ff""#)
        try assertAgreed(SecretText.self, #""a token""#)
        assertRefused(SecretHex.self, #""0g""#)
        assertRefused(SecretHex.self, "5")
        assertRefused(SecretText.self, "5")
    }

    func testLenientNumbers() throws {
        try assertAgreed(LenientInt.self, "-7")
        XCTAssertEqual(try agreed(LenientInt.self, #""12""#).value, 12)
        for text in [#""x""#, #""""#, "1.5", "[]", "null", #""99999999999999999999""#] {
            assertRefused(LenientInt.self, text)
        }
    }

    func testLenientTruth() throws {
        try assertAgreed(LenientBool.self, "true")
        for (text, truth) in [("0", false), ("1", true), (#""0""#, false), (#""1""#, true)] {
            XCTAssertEqual(try agreed(LenientBool.self, text).value, truth, text)
        }
        for text in ["2", #""true""#, "null"] { assertRefused(LenientBool.self, text) }
    }

    func testAnyValue() throws {
        for text in ["null", "true", "7", "0.5", #""text""#, "[]", "{}", #"[null,[1,{"a":[false,-0.25]}],"x"]"#] {
            try assertAgreed(JSONValue.self, text)
        }
        XCTAssertEqual(try agreed(JSONValue.self, "7"), .int(7))
        XCTAssertEqual(try agreed(JSONValue.self, #"{"a":[null]}"#), .object(["a": .array([.null])]))
        XCTAssertEqual(try agreed(JSONValue.self, #"[[],{"a":[1]}]"#).depth, 3)
    }

    /// What both decoders read, which must be equal.
    private func agreed<Value: Codable & Equatable>(
        _ type: Value.Type, _ text: String, line: UInt = #line
    ) throws -> Value {
        let (ours, theirs) = (try value(type, text), try JSONDecoder().decode(type, from: Data(text.utf8)))
        XCTAssertEqual(ours, theirs, text, line: line)
        return ours
    }

    /// Tests that both decoders read the same value, and that both encoders write it as `text`.
    private func assertAgreed<Value: Codable & Equatable>(
        _ type: Value.Type, _ text: String, line: UInt = #line
    ) throws {
        let value = try agreed(type, text, line: line)
        XCTAssertEqual(String(decoding: try JSON.bytes(value), as: UTF8.self), text, line: line)
        XCTAssertEqual(String(decoding: try JSONEncoder().encode(value), as: UTF8.self), text, line: line)
    }

    private func assertRefused<Value: Codable>(_ type: Value.Type, _ text: String, line: UInt = #line) {
        XCTAssertThrowsError(try value(type, text), text, line: line)
        XCTAssertThrowsError(try JSONDecoder().decode(type, from: Data(text.utf8)), text, line: line)
    }

    private func value<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        let octets = Array(text.utf8)
        let value = try JSON.decode(type, from: octets.span, fromAny: true)
        return value
    }
}
