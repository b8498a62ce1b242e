import MPinSecrets

/// The number that a browser shows and that its user types into a phone (wire section 6.9).
package enum AccessNumber {
    /// Returns six random digits, each value equally likely. With `checkSum` a seventh digit follows, which reveals
    /// most typing mistakes.
    package static func random(checkSum: Bool) throws -> String {
        while true {
            let digits = try randomDigits(6)
            guard checkSum else { return digits }
            if let check = checkDigit(digits) { return digits + String(check) }
        }
    }

    /// Whether `wid` is an access number. Otherwise it is the id in a QR code.
    static func isNumber(_ wid: String) -> Bool { wid.wholeMatch(of: /[0-9]{6,7}/) != nil }

    /// Returns the check digit of six digits, computed with the weights 7 to 2 modulo 11. Nil if it would have to be
    /// 10.
    package static func checkDigit(_ digits: String) -> Int? {
        let sum = zip(digits.compactMap(\.wholeNumberValue), [7, 6, 5, 4, 3, 2]).reduce(0) { $0 + $1.0 * $1.1 }
        let check = (11 - sum % 11) % 11
        return check < 10 ? check : nil
    }
}

/// Returns `count` random decimal digits, each value equally likely.
package func randomDigits(_ count: Int) throws -> String {
    var digits = ""
    while digits.utf8.count < count {
        // Bytes from 250 on are dropped, because they would make the digits 0 to 5 more likely than the others.
        for byte in try randomBytes(count) where byte < 250 && digits.utf8.count < count { digits += String(byte % 10) }
    }
    return digits
}
