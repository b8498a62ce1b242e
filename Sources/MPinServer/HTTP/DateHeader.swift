import HTTPTypes
import MPinService
package import MPinStore
import Synchronization

/// The header `Date` (RFC 9110 section 6.6.1). Its text is made once each second.
final class DateHeader: Sendable {
    private let last = Mutex<(second: Int64, field: HTTPField)>((0, HTTPField(name: .date, value: "")))

    /// The header for the current time.
    var field: HTTPField {
        let now = Moment.now()
        return last.withLock { last in
            if last.second != now.seconds { last = (now.seconds, HTTPField(name: .date, value: now.httpDate)) }
            return last.field
        }
    }
}

extension Moment {
    /// The time in the form `Sat, 21 Nov 2026 02:37:19 GMT`.
    package var httpDate: String { formatted("%a, %d %b %Y %H:%M:%S GMT") }

    /// The whole seconds from `now` until this moment, rounded up, at least 1: the value of `Retry-After`.
    func secondsFrom(_ now: Moment) -> Int {
        Int(max(1, (microseconds - now.microseconds + 999_999) / 1_000_000))
    }
}
