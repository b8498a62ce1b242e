import Glibc

/// `text` in the form that servers write, "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 section 5.6.7); nil: it is not.
func secondsSince1970(httpDate text: String) -> Int64? {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT", let month = months.firstIndex(of: words[2]),
        let day = number(words[1], 1...31), let year = number(words[3], 1970...9999)
    else { return nil }
    let clock = words[4].split(separator: ":", omittingEmptySubsequences: false)
    guard clock.count == 3, let hour = number(clock[0], 0...23), let minute = number(clock[1], 0...59),
        let second = number(clock[2], 0...60)
    else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, Int32(month), day)
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, second)
    return Int64(timegm(&parts))
}

private let months: [Substring] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
]

private func number(_ text: Substring, _ range: ClosedRange<Int32>) -> Int32? {
    Int32(text).flatMap { range.contains($0) ? $0 : nil }
}
