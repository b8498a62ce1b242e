import ArgumentParser
import MPinOpenID

/// The options for the members of a client. Each has the name of its member in `ClientMember`.
struct ClientOptions: ParsableArguments {
    @Option(help: "What the login page calls it. (default: its id)")
    var name: String?
    @Option(help: "Its logo on the login page, an https URL.")
    var logo: String?
    @Option(
        help: """
            client_secret_basic, client_secret_post, or none for a public client: an app that cannot keep a secret. \
            (default: client_secret_basic)
            """)
    var authMethod: String?
    @Option(help: "true: all that it asks is refused.")
    var disabled: String?

    @Option(
        name: .customLong("redirect-uri"),
        help: """
            Where browsers go back to, compared to the letter; https, http on this machine, or a scheme like \
            com.example.app:. A public client may use any port of 127.0.0.1 and [::1]. May be repeated.
            """)
    var redirectURI: [String] = []
    @Option(
        name: .customLong("post-logout-uri"), help: "Where browsers may go after a logout. May be repeated.")
    var postLogoutURI: [String] = []
    @Option(name: .customLong("backchannel-logout-uri"), help: "Where it is told of a logout.")
    var backchannelLogoutURI: String?
    @Option(
        help: """
            HOST of a website whose reverse proxy asks this server who may see it (docs/forward-auth.md). Its redirect \
            URI follows from that.
            """)
    var forwardAuth: String?
    @Option(help: "Origin of its pages that call from the browser. May be repeated.")
    var origin: [String] = []

    @Option(
        help: """
            authorization_code, refresh_token, urn:ietf:params:oauth:grant-type:device_code or \
            urn:ietf:params:oauth:grant-type:token-exchange. May be repeated. (default: authorization_code)
            """)
    var grant: [String] = []
    @Option(help: "Scope that it may ask for. May be repeated. (default: openid profile email)")
    var scope: [String] = []
    @Option(help: "What its access tokens are for. May be repeated.")
    var audience: [String] = []
    @Option(
        help: """
            Audience that it is itself: a service that asks whether tokens of other clients are valid. May be repeated.
            """)
    var resource: [String] = []
    @Option(help: "true: your own; users are not asked for their consent.")
    var firstParty: String?
    @Option(name: .customLong("require-pkce"), help: "true: refuse it without PKCE, as public clients always are.")
    var requirePKCE: String?
    @Option(help: "true: it gets refresh tokens without offline_access; with --first-party true.")
    var refreshWithoutOfflineAccess: String?

    @Option(help: "User id that may use it; without one, and without a group, all may. May be repeated.")
    var allowUser: [String] = []
    @Option(help: "Group whose members may use it, too (mpind user profile set --groups). May be repeated.")
    var allowGroup: [String] = []

    @Option(help: "What sub is: public, pairwise, or user-id as with MIRACL. (default: public)")
    var subject: String?
    @Option(help: "With pairwise: clients of one sector know a user by the same sub. (default: the host it is at)")
    var sector: String?
    @Option(help: "What amr says: factors, or token as with MIRACL. (default: factors)")
    var amr: String?
    @Option(name: .customLong("claims-in-id-token"), help: "true: name and mail are in the ID token, too.")
    var claimsInIDToken: String?
    @Option(help: "Life of an access token. (default: 900)")
    var accessTokenSeconds: String?
    @Option(name: .customLong("id-token-seconds"), help: "Life of an ID token. (default: 900)")
    var idTokenSeconds: String?
    @Option(help: "Life of a refresh token that is not used. (default: 2592000)")
    var refreshIdleSeconds: String?
    @Option(help: "Life of refresh tokens from the login on. (default: 15552000)")
    var refreshMaxSeconds: String?

    /// Returns the change that consists of all given options.
    func change() -> ClientChange {
        let single = [
            "name": name, "logo": logo, "auth-method": authMethod, "disabled": disabled,
            "backchannel-logout-uri": backchannelLogoutURI, "forward-auth": forwardAuth, "first-party": firstParty,
            "require-pkce": requirePKCE,
            "refresh-without-offline-access": refreshWithoutOfflineAccess, "subject": subject, "sector": sector,
            "amr": amr, "claims-in-id-token": claimsInIDToken, "access-token-seconds": accessTokenSeconds,
            "id-token-seconds": idTokenSeconds, "refresh-idle-seconds": refreshIdleSeconds,
            "refresh-max-seconds": refreshMaxSeconds,
        ]
        let lists = [
            "redirect-uri": redirectURI, "post-logout-uri": postLogoutURI, "origin": origin, "grant": grant,
            "scope": scope, "audience": audience, "resource": resource, "allow-user": allowUser,
            "allow-group": allowGroup,
        ]
        var change = ClientChange()
        for member in ClientMember.all {
            let texts = lists[member.name] ?? single[member.name].flatMap { $0 }.map { [$0] } ?? []
            if !texts.isEmpty { change.set(member, texts) }
        }
        return change
    }
}
