package import MPinOpenID
import MPinSecrets
package import MPinService
import MPinStore

/// The operator's settings of the OpenID provider.
package struct OpenIDConfig: Sendable {
    /// The URL that names the provider for all clients: https, or http on this machine.
    package let issuer: String
    /// The clients in the operator's file. Those in the database are not here.
    package var clients = ClientsFile.none
    /// The QR code contains the site's base URL, and the login page shows its host.
    let site: SiteConfig
    /// Path prefix of the RPS's public endpoints, without slashes.
    let prefix: String
    /// The sites whose pages may read what the RPS answers, also to the logout by a phone.
    let allowOrigin: [String]
    /// The QR code of the site's base URL for people without a device, by language. Every login page has it, so it is made once.
    let signUpPictures: [String: HTML]
    /// Sends the links to users' new addresses.
    let mailer: Mailer
    let limits: Limits
    let audit: Audit
    /// Where clients are told of logouts.
    let targets: OutboundTargets
    var clock: Clock

    /// Throws if `issuer` is not an https URL (or http on this machine), or has a query or a fragment: clients compare
    /// issuers byte by byte, and browsers must be able to keep cookies for it.
    ///
    /// `site`: how the provider's pages and mails look. `service`: the RPS in the same process.
    package init(issuer: String, site: SiteConfig, service: RelyingPartyServiceConfig) throws(StartError) {
        guard let uri = try? RedirectURI(issuer), !uri.hasAppScheme, !issuer.contains("?") else {
            throw StartError("--issuer: \(issuer) must be an https URL without ? and # (http on this machine only)")
        }
        self.issuer = issuer
        self.site = site
        signUpPictures = Language.all.reduce(into: [:]) { pictures, language in
            pictures[language.code] = QRCode.svg(site.publicURL, label: language.plain(.oidcSignUpPicture))
        }
        prefix = service.prefix
        allowOrigin = service.allowOrigin
        mailer = site.mailer(seconds: service.limits.callSeconds)
        limits = service.limits
        targets = service.outboundTargets
        audit = service.audit.of("openid")
        clock = service.clock
    }

    /// Whether browsers reach the provider by https.
    var isSecure: Bool { issuer.hasPrefix("https://") }

    /// The path of the issuer, without a slash at its end. All paths of the provider begin with it.
    var path: String {
        let rest = issuer.withoutSlashAtEnd.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return rest.count == 4 ? rest.last.map { "/" + $0 } ?? "" : ""
    }

    /// The issuer without its path.
    var origin: String { String(issuer.withoutSlashAtEnd.dropLast(path.count)) }

    /// Where users change their accounts.
    package var accountURL: String { Self.accountURL(issuer: issuer) }

    static func accountURL(issuer: String) -> String { issuer.withoutSlashAtEnd + AccountPaths.page }

    /// Returns the key that seals the signing keys. It is derived from the server's own key, so a backup of the
    /// database and of that key is enough to open them.
    static func sealKey(from key: SecretBytes) -> SecretBytes {
        let tag = HMACSHA256.tag(Array("OpenID signing keys".utf8), key: key)
        return SecretBytes(copying: tag.span)
    }
}
