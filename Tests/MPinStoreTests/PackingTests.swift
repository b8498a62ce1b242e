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
        var reader = try XCTUnwrap(Unpacker(packer.bytes, version: 3))
        XCTAssertEqual(try reader.number(), .min)
        XCTAssertEqual(try reader.count(), 7)
        XCTAssertTrue(try reader.flag())
        XCTAssertEqual(try reader.moment(), Moment(microseconds: -1))
        XCTAssertNil(try reader.optionalMoment())
        XCTAssertEqual(try reader.optionalMoment(), Moment(microseconds: 5))
        XCTAssertEqual(try reader.text(), "é\u{0}😀")
        XCTAssertEqual(try reader.octets(), [0, 255])
        XCTAssertThrowsError(try reader.flag(), "the end")
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
