import Foundation
public import MPin

/// What the super-app writes to the standard input of a smaller app, as JSON: who the user is, and an access token for
/// one service, which the smaller app cannot renew. It is in no argument and in no environment variable, because other
/// programs can read those.
public struct Handed: Codable, Sendable {
    /// Who the user is.
    public let profile: Profile
    /// What the service takes.
    public let accessToken: String
    /// When the token expires, in seconds since 1970.
    public let expiry: Int64
    /// The URL of the service.
    public let service: String

    /// Makes what is handed over. `service` is the URL of the service.
    public init(_ handover: Handover, service: String) {
        profile = handover.profile
        accessToken = handover.accessToken
        expiry = handover.expiry
        self.service = service
    }

    /// The exit code of a smaller app whose token its service refuses. It gets another one, once.
    public static let needsToken: Int32 = 3

    /// Reads the standard input of a smaller app. Nil if no super-app has started it.
    public static func read() -> Handed? {
        try? JSONDecoder().decode(Handed.self, from: FileHandle.standardInput.readDataToEndOfFile())
    }
}
