import XCTest

final class VectorTests: XCTestCase {
    /// Operations of the file that the engine does not offer.
    private static let notOffered: Set = [
        "mpin_full", "client_key", "server_key", "precompute", "elligator_encode", "elligator_decode", "csprng",
    ]

    /// Every vector runs, unless its operation is in the list above; an operation that nobody knows is a failure.
    func testVectorsOfTheOriginalLibrary() throws {
        let operations = ProtocolOperations.all.merging(CurveOperations.all) { first, _ in first }
        XCTAssertTrue(Self.notOffered.isDisjoint(with: operations.keys))
        var ran: [String: Int] = [:], left: [String: Int] = [:]
        let vectors = try Vector.load()
        for vector in vectors {
            if let operation = operations[vector.op] {
                XCTAssertNoThrow(try operation(vector), vector.id)
                ran[vector.op, default: 0] += 1
            } else {
                XCTAssertTrue(Self.notOffered.contains(vector.op), "unknown operation \(vector.op)")
                left[vector.op, default: 0] += 1
            }
        }
        for operation in operations.keys { XCTAssertNotNil(ran[operation], "no vector for \(operation)") }
        print("vectors: \(ran.values.reduce(0, +)) of \(vectors.count) ran")
        for (operation, count) in ran.sorted(by: { $0.key < $1.key }) { print("  \(operation): \(count) ran") }
        for (operation, count) in left.sorted(by: { $0.key < $1.key }) {
            print("  \(operation): \(count) not offered yet")
        }
        XCTAssertEqual(ran.values.reduce(0, +) + left.values.reduce(0, +), vectors.count)
        XCTAssertFalse(vectors.isEmpty)
    }
}
