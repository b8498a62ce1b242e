package import MPinStore

/// How often requests of one address, or for one identity, are allowed. Nil means no limit.
package struct RateLimits: Sendable {
    /// Registrations and activations from one address.
    package var registerAddress: RateLimit?
    /// Registrations of one user id. They are limited because each may send a mail to that user.
    package var registerIdentity: RateLimit?
    /// Requests of logins (time permit, pass 1, pass 2, redeeming the token) from one address.
    package var loginAddress: RateLimit?
    /// Requests of logins (time permit, pass 1, pass 2) for one M-Pin ID, registered or not.
    package var loginIdentity: RateLimit?
    /// Requests for access numbers and QR codes, and phones' reports about these, from one address.
    package var accessAddress: RateLimit?
    /// Requests by which login pages ask for the state of their phones, from one address. Pages send many of them, so
    /// they have a limit of their own and do not use up the limit for new pages.
    package var pollAddress: RateLimit?
    /// Requests to a D-TA with a wrong signature, from one address. Requests with a right signature do not count,
    /// because the RPS sends them for all its clients.
    package var authorityAddress: RateLimit?
    /// Requests to a D-TA for one identity.
    package var authorityIdentity: RateLimit?
    /// Requests to the OpenID provider's token endpoint with a wrong code, refresh token or secret: `tokenAddress` for
    /// one address, `tokenClient` for one client.
    package var tokenAddress: RateLimit?
    package var tokenClient: RateLimit?
    /// Requests to the admin API without a valid token, from one address.
    package var adminAddress: RateLimit?
    /// Codes of devices that are typed at the OpenID provider, right or wrong, from one address. They are short, so this
    /// keeps people from guessing them.
    package var deviceAddress: RateLimit?
    /// Requests of one address at all paths without a limit of their own, such as pages and scripts, known or not; and
    /// requests that are refused at paths which right ones may ask without a limit.
    package var otherAddress: RateLimit?
    /// Pushes to one user.
    package var pushUser: RateLimit?
    /// Whether each address and network has a share of the room for what strangers begin (``Limits/memoryPerAddress``).
    package var memoryShares = false

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
        limits.adminAddress = RateLimit("30/60")
        limits.deviceAddress = RateLimit("20/60")
        limits.otherAddress = RateLimit("12000/60")
        limits.pushUser = RateLimit("5/300")
        limits.memoryShares = true
        return limits
    }()

    package static let off = RateLimits()
}
