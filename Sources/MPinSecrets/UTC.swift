package import Glibc

/// The calendar in UTC. The C library's `gmtime_r` and `timegm` are not used, because in a zone with leap seconds, such as
/// right/UTC, they count these, and other programs do not.
package enum UTC {
    /// What the calendar and the clock show at a time in seconds since 1970. The day of the year is not computed.
    package static func parts(_ seconds: Int64) -> tm {
        let days = seconds / 86_400 - (seconds % 86_400 < 0 ? 1 : 0)
        let time = (seconds % 86_400 + 86_400) % 86_400
        // Years begin in March here, so that a leap day is the last day of its year. 400 years have 146,097 days.
        let day = days + 719_468
        let era = (day >= 0 ? day : day - 146_096) / 146_097
        let dayOfEra = day - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        var parts = tm()
        parts.tm_year = Int32(truncatingIfNeeded: year - 1900)
        parts.tm_mon = Int32((month + 2) % 12)
        parts.tm_mday = Int32(dayOfYear - (153 * month + 2) / 5 + 1)
        parts.tm_wday = Int32(((days + 4) % 7 + 7) % 7)
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (Int32(time / 3_600), Int32(time / 60 % 60), Int32(time % 60))
        return parts
    }

    /// The number of days from 1970-01-01 to a date of the Gregorian calendar, whose months are 1 to 12. The year is at least
    /// 0.
    package static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
