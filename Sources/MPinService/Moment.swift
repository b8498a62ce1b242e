import Foundation
import MPinSecrets
package import MPinStore

/// The notations of time in the messages of the Milagro protocol (wire section 2), and the days of time permits.
extension Moment {
    /// Reads `YYYY-MM-DDTHH:MM:SSZ`; nil for any other notation.
    package init?(_ text: String) {
        guard text.utf8.count == 20, let date = try? Date(text, strategy: .iso8601) else { return nil }
        self.init(microseconds: Int64(date.timeIntervalSince1970) * 1_000_000)
        guard iso == text else { return nil }
    }

    /// Whole seconds since 1970.
    package var seconds: Int64 { microseconds / 1_000_000 }

    /// Whole days since 1970-01-01: the date of time permits.
    package var day: Int32 { Int32(truncatingIfNeeded: seconds / 86_400) }

    /// Whether a machine's clock can show this time: it is not before 2020. A machine whose clock has no battery begins in
    /// 1970, and one whose clock is broken anywhere.
    package var isOfMachine: Bool { microseconds >= 1_577_836_800_000_000 }

    /// The midnight (UTC) at which `day` begins, in days since 1970-01-01.
    package init(startOfDay day: Int32) { self.init(microseconds: Int64(day) * 86_400_000_000) }

    /// The hour of the day in UTC, 0 to 23.
    package var hour: Int { Int(seconds % 86_400 / 3_600) }

    /// The dates for which a proof may be made: today and, while the UTC hour is 0, yesterday (wire section 3).
    package var permitDates: [Int32] { hour == 0 ? [day, day - 1] : [day] }

    /// The time in the form `2026-11-21T02:37:19Z`.
    package var iso: String { formatted("%Y-%m-%dT%H:%M:%SZ") }

    /// The time in UTC in a format of strftime(3).
    package func formatted(_ format: String) -> String {
        var parts = UTC.parts(seconds - (microseconds % 1_000_000 < 0 ? 1 : 0))
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
            let count = strftime(text.baseAddress, text.count, format, &parts)
            return String(
                decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[..<count]), as: UTF8.self)
        }
    }

    /// The time in the form `2026-11-21T03:36:19.271581`, without a time zone, for the answer to a registration.
    package var isoWithMicroseconds: String {
        // The digit in front keeps the zeros.
        formatted("%Y-%m-%dT%H:%M:%S.") + String(1_000_000 + microseconds % 1_000_000).dropFirst()
    }

    /// The time in the form `2026-11-21 03:36:19.271581`, for the member `issued` of an M-Pin ID.
    package var issued: String { isoWithMicroseconds.replacing("T", with: " ") }
}
