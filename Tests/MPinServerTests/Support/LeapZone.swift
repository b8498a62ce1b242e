import Foundation

/// A time zone like `right/UTC` of the tz database, whose clock counts leap seconds. Not every machine has that one.
enum LeapZone {
    /// When leap seconds were inserted, up to 2017: the days that begin after them.
    private static let days = [
        "1972-07-01", "1973-01-01", "1974-01-01", "1975-01-01", "1976-01-01", "1977-01-01", "1978-01-01", "1979-01-01",
        "1980-01-01", "1981-07-01", "1982-07-01", "1983-07-01", "1985-07-01", "1988-01-01", "1990-01-01", "1991-01-01",
        "1992-07-01", "1993-07-01", "1994-07-01", "1996-01-01", "1997-07-01", "1999-01-01", "2006-01-01", "2009-01-01",
        "2012-07-01", "2015-07-01", "2017-01-01",
    ]

    /// Writes the zone into a file (RFC 9636), and returns what names it in the variable TZ.
    static func write(to path: String) throws -> String {
        let utc: [UInt8] = [0, 0, 0, 0, 0, 0] + Array("UTC\0".utf8)
        var file = header(leaps: 0) + utc + header(leaps: days.count) + utc
        for (index, day) in days.enumerated() {
            let begin = try Date(day + "T00:00:00Z", strategy: .iso8601)
            // In this zone's own seconds, which count the leap seconds before.
            file += bigEndian(Int64(begin.timeIntervalSince1970) + Int64(index)) + bigEndian(Int32(index + 1))
        }
        try Data(file + Array("\nUTC0\n".utf8)).write(to: URL(fileURLWithPath: path))
        return ":" + path
    }

    /// The numbers of leap seconds, transitions (none), kinds of time (one) and letters of their names.
    private static func header(leaps: Int) -> [UInt8] {
        let counts = [0, 0, Int32(leaps), 0, 1, 4].flatMap { bigEndian($0) }
        return Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15) + counts
    }

    private static func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
