import BN254CX
import XCTest

final class DiscreteLogarithmTests: XCTestCase {
    /// Tests that every exponent from -bound to bound is found, and that the next two on either side are not.
    func testFindsEveryExponentWithinTheBound() {
        for bound in [0, 1, 2, 3, 100, 9_999] {
            Workspace.run { w in
                let base = w.gt(), value = w.arena.gt()
                let search = DiscreteLogarithm(base: base, bound: bound, &w.arena)
                let first = -bound - 2
                value.power(base, by: w.scalar(BigInt(integerLiteral: -first)), bits: 256, w.scratch)
                value.invert(value)
                let s = w.arena.take(GT.scratch)
                var missed = 0
                for n in first...(bound + 2) {
                    if search.findVartime(value) != (abs(n) <= bound ? n : nil) { missed += 1 }
                    value.multiply(value, base, s)
                }
                XCTAssertEqual(missed, 0, "of \(2 * bound + 5)")
            }
        }
    }

    func testFindsErrorsOfSixDigitPINs() {
        Workspace.run { w in
            let base = w.gt(), value = w.arena.gt()
            let search = DiscreteLogarithm(base: base, bound: 1_000_000, &w.arena)
            let samples = (0..<20).map { _ in Int(w.next() % 2_000_001) - 1_000_000 }
            for n in [-1_000_000, -999_999, 999_999, 1_000_000] + samples {
                let start = w.arena
                let magnitude = w.scalar(BigInt(integerLiteral: abs(n)))
                value.power(base, by: magnitude, bits: 256, w.scratch)
                if n < 0 { value.invert(value) }
                XCTAssertEqual(search.findVartime(value), n)
                w.arena = start
            }
        }
    }

    func testBaseOneHasOnlyZero() {
        Workspace.run { w in
            let base = w.arena.gt(), value = w.gt()
            base.setOne()
            let search = DiscreteLogarithm(base: base, bound: 50, &w.arena)
            XCTAssertEqual(search.findVartime(base), 0)
            XCTAssertNil(search.findVartime(value))
        }
    }
}
