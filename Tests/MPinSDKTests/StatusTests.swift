import Foundation
import MPinSDK
import XCTest

final class StatusTests: XCTestCase {
    func testNumbersAndNamesAreThoseOfTheHeader() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let header = try String(contentsOf: root.appendingPathComponent("include/mpin.h"), encoding: .utf8)
        // Reads the part of the header from "#define MPIN_OK" to `mpin_status_name`, in which all #defines are
        // statuses.
        let start = try XCTUnwrap(header.range(of: "#define MPIN_OK"))
        let end = try XCTUnwrap(header.range(of: "mpin_status_name(mpin_status status)"))
        var found: [String: Int32] = [:]
        for line in header[start.lowerBound..<end.lowerBound].split(separator: "\n")
        where line.hasPrefix("#define MPIN_") {
            let parts = line.split(separator: " ")
            found[String(parts[1].dropFirst("MPIN_".count))] = Int32(parts[2])
        }
        let ours = Dictionary(uniqueKeysWithValues: Status.allCases.map { ($0.name, $0.rawValue) })
        XCTAssertEqual(ours, found)
        XCTAssertEqual(found.count, 49)
    }

    func testErrorsAreEqualWhenTheirStatusIs() {
        XCTAssertEqual(SDKError(.flowError, "a"), SDKError(.flowError, "b", httpStatus: 400))
        XCTAssertNotEqual(SDKError(.flowError, "a"), SDKError(.networkError, "a"))
        XCTAssertEqual("\(SDKError(.incorrectPIN, "no"))", "INCORRECT_PIN: no")
    }
}
