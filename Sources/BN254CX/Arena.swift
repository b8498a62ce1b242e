/// Hands out pieces of limbs that the caller lends for one operation. What is left is the scratch of the functions that
/// work on the pieces: each says how many limbs it uses.
package struct Arena {
    /// Limbs that hold the largest operation, the preparation of a point of G2. `ScratchTests` measures the use.
    package static let capacity = 4096

    /// The limbs not yet handed out.
    package private(set) var scratch: Limbs

    /// Over `capacity` limbs, which the caller wipes.
    package init(_ base: Limbs) { scratch = base }

    /// The next `count` limbs.
    @inline(__always)
    package mutating func take(_ count: Int) -> Limbs {
        defer { scratch += count }
        return scratch
    }
}
