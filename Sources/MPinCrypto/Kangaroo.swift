import BN254CX

/// By how much a PIN was wrong.
///
/// The old systems use Pollard's kangaroos for it, hence the name, and miss four errors in ten. This is baby steps and
/// giant steps (Shanks, "Class number, a theory of factorization, and genera", 1971) in the group of the pairing, where
/// inversion is free, so that one table of f^1 ... f^b serves both signs: certain, and no slower.
package enum Kangaroo {
    /// The largest range that `find` takes: the errors of PINs of six digits.
    package static let maximumRange: Int32 = 1_000_000

    /// The n with |n| <= range and e = f^-n: the PIN that was entered less the registered one; nil if there is none.
    ///
    /// Variable time: the server may know the error. About 2 sqrt(range) products in Fp12 for ranges up to 10^6.
    package static func find(e: Span<UInt8>, f: Span<UInt8>, range: Int32 = 9_999) throws(MPinError) -> Int32? {
        guard range >= 0, range <= maximumRange else { throw .wrongParameter }
        return try withArena { arena throws(MPinError) in
            let target = try arena.decodeGT(e)
            let base = try arena.decodeGT(f)
            let search = DiscreteLogarithm(base: base, bound: Int(range), &arena)
            return search.findVartime(target).map { 0 &- Int32(truncatingIfNeeded: $0) }
        }
    }
}
