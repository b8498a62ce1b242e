import BN254CX

/// Computes how far an entered PIN was from the right one.
///
/// The name comes from Milagro's programs, which use Pollard's kangaroos and miss four errors in ten. This
/// implementation uses baby steps and giant steps (Shanks, "Class number, a theory of factorization, and genera", 1971)
/// in the group of the pairing. In this group an inversion costs almost nothing, so one table of f^1 ... f^b serves
/// positive and negative errors. This method finds every error and is not slower.
package enum Kangaroo {
    /// The largest range that `find` takes: the errors of PINs of six digits.
    package static let maximumRange: Int32 = 1_000_000

    /// Returns the n with |n| <= range and e = f^-n: the entered PIN minus the registered PIN. Nil if there is no such
    /// n. `e` and `f` come from `ServerContext.pass2`, 384 bytes each; `range` is 0...1,000,000.
    ///
    /// Variable time, because the server may know the error. The search takes about 2 sqrt(range) products in Fp12.
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
