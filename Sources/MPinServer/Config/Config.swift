package import MPinSecrets
package import MPinService
package import MPinStore
package import MPinWire

/// Where a listener binds.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    package let host: String
    package let port: Int

    package init(host: String, port: Int) throws(StartError) {
        guard (1...65_535).contains(port) else { throw StartError("\(port): not a port number") }
        self.host = host
        self.port = port
    }

    /// Whether nobody but this machine reaches it.
    package var isLoopback: Bool { host == "localhost" || IPAddress(host)?.isLoopback ?? false }

    /// Whether it stands for all addresses of this machine.
    var isEverywhere: Bool { host == "0.0.0.0" || host == "::" }

    /// Reads `HOST:PORT`.
    package init(_ text: String) throws(StartError) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]) else {
            throw StartError("\(text): expected HOST:PORT")
        }
        let host = text[..<colon].trimmingPrefix("[")
        try self.init(host: String(host.last == "]" ? host.dropLast() : host), port: port)
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// The base URL of the listener, without a slash at its end.
    package var url: String { "http://\(self)" }
}

/// A D-TA: the keeper of one master secret share (wire section 9).
package struct TrustAuthorityConfig: Sendable {
    /// For the log, such as "dta1".
    package var name: String
    package var listen: ListenAddress
    /// The sealed master shares: ``StoreURL``.
    package var database: String
    /// Seals the master shares.
    package var seal: Seal
    /// Shared with the RPS and nobody else, the other D-TA included; 32 bytes.
    package var requestKey: SecretBytes
    /// Origins of browser pages that may call this D-TA; `*` stands for all.
    package var allowOrigin: [String] = []
    /// Not nil: requests of an old RPS, signed with these, are taken, too.
    package var legacy: LegacyCredentials?
    package var limits = Limits()
    package var clock: Clock = Moment.now

    package init(
        name: String, listen: ListenAddress, database: String, seal: Seal, requestKey: SecretBytes
    ) {
        self.name = name
        self.listen = listen
        self.database = database
        self.seal = seal
        self.requestKey = requestKey
    }
}

/// How the RPS reaches a D-TA.
package struct TrustAuthorityLink: Sendable {
    /// For logs and errors, such as "D-TA 1".
    package var name: String
    /// Which share of each master secret it keeps, from 1 on.
    package var index: Int
    /// Base URL for the RPS, without a slash at its end.
    package var url: String
    /// Base URL for clients, or a path where they reach it through this server; nil: clients do not ask it.
    package var publicURL: String?
    /// The ``TrustAuthorityConfig/requestKey`` of that D-TA.
    package var requestKey: SecretBytes

    package init(name: String, index: Int, url: String, publicURL: String? = nil, requestKey: SecretBytes) {
        self.name = name
        self.index = index
        self.url = url
        self.publicURL = publicURL
        self.requestKey = requestKey
    }

    /// Where the RPS asks as clients do. A path is that of ``AuthorityGate``, which asks as the RPS does.
    var clientURL: String? { publicURL.map { $0.hasPrefix("/") ? url : $0 } }
}

/// The RPS: registration and authentication (wire sections 6 and 7).
package struct RelyingPartyServiceConfig: Sendable {
    /// Where clients come.
    package var listen: ListenAddress
    /// Where the RPA comes.
    package var privateListen: ListenAddress
    /// Registrations and identities: ``StoreURL``.
    package var database: String
    /// Challenges, one-time tokens and waiting browsers: ``StoreURL``.
    package var shortLived = "memory:"
    /// What wakes the browsers that wait for a phone: ``StoreURL``.
    package var signals = "memory:"
    /// What stands before each of the two stores: tests count and repeat there.
    package var layer: @Sendable (any Store) -> any Store = { $0 }
    /// Makes the activation keys; 32 bytes.
    package var activationKey: SecretBytes
    /// The D-TAs in the order of their indices. The RPS asks the first for shares of clients, and they ask the others.
    package var authorities: [TrustAuthorityLink]
    /// Not nil: all D-TAs are old ones, and requests to them are signed with these.
    package var legacy: LegacyCredentials?
    /// Whole URL of the RPA's /mpinVerify.
    package var verifyURL: String
    /// Shared with the RPA: it signs the bearer token of each direction. Nil: an old RPA, or one without a key, on this
    /// machine; an old one knows one URL, so the private listener has the public paths, too.
    package var rpaKey: SecretBytes?
    /// Whether the private listener demands the RPA's bearer token.
    package var privateNeedsToken = false
    /// What clients are told as `authenticateURL`.
    package var authenticateURL = "/mpinAuthenticate"
    /// Path prefix of the public endpoints, without slashes.
    package var prefix = "rps"
    /// When wrong PINs block an identity, and for how long.
    package var attempts = AttemptPolicy()
    /// Wrong PINs in a row that block an identity.
    package var maxAttempts: Int {
        get { attempts.maxAttempts }
        set { attempts.maxAttempts = newValue }
    }
    /// Whether logins need a time permit of the day.
    package var usePermits = true
    /// Origins of browser pages that may call the RPS; `*` stands for all. Pages of the RPS's own origin always may.
    package var allowOrigin: [String] = []
    /// What the URLs in the client settings start with, without a slash at its end; empty: clients put the base URL that
    /// they know before them. QR codes start with it too.
    package var baseURL = ""
    /// Whole URL of the RPA's /mpinPermitUser, asked before each time permit; nil: it is not asked.
    package var permitURL: String?
    /// Whether D-TA 2's permit shares are kept and handed out as the permit storage did.
    package var storePermits = false
    /// Headers of a client's register request that the RPA gets too; `*` stands for all.
    package var forwardUserHeaders: [String] = []
    /// Whether logins ask for one-time digits; then there are no access numbers in the client settings.
    package var requestOTP = false
    /// Whether access numbers have a seventh digit that finds a mistyped one.
    package var accessNumberUseCheckSum = true
    /// Whether a phone waits until the RPA has said what it made of the login, not only until it has asked about it.
    package var waitForLoginResult = false
    /// Where phones log out unless the RPA says so itself: a path at the RPA.
    package var logoutURL = ""
    /// Whether clients are told of QR codes.
    package var mobileUseNative = false
    /// What phones get from /mobileConfig: a JSON list; nil: nothing.
    package var mobileConfig: JSONValue?
    /// What phones get from /service; nil: nothing.
    package var mobileService: ServiceResponse?
    /// Programs that may ask /service, and their oldest versions; none: all may.
    package var serviceClients: [ProductVersion] = []
    /// Whether a wrong PIN is told how many tries are left.
    package var tellAttemptsLeft = false
    /// Shown by a phone that has read a QR code.
    package var serviceName = ""
    package var serviceIconURL = ""
    /// Hints for clients, not used here.
    package var setDeviceName = false
    package var useNFC = false
    package var limits = Limits()
    package var audit = Audit.off
    package var clock: Clock = Moment.now

    package init(
        listen: ListenAddress, privateListen: ListenAddress, database: String, activationKey: SecretBytes,
        authorities: [TrustAuthorityLink], verifyURL: String, rpaKey: SecretBytes?
    ) {
        self.listen = listen
        self.privateListen = privateListen
        self.database = database
        self.activationKey = activationKey
        self.authorities = authorities
        self.verifyURL = verifyURL
        self.rpaKey = rpaKey
    }
}

extension RelyingPartyServiceConfig {
    /// What of it is not about a wire.
    var rules: ServiceRules {
        var rules = ServiceRules()
        rules.attempts = attempts
        rules.usesPermits = usePermits
        rules.keepsPermits = storePermits
        rules.checksNumbers = accessNumberUseCheckSum
        rules.waitsForResult = waitForLoginResult
        rules.limits = limits.service
        rules.clock = clock
        return rules
    }
}

/// How the RPA delivers activation links.
package enum MailDelivery: Sendable, Equatable {
    /// One file a mail into this folder.
    case folder(String)
    /// `smtp://host:25` or `smtps://host:465`, the sender's address, and who hands the mail in, where that matters.
    case smtp(url: String, from: String, user: String? = nil, password: String? = nil)
    /// No mail: every identity is confirmed at once. For tests only.
    case forceActivate
}

/// The RPA: mails activation links and asks the RPS for verdicts (wire section 8).
package struct RelyingPartyApplicationConfig: Sendable {
    package var listen: ListenAddress
    /// Where the RPS comes with /mpinVerify.
    package var privateListen: ListenAddress
    /// Base URL that links in mails start with; never taken from a request.
    package var publicURL: String
    /// Base URL of the RPS's private listener.
    package var rpsPrivateURL: String
    /// Base URL of its public one, where requests below the prefix are passed on to; nil: they do not come here.
    package var rpsURL: String?
    /// Signs activation links; 32 bytes.
    package var linkKey: SecretBytes
    /// Shared with the RPS; 32 bytes: it signs the bearer token of each direction. Nil: an old RPS, or one without a key,
    /// on this machine; it has one listener for its public and its private paths.
    package var rpsKey: SecretBytes?
    package var delivery: MailDelivery
    /// Said to who registers, where nobody has said how mails leave; nil: nothing.
    package var mailNotice: String?
    /// Origins of other sites' pages that may call the RPA; `*` stands for all.
    package var allowOrigin: [String] = []
    /// Path prefix of the RPS's public endpoints on this site, without slashes.
    package var prefix = "rps"
    /// Whether the RPS waits for what the RPA makes of each login (its `waitForLoginResult`).
    package var reportLoginResult = false
    /// File with users who may not log in any more: a user id or an M-Pin ID in hex on each line; read for each permit
    /// and login.
    package var revokedUsersFile: String?
    /// Sessions of the website, and when a mail may be sent again: ``StoreURL``.
    package var shortLived = "memory:"
    /// How the website looks.
    package var brand = Brand()
    /// Of the mails, and of the pages where a visitor asks for no language that there is.
    package var language = Language.english
    package var mail = MailTemplates()
    package var limits = Limits()
    package var audit = Audit.off
    package var clock: Clock = Moment.now

    package init(
        listen: ListenAddress, privateListen: ListenAddress, publicURL: String, rpsPrivateURL: String,
        linkKey: SecretBytes, rpsKey: SecretBytes?, delivery: MailDelivery
    ) {
        self.listen = listen
        self.privateListen = privateListen
        self.publicURL = publicURL
        self.rpsPrivateURL = rpsPrivateURL
        self.linkKey = linkKey
        self.rpsKey = rpsKey
        self.delivery = delivery
    }
}
