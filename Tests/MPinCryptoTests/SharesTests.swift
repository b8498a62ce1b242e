import MPinCrypto
import MPinSecrets
import XCTest

/// Tests secrets whose shares come from several authorities.
final class SharesTests: XCTestCase {
    private let hashID = [UInt8](repeating: 7, count: MPinSize.hash)

    /// Returns a number below 256, or the group order minus a small number, as 32 bytes.
    private func scalar(_ number: Int) throws -> [UInt8] {
        if number >= 0 { return [UInt8](repeating: 0, count: 31) + [UInt8(number)] }
        var order = try XCTUnwrap(Hex.decode("2400000008702a0db0bddf647a6366d2c43fd6ee0cc906cebe11c0a636eb1f6d"))
        order[31] -= UInt8(-number)
        return order
    }

    /// Returns the share of the client secret from the authority `index`, whose master share is `master`.
    private func share(_ index: Int, _ master: Int, weight: Int? = nil) throws -> Share {
        let octets = try Engine.clientShare(try scalar(master), hashID)
        return Share(index: index, weight: try weight.map(scalar), SecretBytes(copying: octets.span))
    }

    private func assemble(_ shares: [Share]) throws -> [UInt8] {
        var sum = [UInt8](repeating: 0, count: MPinSize.g1)
        var octets = sum.mutableSpan
        try Shares.assemble(shares, into: &octets)
        return sum
    }

    func testSharesOfAllAuthoritiesAddUp() throws {
        let (a, b, c) = (try share(1, 20), try share(2, 30), try share(3, 40))
        XCTAssertEqual(try assemble([a]), try Engine.clientShare(try scalar(20), hashID))
        XCTAssertEqual(try assemble([a, b]), try Engine.clientShare(try scalar(50), hashID))
        XCTAssertEqual(try assemble([a, b, c]), try Engine.clientShare(try scalar(90), hashID))
        XCTAssertEqual(try assemble([c, a, b]), try assemble([a, b, c]))
    }

    /// Tests that two of three shares are enough. The master shares 59, 68 and 77 are the values of 50 + 9x at x = 1, 2
    /// and 3. With the values of Lagrange's polynomials at 0 as weights, the sum of any two is 50, and so is the sum of
    /// all three with the weights for a polynomial of degree two.
    func testSomeSharesAreEnoughWithTheirWeights() throws {
        let secret = try Engine.clientShare(try scalar(50), hashID)
        XCTAssertEqual(try assemble([try share(1, 59, weight: 2), try share(2, 68, weight: -1)]), secret)
        XCTAssertEqual(try assemble([try share(3, 77, weight: -2), try share(2, 68, weight: 3)]), secret)
        XCTAssertEqual(
            try assemble([
                try share(1, 59, weight: 3), try share(2, 68, weight: -3), try share(3, 77, weight: 1),
            ]), secret)
        XCTAssertNotEqual(try assemble([try share(1, 59), try share(2, 68)]), secret)
    }

    func testWhatIsNoListOfSharesIsRefused() throws {
        let (a, b) = (try share(1, 20), try share(2, 30))
        let none = Share(index: 2, SecretBytes(count: MPinSize.g1))
        let weightless = Share(index: 2, weight: try scalar(0), b.octets)
        let short = Share(index: 2, SecretBytes(count: 64))
        let opposite = try share(2, -20)
        let cases: [(shares: [Share], error: MPinError)] = [
            ([], .wrongParameter), ([a, a], .wrongParameter), ([a, try share(1, 30)], .wrongParameter),
            ([a, none], .invalidPoint), ([a, weightless], .wrongParameter), ([a, short], .wrongParameter),
            ([a, opposite], .invalidPoint), (try (1...17).map { try share($0, 3) }, .wrongParameter),
        ]
        for (number, test) in cases.enumerated() {
            XCTAssertThrowsError(try assemble(test.shares), "\(number)") { error in
                XCTAssertEqual(error as? MPinError, test.error, "\(number)")
            }
        }
        XCTAssertNoThrow(try assemble((1...16).map { try share($0, 3) }))
        var narrow = [UInt8](repeating: 0, count: 64)
        XCTAssertThrowsError(
            try {
                var octets = narrow.mutableSpan
                try Shares.assemble([a, b], into: &octets)
            }())
    }
}
