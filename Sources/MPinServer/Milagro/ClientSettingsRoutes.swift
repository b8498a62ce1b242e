import HTTPTypes
import Hummingbird
import MPinSecrets
import MPinWire

/// The requests that clients send first.
extension MilagroFace {
    /// GET /clientSettings (wire section 6.1): gives clients the URLs and settings that they need. Without a configured
    /// base URL all URLs are paths, to which clients add the base URL that they know.
    func clientSettings() throws -> Response {
        let base = config.baseURL + "/" + config.prefix
        // If clients reach D-TA 2 through this server, D-TA 2's URL is a path, as the URLs of the RPS are.
        guard let publicURL = config.authorities.last?.publicURL else { throw APIError.internalError }
        let dta2 = (publicURL.hasPrefix("/") ? config.baseURL : "") + publicURL
        var settings = ClientSettings(
            certivoxURL: dta2.hasSuffix("/") ? dta2 : dta2 + "/",
            signatureURL: base + "/signature", registerURL: base + "/user", timePermitsURL: base + "/timePermit",
            mpinAuthServerURL: base, authenticateURL: config.authenticateURL, appID: appID)
        // Milagro's clients ask this URL first, and the D-TA only after a 404 (wire section 18).
        settings.timePermitsStorageURL = base + "/permitStorage"
        settings.setupDoneURL = base + "/setupDone"
        settings.mobileAuthenticateURL = base + "/authenticate"
        settings.setDeviceName = config.setDeviceName
        settings.requestOTP = config.requestOTP
        settings.useWebSocket = false
        settings.useNFC = config.useNFC
        settings.seedValue = Hex.encode(try randomBytes(limits.seedBytes))
        settings.usePermits = config.usePermits
        settings.registrationCodes = true
        addAccessNumbers(to: &settings, base: base)
        return .json(settings).uncached()
    }

    private func addAccessNumbers(to settings: inout ClientSettings, base: String) {
        settings.accessNumberUseCheckSum = config.accessNumberUseCheckSum
        settings.accessNumberDigits = config.accessNumberUseCheckSum ? 7 : 6
        settings.cSum = 1
        if !config.requestOTP {
            settings.accessNumberURL = base + "/access"
            settings.getAccessNumberURL = base + "/getAccessNumber"
        }
        if config.mobileUseNative {
            settings.getQrUrl = base + "/getQrUrl"
            settings.codeStatusURL = base + "/codeStatus"
        }
    }

    /// GET /mobileConfig (wire section 6.13): gives phones the configured list, if there is one.
    func mobileConfig() throws -> Response {
        guard let list = config.mobileConfig else { throw APIError(.forbidden, "No mobile configuration") }
        guard config.mobileUseNative else { throw APIError.notFound }
        return .json(list)
    }

    /// GET /service (wire section 6.15), outside of the prefix, for phones that know only the server's address.
    func service(_ request: Request) throws -> Response {
        guard let service = config.mobileService else { throw APIError(.forbidden, "No mobile service") }
        try requireServiceClient(request)
        return .json(service)
    }

    /// Throws for programs that must not use this service, before they send other requests (TRUST wire section 7.2).
    func requireServiceClient(_ request: Request) throws {
        guard !config.serviceClients.isEmpty else { return }
        guard let client = request.headers[.userAgent].flatMap(ProductVersion.init),
            let known = config.serviceClients.first(where: { $0.name == client.name })
        else { throw APIError(.notAcceptable, "This service is not for this program (User-Agent)") }
        guard client.isAsNew(as: known) else {
            throw APIError(.preconditionFailed, "This version of the program is too old")
        }
    }
}

extension Response {
    /// The response with headers that forbid caching, also for old browsers and proxies.
    func uncached() -> Response {
        var response = self
        response.headers[.cacheControl] = "no-cache, no-store, max-age=0, must-revalidate"
        response.headers[.pragma] = "no-cache"
        response.headers[.expires] = "Sat, 26 Jul 1997 05:00:00 GMT"
        return response
    }
}

extension HTTPField.Name {
    static let pragma = HTTPField.Name("Pragma") ?? .cacheControl
}
