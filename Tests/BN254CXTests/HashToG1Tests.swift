import BN254CX
import XCTest

final class HashToG1Tests: XCTestCase {
    /// Tests that the map finds the first x from the hash mod p upwards for which x^3 + 2 is a square other than zero,
    /// and takes the even one of the two roots as y.
    func testMapIsTryAndIncrement() {
        Workspace.run { w in
            for _ in 0..<50 {
                let start = w.arena
                let hash = (0..<32).map { _ in UInt8(truncatingIfNeeded: w.next()) }
                let point = w.arena.g1()
                XCTAssertTrue(point.mapVartime(hash: hash.span, w.scratch))
                XCTAssertEqual(w.slow(point), slowMap(hash))
                w.arena = start
            }
        }
    }

    private func slowMap(_ hash: [UInt8]) -> SlowPoint<SlowFp> {
        let p = Parameters.p
        var x = SlowFp(BigInt(hex: hash.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()))
        while true {
            let right = x * x * x + SlowFp(2)
            if right.value.power((p - 1).quotient(2), mod: p) == 1 {
                let root = SlowFp(right.value.power((p + 1).quotient(4), mod: p))
                return SlowPoint(x: x, y: root.value.bit(0) ? SlowFp(0) - root : root)
            }
            x = x + SlowFp(1)
        }
    }

    func testOtherLengthsAreRefused() {
        Workspace.run { w in
            for count in [0, 31, 33] {
                let hash = [UInt8](repeating: 7, count: count)
                XCTAssertFalse(w.arena.g1().mapVartime(hash: hash.span, w.scratch))
            }
        }
    }
}
