package import MPinStore

/// Somebody has entered the right PIN.
package struct UserLogin: Sendable, Equatable, Codable {
    /// Whom the identity belongs to.
    package let userID: String
    /// Hex of the M-Pin ID that was logged in with.
    package let mpinID: String
    /// When the PIN was entered: `auth_time`.
    package let time: Moment

    package init(userID: String, mpinID: String, time: Moment) {
        self.userID = userID
        self.mpinID = mpinID
        self.time = time
    }

    /// `acr` of every login: a PIN, and a secret on the device of its user.
    package static let acr = "urn:mpin:acr:pin-and-device"
    /// What happened (RFC 8176).
    package static let amr = ["mfa", "pin", "hwk"]
}

extension Moment {
    /// Whole seconds since 1970, as claims have them.
    package var epochSeconds: Int { Int(microseconds / 1_000_000) }
}
