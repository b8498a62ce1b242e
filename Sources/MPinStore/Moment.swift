// Public so that the compiler specialises it for other modules; it is no API.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

/// A point in time in UTC, counted in microseconds since 1970.
public struct Moment: Sendable, Comparable {
    public let microseconds: Int64

    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// The time of the system clock.
    public static func now() -> Moment {
        Moment(microseconds: Int64((Date().timeIntervalSince1970 * 1_000_000).rounded(.down)))
    }

    public static func < (left: Moment, right: Moment) -> Bool { left.microseconds < right.microseconds }

    public func adding(seconds: Int) -> Moment { Moment(microseconds: microseconds + Int64(seconds) * 1_000_000) }
}

/// The source of the server's time. Tests set their own.
public typealias Clock = @Sendable () -> Moment

/// In JSON a moment is the number of microseconds since 1970.
extension Moment: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(microseconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(microseconds)
    }
}
