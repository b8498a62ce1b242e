package import MPinStore

/// How often one caller may come. Nil: as often as it likes.
package struct RateLimits: Sendable {
    /// Registrations and activations, by address.
    package var registerAddress: RateLimit?
    /// Registrations of one user id: each sends a mail.
    package var registerIdentity: RateLimit?
    /// Time permits, passes and authentications, by address.
    package var loginAddress: RateLimit?
    /// The same requests for one M-Pin ID, known or not.
    package var loginIdentity: RateLimit?
    /// Access numbers, QR codes and phones' reports on them, by address.
    package var accessAddress: RateLimit?
    /// Questions of login pages how far their phones are, by address. They are many where people share an address, and use
    /// up nothing that a new page needs.
    package var pollAddress: RateLimit?
    /// Requests to a D-TA that its signature check refused, by address: the RPS asks for all its clients.
    package var authorityAddress: RateLimit?
    /// Requests to a D-TA for one identity.
    package var authorityIdentity: RateLimit?
    /// Requests for tokens with a wrong code, token or secret, by address, and by client.
    package var tokenAddress: RateLimit?
    package var tokenClient: RateLimit?

    package init() {}

    package static let standard: RateLimits = {
        var limits = RateLimits()
        limits.registerAddress = RateLimit("120/60")
        limits.registerIdentity = RateLimit("10/600")
        limits.loginAddress = RateLimit("600/60")
        limits.loginIdentity = RateLimit("60/60")
        limits.accessAddress = RateLimit("600/60")
        limits.pollAddress = RateLimit("12000/60")
        limits.authorityAddress = RateLimit("30/60")
        limits.authorityIdentity = RateLimit("60/60")
        limits.tokenAddress = RateLimit("60/60")
        limits.tokenClient = RateLimit("60/60")
        return limits
    }()

    package static let off = RateLimits()
}
