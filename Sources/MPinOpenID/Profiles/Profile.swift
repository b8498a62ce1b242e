package import MPinStore

/// What the provider knows about a user besides the devices: the claims of OpenID Connect Core section 5.1. There is
/// one profile for each user id, however many devices the user has.
package struct Profile: Sendable, Equatable, Codable, Storable {
    /// ``UserKey/text``.
    package let userID: String
    /// The name that clients show. Nil if nobody has set one; then the user id stands for it.
    package internal(set) var name: String?
    /// The mail address that was set in place of the user id. Nil if there is none.
    private var ownEmail: String?
    /// Whether somebody has opened a link in a mail that this server has sent to ``email``.
    package private(set) var isEmailVerified = false
    /// The address that will take the place of ``email`` when the link in the mail to it is opened.
    package internal(set) var pendingEmail: PendingEmail?
    /// An https URL. The server never fetches it.
    package internal(set) var picture: String?
    /// A language tag (RFC 5646), such as `de` or `pt-BR`.
    package internal(set) var locale: String?
    /// The groups that the operator has put the user into, in the operator's order.
    package internal(set) var groups: [String] = []
    /// When the profile was last changed. Nil if it never was.
    package internal(set) var updated: Moment?

    /// An address whose owner has been sent a link and has not opened it yet.
    package struct PendingEmail: Sendable, Equatable, Codable {
        package let address: String
        /// The ``OpaqueToken/key`` of the token in the link.
        let link: String
        package let expires: Moment
    }

    package init(userID: String) { self.userID = userID }

    package var user: UserKey { UserKey(text: userID) }

    /// The user's mail address: the one that was set, or else the user id, if that is an address. Nil if there is
    /// neither.
    package var email: String? { ownEmail ?? EmailAddress(userID)?.text }

    /// Sets another address, or with nil removes it, so that the user id counts again. `isProven`: whether a link in a
    /// mail to this address was opened just now. An address that stays the same keeps what is known about it.
    mutating func setEmail(_ address: String?, isProven: Bool) {
        let before = email
        ownEmail = address == userID ? nil : address
        if email != before { isEmailVerified = false }
        if isProven { isEmailVerified = email == address }
    }

    /// Notes that a link in a mail to the user id was opened. It proves nothing about another address that was set.
    mutating func proveUserID() -> Bool {
        guard ownEmail == nil, email == userID, !isEmailVerified else { return false }
        isEmailVerified = true
        return true
    }
}
