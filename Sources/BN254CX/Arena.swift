/// Divides the limbs that a caller lends for one operation into pieces. The limbs that are left serve as scratch for
/// the functions that work on the pieces. Each function says how many limbs of scratch it uses.
package struct Arena {
    /// The number of limbs that suffice for the largest operation, which is the preparation of a point of G2.
    /// `ScratchTests` measures the use.
    package static let capacity = 4096

    /// The number of limbs that suffice for operations on scalars and points of G1.
    package static let g1Capacity = 1024

    /// The limbs that are not handed out yet.
    package private(set) var scratch: Limbs

    /// Makes an arena of the `capacity` limbs at `base`. The caller must wipe them afterwards.
    package init(_ base: Limbs) { scratch = base }

    /// Hands out the next `count` limbs.
    @inline(__always)
    package mutating func take(_ count: Int) -> Limbs {
        defer { scratch += count }
        return scratch
    }
}
