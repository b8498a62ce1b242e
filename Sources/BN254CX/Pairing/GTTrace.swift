extension GT {
    /// The number of bytes of an encoded trace.
    package static var traceOctets: Int { 128 }
    /// The number of limbs of scratch that `encodeTrace` uses.
    package static var traceScratch: Int { 48 &+ 16 }

    /// Writes the value's trace from Fp12 to the subfield Fp4, 128 bytes. The trace is three times the coefficients of
    /// w^0 and w^3, because the other coefficients cancel. These two come first in the encoding of the value, so the
    /// trace is computed from the encoding. False if `octets` does not have 128 bytes.
    package func encodeTrace(into octets: inout MutableSpan<UInt8>, _ s: Limbs) -> Bool {
        guard octets.count == GT.traceOctets else { return false }
        return s.withMemoryRebound(to: UInt8.self, capacity: GT.octets) { bytes in
            value.encode(bytes, s + 48)
            return octets.withUnsafeMutableBufferPointer { buffer in
                guard let base = buffer.baseAddress else { return false }
                for n in 0..<4 { GT.encodeTriple(base + 32 &* n, bytes + 32 &* n, s + 48) }
                return true
            }
        }
    }

    /// Reads a number of 32 bytes and writes three times this number modulo p, 32 bytes. Scratch: 16 limbs.
    private static func encodeTriple(_ bytes: UnsafeMutablePointer<UInt8>, _ a: UnsafePointer<UInt8>, _ s: Limbs) {
        let value = s, double = s + 4
        _ = Fp.decode(value, a, s + 4)
        Fp.add(double, value, value)
        Fp.add(value, value, double)
        Fp.encode(bytes, value, s + 4)
    }
}
