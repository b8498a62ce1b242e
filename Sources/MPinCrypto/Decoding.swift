import BN254CX

// Conversion between octets and values in an arena. All conversions are here, so that each fault gives the same error
// everywhere.
extension Arena {
    /// Reads a point of G1 from 65 bytes.
    mutating func decodeG1(_ octets: Span<UInt8>) throws(MPinError) -> G1 {
        guard octets.count == MPinSize.g1 else { throw .wrongParameter }
        let point = g1()
        guard point.decode(octets, scratch) else { throw .invalidPoint }
        return point
    }

    /// Reads a point of G2 from 128 bytes. A point on the twist but outside the subgroup is `wrongOrder`, unless
    /// `checksOrder` is false.
    mutating func decodeG2(_ octets: Span<UInt8>, checksOrder: Bool = true) throws(MPinError) -> G2 {
        guard octets.count == MPinSize.g2 else { throw .wrongParameter }
        let point = g2()
        switch point.decode(octets, checksOrder: checksOrder, scratch) {
        case .valid: return point
        case .invalid: throw .invalidPoint
        case .outsideSubgroup: throw .wrongOrder
        }
    }

    /// Reads a value of the pairing from 384 bytes. An element of Fp12 with another order is `wrongOrder`.
    mutating func decodeGT(_ octets: Span<UInt8>) throws(MPinError) -> GT {
        guard octets.count == MPinSize.gt else { throw .wrongParameter }
        let value = gt()
        switch value.decode(octets, scratch) {
        case .valid: return value
        case .invalid: throw .invalidPoint
        case .outsideSubgroup: throw .wrongOrder
        }
    }

    /// Reads a scalar in 1..<r from 32 bytes.
    mutating func decodeScalar(_ octets: Span<UInt8>) throws(MPinError) -> Scalar {
        let value = scalar()
        guard value.decode(octets, scratch) else { throw .wrongParameter }
        return value
    }

    /// Reads a scalar in 0..<r from 32 bytes.
    mutating func decodeScalarOrZero(_ octets: Span<UInt8>) throws(MPinError) -> Scalar {
        let value = scalar()
        guard value.decodeBelowOrder(octets, scratch) else { throw .wrongParameter }
        return value
    }

    /// Reads a scalar below 2^bits from 32 bytes.
    mutating func decodeScalar(_ octets: Span<UInt8>, bits: Int) throws(MPinError) -> Scalar {
        let value = scalar()
        guard value.decode(octets, bits: bits) else { throw .wrongParameter }
        return value
    }

    /// Writes a point of G1, 65 bytes. Infinity has no encoding and is `invalidPoint`.
    func encode(_ point: G1, into octets: inout MutableSpan<UInt8>) throws(MPinError) {
        guard octets.count == MPinSize.g1 else { throw .wrongParameter }
        guard point.encode(into: &octets, scratch) else { throw .invalidPoint }
    }

    /// Writes a point of G1 with Z = 1, 65 bytes.
    func encode(_ point: G1Affine, into octets: inout MutableSpan<UInt8>) throws(MPinError) {
        guard point.encode(into: &octets, scratch) else { throw .wrongParameter }
    }

    /// Normalises `count` consecutive points to Z = 1, with one inversion for all. Infinity is `invalidPoint`.
    func makeAffine(_ points: Limbs, count: Int) throws(MPinError) {
        guard declassify(G1.makeAffine(points, count: count, scratch)) != 0 else { throw .invalidPoint }
    }

    /// Writes a point of G2, 128 bytes. Infinity has no encoding and is `invalidPoint`.
    func encode(_ point: G2, into octets: inout MutableSpan<UInt8>) throws(MPinError) {
        guard octets.count == MPinSize.g2 else { throw .wrongParameter }
        guard point.encode(into: &octets, scratch) else { throw .invalidPoint }
    }

    /// Writes a value of the pairing, 384 bytes.
    func encode(_ value: GT, into octets: inout MutableSpan<UInt8>) throws(MPinError) {
        guard value.encode(into: &octets, scratch) else { throw .wrongParameter }
    }
}
