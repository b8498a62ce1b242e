/// The digits of a public number: odd numbers between -15 and 15 and zeros, with at least four zeros between two odd
/// ones. Each digit is a byte.
struct NonAdjacentForm {
    /// The number of limbs of 128 digits, which suffice for a number below 2^127.
    static var count: Int { 16 }

    private let octets: UnsafeMutableRawPointer

    @inline(__always)
    init(_ limbs: Limbs) { octets = UnsafeMutableRawPointer(limbs) }

    /// Digit i, which belongs to 2^i.
    @inline(__always)
    subscript(i: Int) -> Int { Int(octets.load(fromByteOffset: i, as: Int8.self)) }

    /// Writes the digits of k from the lowest up (Solinas, "Efficient arithmetic on Koblitz curves", 2000, algorithm 4,
    /// for integers). Returns the number of digits up to the highest odd one. Variable time.
    func setVartime(_ k: SignedScalar) -> Int {
        zeroLimbs(octets.assumingMemoryBound(to: Limb.self), NonAdjacentForm.count)
        var rest = Int128(bitPattern: k.magnitude), count = 0, i = 0
        while rest != 0 {
            if rest & 1 != 0 {
                let low = Int(truncatingIfNeeded: rest) & 31, digit = low < 16 ? low : low &- 32
                rest = rest &- Int128(digit)
                let signed = Int8(truncatingIfNeeded: k.minus == 0 ? digit : 0 &- digit)
                octets.storeBytes(of: signed, toByteOffset: i, as: Int8.self)
                count = i &+ 1
            }
            rest = rest &>> 1
            i &+= 1
        }
        return count
    }
}
