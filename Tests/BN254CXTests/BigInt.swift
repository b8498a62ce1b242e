import CGMP
import Foundation

/// An integer of any size, with GMP's `mpz` functions. Slow reference implementations compute with it.
final class BigInt: ExpressibleByIntegerLiteral, CustomStringConvertible {
    private var value = __mpz_struct()

    init() { __gmpz_init(&value) }

    convenience init(integerLiteral literal: Int) {
        self.init()
        __gmpz_set_si(&value, literal)
    }

    /// Makes the number from hexadecimal digits.
    convenience init(hex: String) {
        self.init()
        __gmpz_set_str(&value, hex, 16)
    }

    /// Makes the number from little-endian limbs.
    convenience init(_ limbs: UnsafePointer<UInt>, _ count: Int) {
        self.init()
        __gmpz_import(&value, count, -1, 8, 0, 0, limbs)
    }

    deinit { __gmpz_clear(&value) }

    /// Returns the number as `count` little-endian limbs. It must fit into these and must not be negative.
    func limbs(_ count: Int) -> [UInt] {
        var result = [UInt](repeating: 0, count: count)
        __gmpz_export(&result, nil, -1, 8, 0, 0, &value)
        return result
    }

    var bitCount: Int { Int(__gmpz_sizeinbase(&value, 2)) }

    func bit(_ index: Int) -> Bool { __gmpz_tstbit(&value, UInt(index)) == 1 }

    /// Returns self / divisor, rounded down.
    func quotient(_ divisor: BigInt) -> BigInt { combine(divisor) { __gmpz_fdiv_q($0, $1, $2) } }

    /// Returns self mod modulus, in 0..<modulus even if self is negative.
    func mod(_ modulus: BigInt) -> BigInt { combine(modulus) { __gmpz_mod($0, $1, $2) } }

    /// Returns the inverse of self mod modulus; 0 if self has none.
    func inverse(mod modulus: BigInt) -> BigInt {
        let result = BigInt()
        return __gmpz_invert(&result.value, &value, &modulus.value) != 0 ? result : 0
    }

    /// Returns self^exponent mod modulus.
    func power(_ exponent: BigInt, mod modulus: BigInt) -> BigInt {
        let result = BigInt()
        __gmpz_powm(&result.value, &value, &exponent.value, &modulus.value)
        return result
    }

    /// Returns self^exponent.
    func power(_ exponent: Int) -> BigInt {
        let result = BigInt()
        __gmpz_pow_ui(&result.value, &value, UInt(exponent))
        return result
    }

    static func gcd(_ a: BigInt, _ b: BigInt) -> BigInt { a.combine(b) { __gmpz_gcd($0, $1, $2) } }
    static func + (a: BigInt, b: BigInt) -> BigInt { a.combine(b) { __gmpz_add($0, $1, $2) } }
    static func - (a: BigInt, b: BigInt) -> BigInt { a.combine(b) { __gmpz_sub($0, $1, $2) } }
    static func * (a: BigInt, b: BigInt) -> BigInt { a.combine(b) { __gmpz_mul($0, $1, $2) } }
    static func == (a: BigInt, b: BigInt) -> Bool { __gmpz_cmp(&a.value, &b.value) == 0 }
    static func < (a: BigInt, b: BigInt) -> Bool { __gmpz_cmp(&a.value, &b.value) < 0 }

    var description: String {
        guard let digits = __gmpz_get_str(nil, 16, &value) else { return "?" }
        defer { free(digits) }
        return String(cString: digits)
    }

    private func combine(
        _ other: BigInt,
        _ operation: (UnsafeMutablePointer<__mpz_struct>, UnsafePointer<__mpz_struct>, UnsafePointer<__mpz_struct>)
            -> Void
    ) -> BigInt {
        let result = BigInt()
        var left = value, right = other.value
        operation(&result.value, &left, &right)
        return result
    }
}

extension BigInt: Comparable {}

/// The parameter x of the curve, and the numbers that follow from it: the prime p of the field and the order r of the
/// groups.
enum Parameters {
    static var x: BigInt { 0 - BigInt(hex: "4000000003C012B1") }
    static var p: BigInt { polynomial(36, 36, 24, 6, 1) }
    static var r: BigInt { polynomial(36, 36, 18, 6, 1) }
    /// The trace of Frobenius: the curve has p + 1 - t points over Fp.
    static var t: BigInt { 6 * x * x + 1 }

    private static func polynomial(_ a: BigInt, _ b: BigInt, _ c: BigInt, _ d: BigInt, _ e: BigInt) -> BigInt {
        (((a * x + b) * x + c) * x + d) * x + e
    }
}
