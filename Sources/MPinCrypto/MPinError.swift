/// Why an operation failed. The numbers in brackets are those of the C header.
package enum MPinError: Error, Equatable {
    /// A length, a scalar or a date is outside its range (-11).
    case wrongParameter
    /// The octets do not encode a point of the curve, or the point is at infinity where that is not allowed (-14).
    case invalidPoint
    /// The octets encode a point of G2's curve or an element of Fp12 that is outside the group of order r (-18).
    case wrongOrder
    /// The proof is wrong, because it was made with another PIN, token or permit (-19).
    case badPIN
    /// The random generator failed (-32).
    case randomFailed
    /// The buffer of a C caller is too small for the output (-33).
    case bufferTooSmall
}

/// Sizes in bytes.
package enum MPinSize {
    /// A point of G1: `04 || x || y`.
    package static let g1 = 65
    /// A point of G2: `x.a || x.b || y.a || y.b`.
    package static let g2 = 128
    /// A value of the pairing.
    package static let gt = 384
    /// A scalar, big-endian.
    package static let scalar = 32
    /// A SHA-256 digest.
    package static let hash = 32
}
