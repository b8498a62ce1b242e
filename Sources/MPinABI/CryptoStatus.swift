import CMPin
import MPinCrypto

extension MPinError {
    /// The number of the error in the C header.
    var code: Int32 {
        switch self {
        case .wrongParameter: MPIN_CRYPTO_WRONG_PARAMETER
        case .invalidPoint: MPIN_CRYPTO_INVALID_POINT
        case .wrongOrder: MPIN_CRYPTO_WRONG_ORDER
        case .badPIN: MPIN_CRYPTO_BAD_PIN
        case .randomFailed: MPIN_CRYPTO_RANDOM_FAILED
        case .bufferTooSmall: MPIN_CRYPTO_BUFFER_TOO_SMALL
        }
    }
}

/// Runs a cryptographic operation and returns its result as a number of the C header.
func crypto(_ primitive: () throws(MPinError) -> Void) -> Int32 {
    do {
        try primitive()
        return MPIN_CRYPTO_OK
    } catch {
        return error.code
    }
}
