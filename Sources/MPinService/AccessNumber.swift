import MPinSecrets

/// The number that a browser shows and a person types into a phone (wire section 6.9).
package enum AccessNumber {
    /// Six random digits, each value equally likely, and with `checkSum` a seventh that finds a mistyped one.
    package static func random(checkSum: Bool) throws -> String {
        while true {
            let digits = try randomDigits(6)
            guard checkSum else { return digits }
            if let check = checkDigit(digits) { return digits + String(check) }
        }
    }

    /// Whether that names a browser by a number, and not by the id in a QR code.
    static func isNumber(_ wid: String) -> Bool { wid.wholeMatch(of: /[0-9]{6,7}/) != nil }

    /// The check digit, weights 7 to 2 modulo 11; nil for numbers that would need a digit ten.
    package static func checkDigit(_ digits: String) -> Int? {
        let sum = zip(digits.compactMap(\.wholeNumberValue), [7, 6, 5, 4, 3, 2]).reduce(0) { $0 + $1.0 * $1.1 }
        let check = (11 - sum % 11) % 11
        return check < 10 ? check : nil
    }
}

/// `count` decimal digits, every one of the ten equally likely.
package func randomDigits(_ count: Int) throws -> String {
    var digits = ""
    while digits.utf8.count < count {
        // 250 is the last multiple of ten that a byte holds: what lies above would favour small digits.
        for byte in try randomBytes(count) where byte < 250 && digits.utf8.count < count { digits += String(byte % 10) }
    }
    return digits
}
