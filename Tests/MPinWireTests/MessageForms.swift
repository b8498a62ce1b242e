import MPinWire
import XCTest

/// How the tests of this target compare messages with their JSON.
extension XCTestCase {
    func read<Message: Decodable>(_ type: Message.Type, _ text: String) throws -> Message {
        let octets = Array(text.utf8)
        let message = try JSON.decode(type, from: octets.span)
        return message
    }

    func value(of message: some Encodable) throws -> JSONValue {
        let octets = try JSON.bytes(message)
        let value = try JSON.decode(JSONValue.self, from: octets.span)
        return value
    }

    /// Tests that a message is encoded as `text`, whatever the order of the members, and read from it.
    func assertForm<Message: Codable>(_ made: Message, _ text: String, line: UInt = #line) throws {
        let (encoded, expected) = (try value(of: made), try read(JSONValue.self, text))
        XCTAssertEqual(encoded, expected, line: line)
        try assertRead(Message.self, text, line: line)
    }

    /// Tests that every member of `text` is read: the message that is read is encoded as `text` again.
    func assertRead<Message: Codable>(_ type: Message.Type, _ text: String, line: UInt = #line) throws {
        let message = try read(type, text)
        let (encoded, expected) = (try value(of: message), try read(JSONValue.self, text))
        XCTAssertEqual(encoded, expected, line: line)
    }
}
