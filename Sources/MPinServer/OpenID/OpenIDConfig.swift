package import MPinOpenID
import MPinSecrets
package import MPinService
import MPinStore

/// The OpenID provider: what an operator says of it.
package struct OpenIDConfig: Sendable {
    /// As every client knows it: https, or http on this machine.
    package let issuer: String
    /// Those that the operator keeps in a file.
    package var clients = ClientsFile.none
    /// Base URL of the website, which phones are shown.
    let publicURL: String
    /// Path prefix of the RPS's public endpoints, without slashes.
    let prefix: String
    let brand: Brand
    let language: Language
    let revokedUsersFile: String?
    let limits: Limits
    let audit: Audit
    let clock: Clock

    /// Throws where `issuer` is no URL that browsers could keep a cookie for, or clients compare byte by byte.
    ///
    /// `website`: what its pages look like.
    package init(issuer: String, website: RelyingPartyApplicationConfig) throws(StartError) {
        guard let uri = try? RedirectURI(issuer), !uri.hasAppScheme, !issuer.contains("?") else {
            throw StartError("--issuer: \(issuer) must be an https URL without ? and # (http on this machine only)")
        }
        self.issuer = issuer
        publicURL = website.publicURL
        prefix = website.prefix
        brand = website.brand
        language = website.language
        revokedUsersFile = website.revokedUsersFile
        limits = website.limits
        audit = website.audit.of("openid")
        clock = website.clock
    }

    /// Whether browsers come over https.
    var isSecure: Bool { issuer.hasPrefix("https://") }

    /// What stands before the provider's paths: the path of the issuer, without a slash at its end.
    var path: String {
        let rest = issuer.withoutSlashAtEnd.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return rest.count == 4 ? rest.last.map { "/" + $0 } ?? "" : ""
    }

    /// Seals the signing keys: made of the server's own key, so that a backup of the two opens them.
    static func sealKey(from key: SecretBytes) -> SecretBytes {
        let tag = HMACSHA256.tag(Array("OpenID signing keys".utf8), key: key)
        return SecretBytes(copying: tag.span)
    }
}
