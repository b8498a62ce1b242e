import BN254CX
import XCTest

final class LimbTests: XCTestCase {
    /// The product that WebAssembly uses, from halves of 32 bits, against one of 128 bits.
    func testMulAddByHalvesIsTheProductOf128Bits() {
        let edges: [Limb] = [0, 1, 0xffff_ffff, 1 << 32, 1 << 63, .max - 1, .max]
        for a in edges {
            for b in edges {
                for t in edges { for carry in edges { check(a, b, t, carry) } }
            }
        }
        func random() -> Limb { .random(in: 0...Limb.max) }
        for _ in 0..<10_000 { check(random(), random(), random(), random()) }
    }

    private func check(_ a: Limb, _ b: Limb, _ t: Limb, _ carry: Limb) {
        let whole = UInt128(a) * UInt128(b) + UInt128(t) + UInt128(carry)
        var upper = carry
        let lower = mulAddByHalves(a, b, t, &upper)
        XCTAssertEqual(UInt128(upper) << 64 | UInt128(lower), whole, "\(a) * \(b) + \(t) + \(carry)")
    }
}
