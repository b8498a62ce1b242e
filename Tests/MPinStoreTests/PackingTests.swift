import Foundation
import MPinStore
import XCTest

final class PackingTests: XCTestCase {
    func testWhatIsPackedIsReadAgain() throws {
        var packer = Packer(version: 3, capacity: 0)
        packer.put(Int64.min)
        packer.put(7)
        packer.put(true)
        packer.put(Moment(microseconds: -1))
        packer.put(nil as Moment?)
        packer.put(Moment(microseconds: 5) as Moment?)
        packer.put("é\u{0}😀")
        packer.put([0, 255] as [UInt8])
        packer.put(nil as String?)
        packer.put("" as String?)
        packer.put(["a", ""])
        packer.put([] as [String])
        try packer.put(Pair(left: "l", right: nil))
        try packer.put(nil as Pair?)
        try packer.put(Pair(left: "", right: 9) as Pair?)
        var reader = try XCTUnwrap(Unpacker(packer.bytes, version: 3))
        XCTAssertEqual(try reader.number(), .min)
        XCTAssertEqual(try reader.count(), 7)
        XCTAssertTrue(try reader.flag())
        XCTAssertEqual(try reader.moment(), Moment(microseconds: -1))
        XCTAssertNil(try reader.optionalMoment())
        XCTAssertEqual(try reader.optionalMoment(), Moment(microseconds: 5))
        XCTAssertEqual(try reader.text(), "é\u{0}😀")
        XCTAssertEqual(try reader.octets(), [0, 255])
        XCTAssertNil(try reader.optionalText())
        XCTAssertEqual(try reader.optionalText(), "")
        XCTAssertEqual(try reader.texts(), ["a", ""])
        XCTAssertEqual(try reader.texts(), [])
        XCTAssertEqual(try reader.value(), Pair(left: "l", right: nil))
        XCTAssertNil(try reader.optionalValue(Pair.self))
        XCTAssertEqual(try reader.optionalValue(), Pair(left: "", right: 9))
        XCTAssertTrue(reader.isAtEnd)
        XCTAssertThrowsError(try reader.flag(), "the end")
    }

    private struct Pair: PackedItem, Codable, Equatable {
        let left: String
        let right: Int?

        init(left: String, right: Int?) {
            self.left = left
            self.right = right
        }

        init(packed members: inout Unpacker) throws {
            left = try members.text()
            right = try members.flag() ? members.count() : nil
        }

        func pack(into members: inout Packer) {
            members.put(left)
            members.put(right != nil)
            if let right { members.put(right) }
        }
    }

    /// Texts are stored as JSON. Those that need no parser are read without one.
    func testATextIsStoredAsJSON() throws {
        let texts = [
            "", "plain ~", "a\"b", "\\", "\\\"", "\"", "é😀", "\u{1}\n\u{7f}", String(repeating: "x", count: 9999),
        ]
        for text in texts {
            let bytes = try text.stored()
            XCTAssertEqual(try String(stored: bytes), text)
            XCTAssertEqual(try JSONDecoder().decode(String.self, from: Data(bytes)), text, "JSON of others")
            XCTAssertEqual(try String(stored: Array(JSONEncoder().encode(text))), text)
            for length in 0..<min(bytes.count, 50) {
                XCTAssertThrowsError(try String(stored: Array(bytes.prefix(length))), "\(length) bytes of \(text)")
            }
        }
        for bad in ["x", "x\"", "\"x", "\"a\"b\"", "\"\\\"", "{}", "1"] {
            XCTAssertThrowsError(try String(stored: Array(bad.utf8)), bad)
        }
    }

    /// What nobody can read can be deleted.
    func testAValueIsDeletedWithoutBeingRead() async throws {
        let (store, now) = (MemoryStore(), Moment.now())
        let table = Table<String>("t", in: store)
        _ = try await store.create(table.key("k"), StoredItem(value: [1]), at: now)
        do {
            _ = try await table.read("k", at: now)
            XCTFail("read")
        } catch {}
        try await table.delete("k", at: now)
        let isThere = try await table.contains("k", at: now)
        XCTAssertFalse(isThere)
    }

    func testAPackedItemIsAlsoReadFromJSON() throws {
        let pair = Pair(left: "l", right: 5)
        XCTAssertEqual(try Pair(stored: pair.stored()), pair)
        XCTAssertEqual(try pair.stored().first, 1)
        XCTAssertEqual(try Pair(stored: Array(#"{"left":"l","right":5}"#.utf8)), pair)
        XCTAssertThrowsError(try Pair(stored: [1, 9]))
    }

    func testBytesOfAnotherKindAreToldApartOrRefused() throws {
        XCTAssertNil(try Unpacker(Array("{}".utf8), version: 1), "JSON")
        XCTAssertNil(try Unpacker([], version: 1))
        XCTAssertThrowsError(try Unpacker([2], version: 1), "a later version")
        var packer = Packer(version: 1, capacity: 0)
        packer.put("text")
        for length in 1..<packer.bytes.count {
            var reader = try XCTUnwrap(Unpacker(Array(packer.bytes.prefix(length)), version: 1))
            XCTAssertThrowsError(try reader.text(), "\(length) bytes")
        }
        var reader = try XCTUnwrap(Unpacker([1, 255, 255, 255, 255, 0], version: 1))
        XCTAssertThrowsError(try reader.octets(), "longer than there is")
        packer = Packer(version: 1, capacity: 0)
        packer.put(-1)
        reader = try XCTUnwrap(Unpacker(packer.bytes, version: 1))
        XCTAssertThrowsError(try reader.count(), "less than nothing")
    }

    /// The length of a packed item must not reveal whether an optional time in it is nil.
    func testAMomentIsAsLongAsNone() {
        var (none, some) = (Packer(version: 1, capacity: 0), Packer(version: 1, capacity: 0))
        none.put(nil as Moment?)
        some.put(Moment(microseconds: .max) as Moment?)
        XCTAssertEqual(none.bytes.count, some.bytes.count)
    }
}
