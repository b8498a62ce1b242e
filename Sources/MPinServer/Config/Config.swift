package import MPinSecrets
package import MPinService
package import MPinStore
package import MPinWire

/// The host and port of a listener.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    package let host: String
    package let port: Int

    package init(host: String, port: Int) throws(StartError) {
        guard (1...65_535).contains(port) else { throw StartError("\(port): not a port number") }
        self.host = host
        self.port = port
    }

    /// Whether only this machine can reach a listener at this address.
    package var isLoopback: Bool { host == "localhost" || IPAddress(host)?.isLoopback ?? false }

    /// Whether the host stands for all addresses of this machine.
    var isEverywhere: Bool { host == "0.0.0.0" || host == "::" }

    /// Reads a text of the form `HOST:PORT`.
    package init(_ text: String) throws(StartError) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]) else {
            throw StartError("\(text): expected HOST:PORT")
        }
        let host = text[..<colon].trimmingPrefix("[")
        try self.init(host: String(host.last == "]" ? host.dropLast() : host), port: port)
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// The base URL of the listener, without a slash at the end.
    package var url: String { "http://\(self)" }
}

/// The settings of a D-TA, which keeps one share of each master secret (wire section 9).
package struct TrustAuthorityConfig: Sendable {
    /// The name in the log, such as "dta1".
    package var name: String
    package var listen: ListenAddress
    /// The ``StoreURL`` of the sealed master shares.
    package var database: String
    /// The key or passphrase that seals the master shares.
    package var seal: Seal
    /// The key of 32 bytes with which the RPS signs its requests to this D-TA. Only these two know it; the other D-TA
    /// has another key.
    package var requestKey: SecretBytes
    /// Origins of browser pages that may call this D-TA; `*` stands for all.
    package var allowOrigin: [String] = []
    /// The credentials of a Milagro RPS. If set, its requests, which are signed with them, are accepted, too.
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

/// How the RPS and its clients reach a D-TA.
package struct TrustAuthorityLink: Sendable {
    /// The name in logs and errors, such as "D-TA 1".
    package var name: String
    /// The index, from 1 on, of the share of each master secret that the D-TA keeps.
    package var index: Int
    /// Base URL for the RPS, without a slash at the end.
    package var url: String
    /// Base URL for clients, or a path if they reach the D-TA through this server; nil if clients do not use this D-TA.
    package var publicURL: String?
    /// The key with which the RPS signs its requests to the D-TA (``TrustAuthorityConfig/requestKey``).
    package var requestKey: SecretBytes

    package init(name: String, index: Int, url: String, publicURL: String? = nil, requestKey: SecretBytes) {
        self.name = name
        self.index = index
        self.url = url
        self.publicURL = publicURL
        self.requestKey = requestKey
    }

    /// The URL at which the RPS, to check the permit shares that clients get, asks for them like a client. It is
    /// ``url`` if clients reach the D-TA through the ``AuthorityGate``. Nil if clients do not use this D-TA.
    var clientURL: String? { publicURL.map { $0.hasPrefix("/") ? url : $0 } }
}

/// The settings of the RPS: registration and authentication (wire sections 6 and 7).
package struct RelyingPartyServiceConfig: Sendable {
    /// The public listener, for clients.
    package var listen: ListenAddress
    /// The private listener, for the RPA.
    package var privateListen: ListenAddress
    /// The ``StoreURL`` of registrations and identities.
    package var database: String
    /// The ``StoreURL`` of challenges, one-time tokens and waiting browsers.
    package var shortLived = "memory:"
    /// The ``StoreURL`` of the signals that wake browsers which wait for a phone.
    package var signals = "memory:"
    /// Wraps the durable store and the short-lived store. Tests use it to count the calls of a store and to repeat
    /// them.
    package var layer: @Sendable (any Store) -> any Store = { $0 }
    /// Keeps beside the server's own key that the records of the database have MACs. Nil if the key is in no file.
    package var sealedMark: SealedMark?
    /// Whether a database may be used that is older than the audit log.
    package var acceptsOlderDatabase = false
    /// Signs the activation keys; 32 bytes. The keys of the records' MACs and of the signing keys are derived from it.
    package var activationKey: SecretBytes
    /// The D-TAs in the order of their indices. The RPS asks the first for shares, and clients ask the others.
    package var authorities: [TrustAuthorityLink]
    /// The credentials for Milagro's D-TAs. If set, all D-TAs are Milagro's, and requests to them are signed with these
    /// credentials.
    package var legacy: LegacyCredentials?
    /// The complete URL of the RPA's /mpinVerify.
    package var verifyURL: String
    /// A key that is shared with the RPA and signs the bearer tokens of both directions. Nil if the RPA has no key,
    /// because it is Milagro's or runs on this machine. Milagro's RPA knows only one URL, so without a key the private
    /// listener also serves the public paths.
    package var rpaKey: SecretBytes?
    /// Whether the private listener requires the RPA's bearer token.
    package var privateNeedsToken = false
    /// The URL at which clients give the token of a login to the RPA, as it stands in the client settings
    /// (`authenticateURL`).
    package var authenticateURL = "/mpinAuthenticate"
    /// Path prefix of the public endpoints, without slashes.
    package var prefix = "rps"
    /// When wrong PINs block an identity, and for how long.
    package var attempts = AttemptPolicy()
    /// The number of wrong PINs in a row that blocks an identity.
    package var maxAttempts: Int {
        get { attempts.maxAttempts }
        set { attempts.maxAttempts = newValue }
    }
    /// Where the server sends requests to at URLs that others than the operator can set.
    package var outboundTargets = OutboundTargets()
    /// Whether logins need a time permit of the day.
    package var usePermits = true
    /// Origins of browser pages that may call the RPS; `*` stands for all. Pages of the RPS's own origin always may.
    package var allowOrigin: [String] = []
    /// The beginning of the URLs in the client settings and in QR codes, without a slash at the end. If it is empty,
    /// clients add the base URL that they know.
    package var baseURL = ""
    /// The complete URL of the RPA's /mpinPermitUser, which is asked before each time permit; nil: it is not asked.
    package var permitURL: String?
    /// Whether the RPS stores D-TA 2's permit shares and hands them out itself, as Milagro's permit storage did.
    package var storePermits = false
    /// Headers of a client's register request that are passed on to the RPA; `*` stands for all.
    package var forwardUserHeaders: [String] = []
    /// Whether the client settings make clients ask for one-time digits at a login. They then contain no access
    /// numbers.
    package var requestOTP = false
    /// Whether access numbers have a seventh digit, which reveals most typing mistakes.
    package var accessNumberUseCheckSum = true
    /// Whether a phone waits until the RPA has confirmed or refused the login. Otherwise it waits only until the RPA
    /// has redeemed the token.
    package var waitForLoginResult = false
    /// The path at the RPA by which a phone logs the browser out, unless the RPA names another one for the login.
    package var logoutURL = ""
    /// Whether the client settings offer QR codes.
    package var mobileUseNative = false
    /// The answer of /mobileConfig, a JSON list; nil: none.
    package var mobileConfig: JSONValue?
    /// The answer of /service; nil: none.
    package var mobileService: ServiceResponse?
    /// The programs that may ask /service, each with its oldest version that may. If the list is empty, all programs
    /// may.
    package var serviceClients: [ProductVersion] = []
    /// Whether the answer to a wrong PIN contains the number of attempts left.
    package var tellAttemptsLeft = false
    /// The name that a phone shows after it has read a QR code.
    package var serviceName = ""
    package var serviceIconURL = ""
    /// `setDeviceName` and `useNFC` are hints in the client settings. Only clients use them.
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
    /// The rules of registrations and logins, which are the same for all wire protocols.
    var rules: ServiceRules {
        var rules = ServiceRules()
        rules.pause = EventLoopExecutor.pause
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
    /// Writes each mail as a file into this folder.
    case folder(String)
    /// Sends mails through `smtp://host:25` or `smtps://host:465`, with the sender's address and, if the mail server
    /// needs them, a user name and password.
    case smtp(url: String, from: String, user: String? = nil, password: String? = nil)
    /// Sends no mail and confirms every identity at once. For tests only.
    case forceActivate

    var isFolder: Bool {
        if case .folder = self { true } else { false }
    }
}

/// The settings of the RPA, which mails activation links and asks the RPS for verdicts (wire section 8).
package struct RelyingPartyApplicationConfig: Sendable {
    package var listen: ListenAddress
    /// The private listener, for the RPS's /mpinVerify.
    package var privateListen: ListenAddress
    package var site: SiteConfig
    /// Where users find the account page of the OpenID provider; nil if there is no provider.
    package var settingsURL: String?
    /// Base URL of the RPS's private listener.
    package var rpsPrivateURL: String
    /// Base URL of the RPS's public listener, to which requests below the prefix are forwarded. Nil if such requests do
    /// not come to the RPA.
    package var rpsURL: String?
    /// Signs activation links; 32 bytes.
    package var linkKey: SecretBytes
    /// A key of 32 bytes that is shared with the RPS and signs the bearer tokens of both directions. Nil if the RPS has
    /// no key, because it is Milagro's or runs on this machine. Without a key, the RPA sends its requests about waiting
    /// browsers to the RPS's public paths, because Milagro's RPS has no private paths for them.
    package var rpsKey: SecretBytes?
    /// A text for users who register while no way to send mails is configured; nil: none.
    package var mailNotice: String?
    /// Origins of other sites' pages that may call the RPA; `*` stands for all.
    package var allowOrigin: [String] = []
    /// Path prefix of the RPS's public endpoints on this site, without slashes.
    package var prefix = "rps"
    /// Whether the RPS waits until the RPA has confirmed or refused each login (its `waitForLoginResult`).
    package var reportLoginResult = false
    /// The ``StoreURL`` of the website's sessions, and of the times from which a further mail may be sent.
    package var shortLived = "memory:"
    package var limits = Limits()
    package var audit = Audit.off
    package var clock: Clock = Moment.now

    package init(
        listen: ListenAddress, privateListen: ListenAddress, site: SiteConfig, rpsPrivateURL: String,
        linkKey: SecretBytes, rpsKey: SecretBytes?
    ) {
        self.listen = listen
        self.privateListen = privateListen
        self.site = site
        self.rpsPrivateURL = rpsPrivateURL
        self.linkKey = linkKey
        self.rpsKey = rpsKey
    }
}
