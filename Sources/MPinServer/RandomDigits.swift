import MPinSecrets

/// `count` decimal digits, every one of the ten equally likely.
package func randomDigits(_ count: Int) throws -> String {
    var digits = ""
    while digits.utf8.count < count {
        // 250 is the last multiple of ten that a byte holds: what lies above would favour small digits.
        for byte in try randomBytes(count) where byte < 250 && digits.utf8.count < count { digits += String(byte % 10) }
    }
    return digits
}
