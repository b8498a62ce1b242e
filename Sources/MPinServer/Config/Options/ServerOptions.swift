import MPinStore

/// The table of all options of the server.
package enum ServerOptions {
    static let listenForm = OptionKind.form("HOST:PORT", "HOST:PORT") { (try? ListenAddress($0)) != nil }
    private static let port = 1...65_535

    // Options of every part.
    package static let config = ServerOption<String?>.text(
        "config", .text("FILE"), "YAML file with options, one `name: value` a line.")
    package static let logLevel = ServerOption<String>.text(
        "log-level", "info", .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
        "The least that is logged.")
    package static let adminListen = ServerOption<String?>.text(
        "admin-listen", listenForm,
        "Loopback address for /health/live, /health/ready, /metrics and the admin API. (default: none)")
    static let healthListen = ServerOption<String?>.text(
        "health-listen", listenForm,
        "Address for /health/live and /health/ready alone, which proxies on other machines may ask. (default: none)")
    static let tlsCert = ServerOption<String?>.text(
        "tls-cert", .text("FILE"), "Certificate chain (PEM); read again on SIGHUP.")
    static let tlsKey = ServerOption<String?>.text("tls-key", .text("FILE"), "Private key of the certificate (PEM).")
    static let behindProxy = ServerOption<Bool>.flag("behind-proxy", "TLS ends at a proxy in front of this server.")
    static let trustedProxy = ServerOption<[String]>.list(
        "trusted-proxy", "ADDRESS[/BITS]",
        "Proxy whose X-Forwarded-For, X-Forwarded-Proto and X-Request-Id count. (default: with --behind-proxy loopback)"
    )
    static let allowOrigin = ServerOption<[String]>.list(
        "allow-origin", "ORIGIN",
        "Origin of other sites' pages that may call this server; * stands for all. (default: none)")
    static let rateLimits = ServerOption<String>.text(
        "rate-limits", "on", .choice(["on", "off"]), "Whether callers are limited at all.")

    static let connections = ServerOption<Int>.integer(
        "connections", Limits().connections, 1...1_000_000,
        "Open connections of one listener: for a further one the longest idle one is closed. At most three quarters may be of login pages that wait."
    )
    static let connectionsPerAddress = ServerOption<Int>.integer(
        "connections-per-address", Limits().connectionsPerAddress, 1...1_000_000,
        "Of these, the most of one address that is no trusted proxy: three for each person who logs in.")
    static let connectionsPerNetwork = ServerOption<Int>.integer(
        "connections-per-network", Limits().connectionsPerNetwork, 1...1_000_000,
        "And of one network: /24, and /48 of IPv6.")
    static let memoryBudget = ServerOption<Int>.integer(
        "memory-budget", Limits().memoryBudget >> 20, 1...1_048_576,
        "Megabytes, for each kind, of what strangers have begun: login pages, codes, registrations. More get 503; what has begun goes on."
    )
    static let memoryPerAddress = ServerOption<Int>.integer(
        "memory-per-address", Limits().memoryPerAddress >> 10, 1...1_048_576,
        "Kilobytes of these, all kinds together, of one address: 3 for each open login page. More get 429.")
    static let memoryPerNetwork = ServerOption<Int>.integer(
        "memory-per-network", Limits().memoryPerNetwork >> 10, 1...1_048_576,
        "The same for one network: /24, and /48 of IPv6.")
    static let requestsInFlight = ServerOption<Int>.integer(
        "requests-in-flight", Limits().requestsInFlight, 1...100_000,
        "Requests of one listener that are worked on at the same time; more get 503. Half are for logins under way.")
    static let bodyBytes = ServerOption<Int>.integer(
        "body-bytes", Limits().bodyBytes, 1024...16_777_216, "Largest request body.")
    static let headerBytes = ServerOption<Int>.integer(
        "header-bytes", Limits().headerBytes, 1024...1_048_576, "Largest header of a request.")
    static let headerSeconds = ServerOption<Int>.integer(
        "header-seconds", Limits().headerSeconds, 1...3600, "Time for the header of a request.")
    static let readSeconds = ServerOption<Int>.integer(
        "read-seconds", Limits().readSeconds, 1...3600, "Time for a whole request.")
    static let idleSeconds = ServerOption<Int>.integer(
        "idle-seconds", Limits().idleSeconds, 1...86_400, "Time that a connection may wait for its next request.")
    static let drainSeconds = ServerOption<Int>.integer(
        "drain-seconds", Limits().drainSeconds, 1...3600, "Time that running requests get to end after SIGTERM.")

    static let edge: [OptionRow] =
        [config.row, logLevel.row, adminListen.row, healthListen.row, tlsCert.row, tlsKey.row, behindProxy.row]
        + [trustedProxy.row, allowOrigin.row, rateLimits.row, counters.row] + rates.map(\.row)
        + [
            connections.row, connectionsPerAddress.row, connectionsPerNetwork.row, memoryBudget.row,
            memoryPerAddress.row,
            memoryPerNetwork.row, requestsInFlight.row, bodyBytes.row, headerBytes.row,
            headerSeconds.row, readSeconds.row, idleSeconds.row, drainSeconds.row,
        ]

    /// One option for each limit of ``RateLimits``.
    static let rates: [ServerOption<String>] = rateTable.map { name, path, help in
        .text(
            "rate-" + name, RateLimits.standard[keyPath: path]?.description ?? "off",
            .form("REQUESTS/SECONDS", "REQUESTS/SECONDS or off") { $0 == "off" || RateLimit($0) != nil }, help)
    }

    static var rateTable: [(String, WritableKeyPath<RateLimits, RateLimit?>, String)] {
        [
            ("register-address", \.registerAddress, "Registrations and activations of one address."),
            ("register-identity", \.registerIdentity, "Registrations of one user id."),
            ("login-address", \.loginAddress, "Login steps of one address."),
            ("login-identity", \.loginIdentity, "Login steps of one identity."),
            ("access-address", \.accessAddress, "Access numbers, QR codes and reports on them of one address."),
            ("poll-address", \.pollAddress, "Polls of login pages of one address."),
            ("authority-address", \.authorityAddress, "Requests with a wrong signature of one address to a D-TA."),
            ("authority-identity", \.authorityIdentity, "Requests to a D-TA for one identity."),
            (
                "token-address", \.tokenAddress,
                "Requests for tokens with a wrong code, token or secret, of one address."
            ),
            ("token-client", \.tokenClient, "Requests for tokens with a wrong code, token or secret, of one client."),
            ("admin-address", \.adminAddress, "Requests to the admin API without a valid token, of one address."),
            ("device-address", \.deviceAddress, "Codes of devices that are typed at one address."),
            ("other-address", \.otherAddress, "All other requests of one address: pages, scripts, unknown paths."),
            ("push-user", \.pushUser, "Pushes to one user."),
        ]
    }

    // Options for all parts in one process.
    package static let isAllInOne = ServerOption<Bool>.flag(
        "all-in-one", "Run both D-TAs, the RPS and the RPA in this process.")
    package static let stateDir = ServerOption<String?>.text(
        "state-dir", .text("FOLDER"), "Folder for keys and databases; created where it does not exist.")
    static let host = ServerOption<String>.text(
        "host", "127.0.0.1", .text("HOST"),
        "Address to listen on; another than a loopback address needs TLS or a proxy.")
    static let publicPort = ServerOption<Int>.integer("port", 8005, port, "Public port: RPS under /rps/, and the RPA.")
    static let privatePort = ServerOption<Int>.integer(
        "private-port", 8011, port, "Private port: RPS and RPA for each other.")
    static let dta1Port = ServerOption<Int>.integer("dta1-port", 8001, port, "Port of D-TA 1.")
    static let dta2Port = ServerOption<Int>.integer(
        "dta2-port", 8002, port, "Port of D-TA 2, where clients go for their second shares.")
    static let publicURL = ServerOption<String?>.text(
        "public-url", .baseURL,
        "Base URL of links in mails and QR codes; needed behind a proxy and on all addresses. (default: the public listener's; for an RPS --issuer)"
    )

    static let issuer = ServerOption<String?>.text(
        "issuer", .baseURL,
        "Issuer of the OpenID provider, as its clients know it: https, or http on this machine. Its address must lead to the RPS; an RPA only links to its account page. (default: none; with --all-in-one --public-url)"
    )
    package static let clients = ServerOption<String?>.text(
        "clients", .text("FILE"),
        "Clients of the OpenID provider (YAML), read at the start, beside those of `mpind client`.")

    static let trust = ServerOption<Bool?>.flag(
        "trust",
        "Serve clients of MIRACL Trust, too, whose projects are those of `mpind project`; --trust=false: do not. (default: if there are an OpenID provider and mails)"
    )

    static let internalTarget = ServerOption<[String]>.list(
        "internal-target", "ADDRESS[/BITS]",
        "Address outside the public Internet where clients may be told of logouts, and back ends of projects of new users. (default: none)"
    )

    static let pushURL = ServerOption<String?>.text(
        "push-url", .webhook,
        "Where pushes to phones are posted: https, or http on this machine. It needs --push-key-file. (default: none)")
    static let pushKeyFile = ServerOption<String?>.text(
        "push-key-file", .text("FILE"), "Key file shared with the receiver of pushes, which signs them.")

    static let acceptOlderDatabase = ServerOption<Bool>.flag(
        "accept-older-database",
        "Start although the SQLite file lacks wrong PINs, blocks or revocations that the audit log has. For one start: somebody may have put an older file back."
    )

    static let allInOne = [
        isAllInOne.row, stateDir.row, database.row, acceptOlderDatabase.row, host.row, publicPort.row, privatePort.row,
        dta1Port.row,
        dta2Port.row,
        publicURL.row, revokedUsers.row, shortLivedStore.row, signals.row, issuer.row, clients.row, trust.row,
        internalTarget.row, pushURL.row, pushKeyFile.row, browserClient.row, clientOrigin.row,
    ]

    // Options of a D-TA.
    static let listen = ServerOption<String?>.text(
        "listen", listenForm,
        "Where clients come. (default: 127.0.0.1 and port 8001 for a D-TA, 8010 for the RPS, 8005 for the RPA)")
    package static let database = ServerOption<String?>.text(
        "database", .text("FILE"),
        "SQLite file, or sqlite:FILE; created where it does not exist. For an RPS also memory:, which is gone when it ends, or postgres://HOST/DATABASE. (default with --all-in-one: rps.sqlite in the state folder)"
    )
    package static let keyFile = ServerOption<String?>.text(
        "key-file", .text("FILE"), "Key file of this part alone: seals, activates or signs links.")
    static let rpsKeyFile = ServerOption<String?>.text(
        "rps-key-file", .text("FILE"),
        "Key file shared with the RPS and nobody else. An RPA needs none where the RPS has none: an old one.")
    static let name = ServerOption<String>.text("name", "dta", .text("NAME"), "Name in the log.")

    package static let passphraseFile = ServerOption<String?>.text(
        "passphrase-file", .text("FILE"),
        "File with the passphrase that seals the master shares, in the place of a key file."
    )
    static let legacySignatures = ServerOption<String?>.text(
        "legacy-signatures", .text("FILE"),
        "Old credentials file (app_id, app_key). The signatures of old D-TAs and RPSs, which neither name a key nor end, are then used (by an RPS) or also taken (by a D-TA)."
    )

    static let authority = [
        listen.row, database.row, keyFile.row, passphraseFile.row, rpsKeyFile.row, legacySignatures.row, name.row,
    ]

    // Options of the RPS.
    static let privateListen = ServerOption<String?>.text(
        "private-listen", listenForm,
        "Where the other parts come; another than a loopback address needs a token. (default: 127.0.0.1 and port 8011 for the RPS, 8012 for the RPA)"
    )
    static let dta1URL = ServerOption<String>.text(
        "dta1-url", "http://127.0.0.1:8001", .baseURL, "Base URL of D-TA 1.")
    static let dta1KeyFile = ServerOption<String?>.text("dta1-key-file", .text("FILE"), "Key file shared with D-TA 1.")
    static let dta2URL = ServerOption<String>.text(
        "dta2-url", "http://127.0.0.1:8002", .baseURL, "Base URL of D-TA 2.")
    static let dta2KeyFile = ServerOption<String?>.text("dta2-key-file", .text("FILE"), "Key file shared with D-TA 2.")
    static let dta2PublicURL = ServerOption<String?>.text(
        "dta2-public-url", .baseURL,
        "Base URL of D-TA 2 for clients; needed with TLS or a proxy where --dta2-url is of this machine. (default: --dta2-url)"
    )
    static let verifyURL = ServerOption<String>.text(
        "verify-url", "http://127.0.0.1:8012/mpinVerify", .endpoint,
        "URL of the RPA's /mpinVerify; empty: nobody can register.")
    static let rpaKeyFile = ServerOption<String?>.text(
        "rpa-key-file", .text("FILE"),
        "Key file shared with the RPA; both directions then carry a token. Without it none is sent or asked for, and the private listener also has the public paths, for an old RPA."
    )
    static let authenticateURL = ServerOption<String>.text(
        "authenticate-url", "/mpinAuthenticate", .pathOrURL("URL"),
        "authenticateURL for clients, as path behind their base URL or as whole URL.")

    static let service = [
        listen.row, privateListen.row, database.row, acceptOlderDatabase.row, shortLivedStore.row, signals.row,
        keyFile.row, authorities.row,
        dta1URL.row,
        dta1KeyFile.row, dta2URL.row, dta2KeyFile.row, dta2PublicURL.row, verifyURL.row, rpaKeyFile.row,
        authenticateURL.row, legacySignatures.row,
    ]

    // Options of the RPA.
    static let rpsPrivateURL = ServerOption<String>.text(
        "rps-private-url", "http://127.0.0.1:8011", .baseURL, "Base URL of the RPS's private listener.")

    static let rpsURL = ServerOption<String>.text(
        "rps-url", "http://127.0.0.1:8010", .baseURL,
        "Base URL of the RPS's public listener, where what comes below the prefix is passed on to; it needs --behind-proxy or --trusted-proxy to count callers."
    )

    static let revokedUsers = ServerOption<String?>.text(
        "revoked-users", .text("FILE"),
        "User ids and M-Pin IDs, one a line, that get no time permit and no login; read anew each time.")

    static let application = [
        listen.row, privateListen.row, publicURL.row, rpsPrivateURL.row, rpsURL.row, keyFile.row, rpsKeyFile.row,
        prefix.row, revokedUsers.row, waitForLoginResult.row, serviceName.row, shortLivedStore.row, issuer.row,
    ]

    // Options for the confirmation of identities.
    static let mailDir = ServerOption<String?>.text(
        "mail-dir", .text("FOLDER"), "Write mails as files into this folder instead of sending them.")
    static let smtpURL = ServerOption<String?>.text(
        "smtp-url", .mailServer,
        "Mail server: smtp://host:25 or smtps://host:465. TLS is a must, by STARTTLS with smtp, except on this machine."
    )
    static let smtpUser = ServerOption<String?>.text("smtp-user", .text("NAME"), "User name at the mail server.")
    static let smtpPassword = ServerOption<String?>.text(
        "smtp-password", .text("PASSWORD"),
        "And its password: the one line of this file, or of the systemd credential smtp-password.", isSecret: true)
    static let mailFrom = ServerOption<String?>.text("mail-from", .text("ADDRESS"), "Sender's address of mails.")
    package static let forceActivate = ServerOption<Bool>.flag(
        "force-activate", "Confirm every identity without a mail. FOR TESTS ONLY.")

    static let sending = [mailDir.row, smtpURL.row, smtpUser.row, smtpPassword.row, mailFrom.row]
    static let mail = sending + [forceActivate.row]

    // Options of the OpenID provider in an RPS of its own.
    static let provider =
        [issuer.row, publicURL.row, clients.row, trust.row, internalTarget.row, pushURL.row, pushKeyFile.row]
        + [revokedUsers.row] + sending + website
}
