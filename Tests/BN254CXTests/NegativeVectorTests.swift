import BN254CX
import Foundation
import XCTest

/// Tests that the decoders refuse every encoding in `bn254cx-negative.json`. Tests/Proof/negative_test.c tests the
/// functions of the C interface with the same file.
final class NegativeVectorTests: XCTestCase {
    func testG1RefusesEveryVector() throws {
        let vectors = try Vectors.all(of: "g1_decode")
        XCTAssertGreaterThanOrEqual(vectors.count, 250)
        for vector in vectors {
            let octets = try vector.octets
            Workspace.run { w in
                XCTAssertFalse(w.arena.g1().decode(octets.span, w.scratch), vector.description)
                XCTAssertEqual(vector.code, octets.count == G1.octets ? -14 : -11, vector.description)
            }
        }
    }

    func testG2RefusesEveryVector() throws {
        let vectors = try Vectors.all(of: "g2_decode")
        XCTAssertGreaterThanOrEqual(vectors.count, 300)
        for vector in vectors {
            let octets = try vector.octets
            Workspace.run { w in
                let expected = vector.code == -18 ? G2.Decoding.outsideSubgroup : .invalid
                XCTAssertEqual(w.arena.g2().decode(octets.span, w.scratch), expected, vector.description)
                XCTAssertEqual(vector.code == -11, octets.count != G2.octets, vector.description)
            }
        }
    }

    func testGTRefusesEveryVector() throws {
        let vectors = try Vectors.all(of: "gt_decode")
        XCTAssertGreaterThanOrEqual(vectors.count, 50)
        for vector in vectors {
            let octets = try vector.octets
            Workspace.run { w in
                let expected = vector.code == -18 ? GT.Decoding.outsideSubgroup : .invalid
                XCTAssertEqual(w.arena.gt().decode(octets.span, w.scratch), expected, vector.description)
                XCTAssertEqual(vector.code == -11, octets.count != GT.octets, vector.description)
            }
        }
    }

    func testScalarsRefuseEveryVector() throws {
        let vectors = try Vectors.all(of: "scalar"), narrow = try Vectors.all(of: "pin_scalar")
        XCTAssertGreaterThanOrEqual(vectors.count, 40)
        XCTAssertGreaterThanOrEqual(narrow.count, 30)
        for vector in vectors + narrow {
            let octets = try vector.octets
            Workspace.run { w in
                let scalar = w.arena.scalar()
                let accepted =
                    vector.input.bits.map { scalar.decode(octets.span, bits: $0) }
                    ?? scalar.decode(octets.span, w.scratch)
                XCTAssertFalse(accepted, vector.description)
                XCTAssertEqual(vector.code, -11, vector.description)
            }
        }
    }

    /// Checks that the file is complete: at least 500 vectors, each with a reason, and none twice.
    func testFileIsComplete() throws {
        let file = try Vectors.file()
        XCTAssertEqual(file.vectors.count, file.count)
        XCTAssertGreaterThanOrEqual(file.count, 500)
        XCTAssertEqual(Set(file.vectors.map(\.id)).count, file.count)
        XCTAssertTrue(file.vectors.allSatisfy { !$0.reason.isEmpty })
        XCTAssertEqual(Set(file.vectors.map(\.code)), [-11, -14, -18])
    }
}

/// The negative vectors: encodings that must be refused.
enum Vectors {
    struct File: Decodable {
        let count: Int
        let vectors: [Vector]
    }

    struct Vector: Decodable, CustomStringConvertible {
        let id: String, op: String, reason: String, code: Int
        let input: Input

        var description: String { "\(id): \(reason)" }

        var octets: [UInt8] { get throws { try Vectors.unhex(XCTUnwrap(input.bytes)) } }

        enum CodingKeys: String, CodingKey {
            case id, op, reason, code
            case input = "in"
        }
    }

    struct Input: Decodable {
        let bytes: String?, bits: Int?, a: String?
    }

    static func file() throws -> File {
        let path = URL(filePath: #filePath).appending(path: "../../Vectors/bn254cx-negative.json").standardized
        return try JSONDecoder().decode(File.self, from: Data(contentsOf: path))
    }

    static func all(of op: String) throws -> [Vector] { try file().vectors.filter { $0.op == op } }

    /// Returns an encoded point of the twist from each vector whose operation `isWanted` selects. In the vectors of
    /// `recombine_g2` two points of the subgroup have an infinite sum; their first point is returned. All other points
    /// are outside the subgroup.
    static func g2(where isWanted: (String) -> Bool) throws -> [[UInt8]] {
        try file().vectors.filter { isWanted($0.op) && ($0.op == "recombine_g2" || $0.code == -18) }
            .compactMap { $0.input.a ?? $0.input.bytes }.map(unhex)
    }

    static func unhex(_ hex: String) throws -> [UInt8] {
        let digits = Array(hex.utf8)
        return try stride(from: 0, to: digits.count, by: 2).map { index in
            let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
            return try XCTUnwrap(UInt8(pair, radix: 16))
        }
    }
}
