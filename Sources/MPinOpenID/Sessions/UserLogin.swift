package import MPinStore

/// A login: the user has entered the right PIN.
package struct UserLogin: Sendable, Equatable, Codable {
    /// The user of the identity, as ``UserKey/text``.
    package let userID: String
    /// The M-Pin ID with which the user logged in, in hex.
    package let mpinID: String
    /// When the PIN was entered (claim `auth_time`).
    package let time: Moment

    package init(userID: String, mpinID: String, time: Moment) {
        self.userID = userID
        self.mpinID = mpinID
        self.time = time
    }

    package var user: UserKey { UserKey(text: userID) }

    /// The claim `acr` of every login: the user knew a PIN and had a device with a secret.
    package static let acr = "urn:mpin:acr:pin-and-device"
    /// The claim `amr`: the factors of every login (RFC 8176).
    package static let amr = ["mfa", "pin", "hwk"]
}

extension Moment {
    /// The whole seconds since 1970, the unit of time in claims.
    package var epochSeconds: Int { Int(microseconds / 1_000_000) }
}

extension UserLogin: Packable {
    package init(packed members: inout Unpacker) throws {
        userID = try members.text()
        mpinID = try members.text()
        time = try members.moment()
    }

    package func pack(into members: inout Packer) {
        members.put(userID)
        members.put(mpinID)
        members.put(time)
    }
}
