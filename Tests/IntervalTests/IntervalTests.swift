import XCTest

/// Checks the bounds that the comments of the engine's formulas state. (A number of class k is at most k times the
/// largest normal value, p + 2^196 - 1.) The formulas are compiled a second time, with limbs that contain what is known
/// of a number in place of the number. No formula branches, so one run covers all inputs. The test fails if a sum may
/// be negative or too long when it is reduced, normalised or multiplied, or if a result may not be normal.
final class IntervalTests: XCTestCase {
    /// Runs a formula with room for a result of `count` elements and for scratch.
    private func check(
        _ name: String, _ count: Int, allowed: Int = 1, _ formula: (_ result: Limbs, _ scratch: Limbs) -> Void
    ) {
        Memory.clear()
        let result = Fp.normal(count), scratch = Memory.take(0x10000)
        formula(result, scratch)
        for finding in Memory.findings { XCTFail("\(name): \(finding)") }
        for i in 0..<count {
            let bounds = Memory.narrow(at: result + 4 * i).bounds
            XCTAssertFalse(bounds.least < 0, "\(name): element \(i) may be negative")
            XCTAssertFalse(Unknown.largest < bounds.greatest, "\(name): element \(i) may not be normal")
        }
    }

    private var fp2: Fp2 { Fp2(Fp.normal(2)) }
    private var fp6: Fp6 { Fp6(Fp.normal(6)) }
    private var fp12: Fp12 { Fp12(Fp.normal(12)) }

    /// An element of Fp2 whose components are of class k: at most k times the largest normal value.
    private func fp2(class k: Int) -> Fp2 {
        let result = fp2
        for part in [result.re, result.im] { Memory.store(Unknown.next(class: k), at: part) }
        return result
    }

    func testFp() {
        check("product", 1) { Fp.mul($0, Fp.normal(1), Fp.normal(1), $1) }
        check("sum", 1) { r, _ in Fp.add(r, Fp.normal(1), Fp.normal(1)) }
        check("difference", 1) { r, _ in Fp.sub(r, Fp.normal(1), Fp.normal(1)) }
        check("negation", 1) { r, _ in Fp.neg(r, Fp.normal(1)) }
        check("sign", 1) { r, _ in
            Fp.negateLazily(r, mask: 0)
            Fp.normalise(r)
        }
    }

    func testFp2() {
        for (a, b) in [(1, 1), (1, 2), (2, 2), (3, 1), (1, 3), (3, 3)] {
            check("product of classes \(a) and \(b)", 2) { Fp2($0).multiply(fp2(class: a), fp2(class: b), $1) }
            check("unreduced product of classes \(a) and \(b)", 2) { r, s in
                let w = Fp2Product(s)
                w.multiply(fp2(class: a), fp2(class: b), class: a * b, s + Fp2Product.count)
                Fp2(r).reduce(w)
            }
        }
        check("square", 2) { Fp2($0).square(fp2, $1) }
        check("tight square", 2) { r, s in
            let w = Fp2Product(s)
            w.squareTightly(fp2, s + Fp2Product.count)
            Fp2(r).reduce(w)
        }
        check("product with Fp", 2) { Fp2($0).multiply(fp2, byFp: Fp.normal(1), $1) }
        check("product with xi", 2) { Fp2($0).multiplyByXi(fp2, $1) }
        check("inverse", 2) { Fp2($0).invert(fp2, $1) }
    }

    func testFp6() {
        check("product", 6) { Fp6($0).multiply(fp6, fp6, $1) }
        check("square", 6) { r, s in
            let x = fp6
            Fp6(r).multiply(x, x, s)
        }
        check("inverse", 6) { Fp6($0).invert(fp6, $1) }
    }

    func testFp12() {
        check("product", 12) { Fp12($0).multiply(fp12, fp12, $1) }
        check("product with itself", 12) { r, s in
            let x = fp12
            Fp12(r).multiply(x, x, s)
        }
        check("square", 12) { Fp12($0).square(fp12, $1) }
        check("square in place", 12) { Fp12($0).square(Fp12($0), $1) }
        check("line", 12) { Fp12($0).multiply(fp12, Line(Fp.normal(6)), $1) }
        check("monic line", 12) { Fp12($0).multiply(fp12, MonicLine(Fp.normal(4)), $1) }
        check("inverse", 12) { Fp12($0).invert(fp12, $1) }
        check("cyclotomic square", 12) { Fp12($0).cyclotomicSquare(fp12, $1) }
        check("compressed square", 12) { Fp12($0).compressedSquare(fp12, times: 2, $1) }
        check("power by u", 12) { Fp12($0).cyclotomicPowU(fp12, $1) }
    }

    func testG1() {
        check("sum", 3) { G1($0).add(G1(Fp.normal(3)), G1(Fp.normal(3)), $1) }
        check("double", 3) { G1($0).double(G1(Fp.normal(3)), $1) }
        check("Jacobian double", 3) { G1Jacobian(limbs: $0).double($1) }
        check("Jacobian sum", 3) { r, s in
            let point = G1Affine(Fp.normal(2))
            Fp.negateLazily(point.y, mask: 0)
            G1Jacobian(limbs: r).add(point, ratio: s, s + 4)
        }
        check("sum with one Z", 2) {
            G1Affine($0).add(G1Affine(Fp.normal(2)), G1Affine(Fp.normal(2)), ratio: $1, $1 + 4)
        }
        check("step of a sum with one Z", 2) {
            G1Affine(Fp.normal(2)).add(G1Affine(Fp.normal(2)), G1Affine($0), ratio: $1, $1 + 4)
        }
        check("out of Jacobian", 3) { G1Jacobian(limbs: Fp.normal(3)).store(G1($0), factor: Fp.normal(1), $1) }
    }

    func testG2() {
        check("sum", 6) { G2($0).add(G2(Fp.normal(6)), G2(Fp.normal(6)), $1) }
        check("double", 6) { G2($0).double(G2(Fp.normal(6)), $1) }
        check("Jacobian double", 6) { G2Jacobian(limbs: $0).double($1) }
        check("Jacobian sum", 6) { r, s in
            let point = G2Affine(Fp.normal(4))
            for part in [point.y.re, point.y.im] { Fp.negateLazily(part, mask: 0) }
            G2Jacobian(limbs: r).add(point, ratio: Fp2(s), s + 8)
        }
        check("out of Jacobian", 6) { G2Jacobian(limbs: Fp.normal(6)).store(G2($0), factor: Fp.normal(1), $1) }
    }

    func testLines() {
        check("tangent", 6) { Line($0).double(G2(Fp.normal(6)), $1) }
        check("double of the tangent", 6) { Line(Fp.normal(6)).double(G2($0), $1) }
        check("chord", 6) { Line($0).add(G2(Fp.normal(6)), G2Affine(Fp.normal(4)), $1) }
        check("sum of the chord", 6) { Line(Fp.normal(6)).add(G2($0), G2Affine(Fp.normal(4)), $1) }
    }

    /// Tests that the replaced limbs detect each kind of error.
    func testEachFaultIsFound() {
        for (name, fault) in faults { XCTAssertEqual(findings(fault).count, 1, name) }
    }

    func testWhatJustFitsIsNoFault() {
        let found = findings { a, b, s in
            Fp.mulWide(s, a, b)
            _ = (Wide(multiple: 1) - Wide(s)).reduced
            _ = (Wide(s) * 50).reduced
            _ = (Narrow(a) * 7).normal
        }
        XCTAssertEqual(found, [])
    }

    /// Returns the errors that are found in a formula with two normal numbers and scratch.
    private func findings(_ formula: Formula) -> [String] {
        Memory.clear()
        formula(Fp.normal(1), Fp.normal(1), Memory.take(64))
        return Memory.findings
    }

    private typealias Formula = (_ a: Limbs, _ b: Limbs, _ s: Limbs) -> Void

    private var faults: [(String, Formula)] {
        [
            ("negative difference", { a, b, _ in _ = (Narrow(a) - Narrow(b)).normal }),
            ("long sum", { a, b, _ in _ = (Narrow(a) * 7 + Narrow(b)).normal }),
            (
                "long factor",
                { a, b, s in
                    (Narrow(a) * 8).store(s)
                    Fp.mulWide(s + 4, s, b)
                }
            ),
            (
                "negative product",
                { a, b, s in
                    Fp.mulWide(s, a, b)
                    Fp.mulWide(s + 8, a, a)
                    _ = (Wide(s) - Wide(s + 8)).reduced
                }
            ),
            (
                "offset of p^2 for 2ab",
                { a, b, s in
                    Fp.mulWide(s, a, b)
                    _ = (Wide(multiple: 1) - Wide(s) - Wide(s)).reduced
                }
            ),
            (
                "long product",
                { a, b, s in
                    Fp.mulWide(s, a, b)
                    _ = (Wide(s) * 51).reduced
                }
            ),
            (
                "scratch overwritten",
                { a, b, s in
                    Fp.mulWide(s, a, b)
                    Narrow(a).store(s + 4)
                    _ = Wide(s).reduced
                }
            ),
            ("offset beyond the table", { _, _, _ in _ = Wide(multiple: 37) }),
        ]
    }
}
