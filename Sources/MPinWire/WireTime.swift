import MPinSecrets

/// Conversion of the servers' times.
package enum WireTime {
    /// The seconds since 1970 of `text`, which is ISO 8601 in UTC with T or a blank, with or without the zone Z and
    /// fractions (wire section 2), or a whole number of seconds or milliseconds. Nil for any other text.
    package static func seconds(_ text: String) -> Int64? {
        if let number = Int64(text) { return seconds(number) }
        let bytes = Array(text.utf8)
        guard bytes.count >= 19, let year = number(bytes, 0, 4), bytes[4] == 45, let month = number(bytes, 5, 2),
            bytes[7] == 45, let day = number(bytes, 8, 2), bytes[10] == 84 || bytes[10] == 32,
            let hour = number(bytes, 11, 2), bytes[13] == 58, let minute = number(bytes, 14, 2), bytes[16] == 58,
            let second = number(bytes, 17, 2), isFractionAndZone(bytes.dropFirst(19)),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61
        else { return nil }
        return UTC.days(year, month, day) &* 86400 &+ hour &* 3600 &+ minute &* 60 &+ second
    }

    /// Converts a number that is either in seconds or in milliseconds to seconds. A number that as seconds would be
    /// after the year 5138 counts as milliseconds. Nil for a negative number.
    package static func seconds(_ number: Int64) -> Int64? {
        guard number >= 0 else { return nil }
        return number >= 100_000_000_000 ? number / 1000 : number
    }

    private static func number(_ text: [UInt8], _ start: Int, _ count: Int) -> Int64? {
        var value: Int64 = 0
        for byte in text[start..<start + count] {
            guard (48...57).contains(byte) else { return nil }
            value = value &* 10 &+ Int64(byte &- 48)
        }
        return value
    }

    private static func isFractionAndZone(_ rest: ArraySlice<UInt8>) -> Bool {
        var rest = rest
        if rest.last == 90 { rest = rest.dropLast() }
        return rest.isEmpty
            || rest.first == 46 && rest.count > 1 && rest.dropFirst().allSatisfy { (48...57).contains($0) }
    }
}
