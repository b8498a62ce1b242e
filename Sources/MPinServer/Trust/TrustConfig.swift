package import MPinService

/// The operator's settings for clients of MIRACL Trust.
package struct TrustConfig: Sendable {
    /// Base URL of the server, as clients know it, without a slash at the end.
    let publicURL: String
    /// The language of mails to users whose client asks for none of the available languages.
    let language: Language
    let mailer: Mailer
    let limits: Limits
    let audit: Audit

    /// `website` gives the base URL, and how mails look and are sent. Throws if it sends none.
    package init(_ website: RelyingPartyApplicationConfig) throws(StartError) {
        guard website.delivery != .forceActivate else {
            throw StartError("--trust needs mails: not with --force-activate")
        }
        publicURL = website.publicURL
        language = website.language
        limits = website.limits
        mailer = website.mailer
        audit = website.audit.of("trust")
    }
}
