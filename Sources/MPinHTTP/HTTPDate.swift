import Glibc
import MPinSecrets

/// The time of an HTTP date, in seconds since 1970, in any of its three forms (RFC 9110 section 5.6.7): "Sun, 06 Nov
/// 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994". Nil if the text is not such a
/// date.
func secondsSince1970(httpDate text: String) -> Int64? {
    let words = text.split(separator: " ")
    switch words.count {
    case 6 where words[0].hasSuffix(",") && words[5] == "GMT":
        return seconds(day: words[1], month: words[2], year: number(words[3], 1970...9999), clock: words[4])
    case 4 where words[0].hasSuffix(",") && words[3] == "GMT":
        let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
        guard date.count == 3 else { return nil }
        return seconds(day: date[0], month: date[1], year: year(twoDigits: date[2]), clock: words[2])
    case 5:
        return seconds(day: words[2], month: words[1], year: number(words[4], 1970...9999), clock: words[3])
    default: return nil
    }
}

private func seconds(day: Substring, month: Substring, year: Int32?, clock: Substring) -> Int64? {
    let clock = clock.split(separator: ":", omittingEmptySubsequences: false)
    guard let year, let month = months.firstIndex(of: month), let day = number(day, 1...31), clock.count == 3,
        let hour = number(clock[0], 0...23), let minute = number(clock[1], 0...59),
        let second = number(clock[2], 0...60)
    else { return nil }
    return UTC.days(Int64(year), Int64(month) + 1, Int64(day)) * 86_400 + Int64(hour) * 3_600
        + Int64(minute * 60 + second)
}

/// The full year for the last two digits of a year. The year is in this century or, if that is more than 50 years
/// ahead, in the century before.
private func year(twoDigits text: Substring) -> Int32? {
    guard text.utf8.count == 2, let digits = number(text, 0...99) else { return nil }
    let thisYear = UTC.parts(Int64(time(nil))).tm_year + 1900
    let year = thisYear - thisYear % 100 + digits
    return year > thisYear + 50 ? year - 100 : year
}

private let months: [Substring] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
]

private func number(_ text: Substring, _ range: ClosedRange<Int32>) -> Int32? {
    Int32(text).flatMap { range.contains($0) ? $0 : nil }
}
