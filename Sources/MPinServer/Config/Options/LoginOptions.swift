import Foundation
import MPinSecrets
import MPinService
import MPinWire

/// The options for registration and login, for the RPS alone and for all parts in one process.
extension ServerOptions {
    static let prefix = ServerOption<String>.text(
        "prefix", "rps", .form("NAME", "letters, digits, - and _") { $0.wholeMatch(of: /[A-Za-z0-9_-]+/) != nil },
        "Path prefix of the public endpoints.")
    static let maxAttempts = ServerOption<Int>.integer(
        "max-attempts", AttemptPolicy().maxAttempts, 1...1000, "Wrong PINs in a row that block an identity.")
    static let block = ServerOption<String>.text(
        "block", "permanent", .choice(["permanent", "temporary"]),
        """
        Whether a block lasts until the operator ends it, or for --block-seconds. Time alone forgets no wrong PIN: a \
        right one does, the operator, and the end of a temporary block.
        """)
    static let blockSeconds = ServerOption<Int>.integer(
        "block-seconds", 300, 1...86_400, "Length of a temporary block.")
    static let maxFailures = ServerOption<Int>.integer(
        "max-failures", AttemptPolicy().maxFailures, 1...10_000,
        "Wrong PINs without a right one that block for good, however many temporary blocks lie between them.")
    static let maxWrongCodes = ServerOption<Int>.integer(
        "max-wrong-codes", ServiceLimits().wrongCodesPerDay, 1...1000,
        "Wrong codes of six digits for one mailbox in a day, after which only the links of mails register devices.")
    static let noTimePermits = ServerOption<Bool>.flag("no-time-permits", "Log in without time permits.")
    static let permitCheckSeconds = ServerOption<Int>.integer(
        "permit-check-seconds", ServiceLimits().permitCheckSeconds, 1...3600,
        "Time between two looks at the D-TAs' time permits; while one gives wrong ones, logins get 503 and count nothing."
    )
    static let registrationSeconds = ServerOption<Int>.integer(
        "registration-seconds", ServiceLimits().registrationSeconds, 1...604_800,
        "How long a registration waits for its confirmation.")

    static let baseURL = ServerOption<String?>.text(
        "base-url", .baseURL,
        "What the URLs in the client settings start with. (default: none; clients put the base URL that they know)")
    static let permitURL = ServerOption<String?>.text(
        "permit-url", .endpoint, "URL of the RPA's /mpinPermitUser, asked before each time permit. (default: none)")
    static let permits = ServerOption<Bool>.flag("store-permits", "Keep D-TA 2's permit shares and hand them out.")
    static let forwardUserHeaders = ServerOption<[String]>.list(
        "forward-user-header", "NAME", "Header of a client's register request that the RPA gets too; * stands for all.")
    static let logoutURL = ServerOption<String?>.text(
        "logout-url", .pathOrURL("PATH"), "Where phones log out unless the RPA says so itself: a path at the RPA.")
    static let requestOTP = ServerOption<Bool>.flag("request-otp", "Logins ask for one-time digits.")
    static let accessNumberSeconds = ServerOption<Int>.integer(
        "access-number-seconds", ServiceLimits().accessNumberSeconds, 10...86_400, "How long an access number is shown."
    )
    static let accessNumberGraceSeconds = ServerOption<Int>.integer(
        "access-number-grace-seconds", ServiceLimits().accessNumberGraceSeconds, 0...600, "And good after that.")
    static let noAccessNumberCheckSum = ServerOption<Bool>.flag(
        "no-access-number-checksum", "Access numbers have six digits, without one that finds a mistyped one.")
    static let waitForLoginResult = ServerOption<Bool>.flag(
        "wait-for-login-result", "A phone waits until the RPA has said what it made of the login.")
    static let mobileUseNative = ServerOption<Bool>.flag(
        "mobile-use-native", "Tell clients of QR codes, as --all-in-one always does.")
    static let mobileConfig = ServerOption<String?>.text(
        "mobile-config", .text("FILE"), "JSON list that phones get from /mobileConfig.")
    static let mobileService = ServerOption<String?>.text(
        "mobile-service", .text("FILE"),
        "JSON object that phones get from /service: name, url, rps_prefix, logo_url, type. (default: this service, where --public-url or --base-url is set)"
    )
    static let serviceClients = ServerOption<[String]>(
        row: OptionRow(
            name: "service-client", kind: .serviceClient, fallback: nil,
            help: """
                A program, and its oldest version, that may ask /service, as its User-Agent begins: another one gets 406, an \
                older one 412. (default: all may)
                """)
    ) { $0 }
    static let tellAttemptsLeft = ServerOption<Bool>.flag(
        "tell-attempts-left", "Whoever types a wrong PIN learns how many tries are left before the block.")
    static let serviceName = ServerOption<String?>.text(
        "service-name", .text("NAME"),
        "Shown by a phone that has read a QR code, on the pages of the website and in mails.")
    static let serviceIconURL = ServerOption<String?>.text("service-icon-url", .pathOrURL("URL"), "And its picture.")
    static let setDeviceName = ServerOption<Bool>.flag("set-device-name", "Clients ask for a device name.")
    static let useNFC = ServerOption<Bool>.flag("use-nfc", "Clients may use NFC.")
    static let seedBytes = ServerOption<Int>.integer(
        "seed-bytes", Limits().seedBytes, 32...1024, "Random bytes for clients without a generator of their own.")

    static let login: [OptionRow] = [
        prefix.row, maxAttempts.row, block.row, blockSeconds.row, maxFailures.row, maxWrongCodes.row,
        noTimePermits.row,
        permitCheckSeconds.row, registrationSeconds.row, baseURL.row, permitURL.row, permits.row,
        forwardUserHeaders.row, logoutURL.row,
        requestOTP.row, accessNumberSeconds.row, accessNumberGraceSeconds.row, noAccessNumberCheckSum.row,
        waitForLoginResult.row, mobileUseNative.row, mobileConfig.row, mobileService.row, serviceClients.row,
        serviceName.row, serviceIconURL.row, setDeviceName.row, tellAttemptsLeft.row, useNFC.row, seedBytes.row,
    ]
}

extension Settings {
    /// Applies the options, and reads the JSON files that they name.
    func apply(to config: inout RelyingPartyServiceConfig) throws {
        config.prefix = self[ServerOptions.prefix]
        config.acceptsOlderDatabase = self[ServerOptions.acceptOlderDatabase]
        config.attempts.maxAttempts = self[ServerOptions.maxAttempts]
        config.attempts.maxFailures = self[ServerOptions.maxFailures]
        config.attempts.block =
            self[ServerOptions.block] == "temporary"
            ? .temporary(seconds: self[ServerOptions.blockSeconds]) : .permanent
        config.limits.service.wrongCodesPerDay = self[ServerOptions.maxWrongCodes]
        config.usePermits = !self[ServerOptions.noTimePermits]
        config.allowOrigin = self[ServerOptions.allowOrigin]
        config.limits.service.permitCheckSeconds = self[ServerOptions.permitCheckSeconds]
        config.limits.service.registrationSeconds = self[ServerOptions.registrationSeconds]
        config.outboundTargets.internalNetworks = try networks(ServerOptions.internalTarget)
        config.baseURL = (self[ServerOptions.baseURL] ?? "").withoutSlashAtEnd
        config.permitURL = self[ServerOptions.permitURL] ?? config.permitURL
        config.storePermits = self[ServerOptions.permits]
        config.forwardUserHeaders = self[ServerOptions.forwardUserHeaders]
        config.logoutURL = self[ServerOptions.logoutURL] ?? config.logoutURL
        config.limits.seedBytes = self[ServerOptions.seedBytes]
        config.setDeviceName = self[ServerOptions.setDeviceName]
        config.tellAttemptsLeft = self[ServerOptions.tellAttemptsLeft]
        config.useNFC = self[ServerOptions.useNFC]
        config.shortLived = self[ServerOptions.shortLivedStore]
        config.signals = self[ServerOptions.signals]
        try applyBrowserLogin(to: &config)
    }

    private func applyBrowserLogin(to config: inout RelyingPartyServiceConfig) throws {
        config.requestOTP = self[ServerOptions.requestOTP]
        config.limits.service.accessNumberSeconds = self[ServerOptions.accessNumberSeconds]
        config.limits.service.accessNumberGraceSeconds = self[ServerOptions.accessNumberGraceSeconds]
        config.accessNumberUseCheckSum = !self[ServerOptions.noAccessNumberCheckSum]
        config.waitForLoginResult = self[ServerOptions.waitForLoginResult]
        config.mobileUseNative = config.mobileUseNative || self[ServerOptions.mobileUseNative]
        config.serviceName = self[ServerOptions.serviceName] ?? config.serviceName
        config.serviceIconURL = self[ServerOptions.serviceIconURL] ?? config.serviceIconURL
        config.mobileConfig = try json(JSONValue.self, ServerOptions.mobileConfig)
        config.mobileService = try json(ServiceResponse.self, ServerOptions.mobileService) ?? ownService(config)
        config.serviceClients = self[ServerOptions.serviceClients].compactMap(ProductVersion.init)
    }

    /// The description of this service for phones that know only the public URL; nil if no URL is configured.
    private func ownService(_ config: RelyingPartyServiceConfig) -> ServiceResponse? {
        let issuer = part == .rps ? self[ServerOptions.issuer] : nil
        let url = (self[ServerOptions.publicURL] ?? issuer)?.withoutSlashAtEnd ?? config.baseURL
        guard !url.isEmpty else { return nil }
        return ServiceResponse(
            name: config.serviceName, url: url, rps_prefix: config.prefix, logo_url: config.serviceIconURL)
    }

    private func json<Value: Decodable>(_ type: Value.Type, _ option: ServerOption<String?>) throws -> Value? {
        guard let path = self[option] else { return nil }
        do { return try JSONDecoder().decode(type, from: Data(PlainFile.text(path).utf8)) } catch {
            throw StartError("\(option.row.name): \(path) is not the JSON that is expected")
        }
    }
}
