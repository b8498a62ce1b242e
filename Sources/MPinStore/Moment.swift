import Foundation

/// A point in time in UTC, counted in microseconds since 1970.
package struct Moment: Sendable, Comparable {
    package let microseconds: Int64

    package init(microseconds: Int64) { self.microseconds = microseconds }

    /// The time of the system clock.
    package static func now() -> Moment {
        Moment(microseconds: Int64((Date().timeIntervalSince1970 * 1_000_000).rounded(.down)))
    }

    package static func < (left: Moment, right: Moment) -> Bool { left.microseconds < right.microseconds }

    package func adding(seconds: Int) -> Moment { Moment(microseconds: microseconds + Int64(seconds) * 1_000_000) }
}

/// The source of the server's time. Tests set their own.
package typealias Clock = @Sendable () -> Moment

/// In JSON a moment is the number of microseconds since 1970.
extension Moment: Codable {
    package init(from decoder: any Decoder) throws {
        self.init(microseconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(microseconds)
    }
}
