import XCTest

final class VectorTests: XCTestCase {
    /// Runs every vector of `bn254cx-mpin.json`. A vector with an operation that no function runs fails.
    func testVectorsOfTheOriginalLibrary() throws {
        let operations = ProtocolOperations.all.merging(CurveOperations.all) { first, _ in first }
            .merging(KeyOperations.all) { first, _ in first }
        var ran: [String: Int] = [:]
        let vectors = try Vector.load()
        for vector in vectors {
            guard let operation = operations[vector.op] else {
                XCTFail("unknown operation \(vector.op)")
                continue
            }
            XCTAssertNoThrow(try operation(vector), vector.id)
            ran[vector.op, default: 0] += 1
        }
        for operation in operations.keys { XCTAssertNotNil(ran[operation], "no vector for \(operation)") }
        print("vectors: \(ran.values.reduce(0, +)) of \(vectors.count) ran")
        for (operation, count) in ran.sorted(by: { $0.key < $1.key }) { print("  \(operation): \(count) ran") }
        XCTAssertFalse(vectors.isEmpty)
    }
}
