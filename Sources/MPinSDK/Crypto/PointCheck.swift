import MPinCrypto
import MPinSecrets

/// Whether octets encode a point of G1. Taking nothing off it fails unless they do.
func isPoint(_ octets: SecretBytes) -> Bool {
    guard octets.count == MPinSize.g1 else { return false }
    let id: [UInt8] = []
    let (zero, same) = (SecretBytes(count: MPinSize.scalar), SecretBytes(count: MPinSize.g1))
    var result = same.mutableSpan
    do throws(MPinError) {
        try Client.extractPIN(
            id: id.span, pinScalar: zero.span, pinBits: PINMapping.decimal6.bits, clientSecret: octets.span,
            into: &result)
        return true
    } catch { return false }
}
