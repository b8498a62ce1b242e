import MPinService

/// The operator's settings for clients of MIRACL Trust.
package struct TrustConfig: Sendable {
    /// Base URL of the RPS, as clients know it, without a slash at the end.
    let baseURL: String
    let site: SiteConfig
    let mailer: Mailer
    let limits: Limits
    let audit: Audit
    /// Where back ends hear of new users.
    let targets: OutboundTargets
    /// Where pushes go. Nil if there are none.
    package var pushes: PushTarget?

    /// `site`: how mails look and are sent. If none are, only back ends can verify users. `service`: the RPS in the same
    /// process.
    package init(_ site: SiteConfig, service: RelyingPartyServiceConfig, baseURL: String) {
        self.site = site
        self.baseURL = baseURL
        mailer = site.mailer(seconds: service.limits.callSeconds)
        limits = service.limits
        targets = service.outboundTargets
        audit = service.audit.of("trust")
    }
}
