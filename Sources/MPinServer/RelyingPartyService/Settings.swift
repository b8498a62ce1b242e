import HTTPTypes
import Hummingbird
import MPinSecrets
import MPinWire

extension RelyingPartyService {
    /// GET /clientSettings (wire section 6.1). URLs are paths: clients put their base URL before them. What is not
    /// served is said so: no one-time digits, no access numbers for browsers.
    func clientSettings() throws -> Response {
        let base = "/" + config.prefix
        var settings = ClientSettings(
            certivoxURL: config.dta2PublicURL.hasSuffix("/") ? config.dta2PublicURL : config.dta2PublicURL + "/",
            signatureURL: base + "/signature", registerURL: base + "/user", timePermitsURL: base + "/timePermit",
            mpinAuthServerURL: base, authenticateURL: config.authenticateURL, appID: appID)
        // Old clients ask there first and go to the D-TA on a 404, which this path gives (wire section 18).
        settings.timePermitsStorageURL = base + "/permitStorage"
        settings.setupDoneURL = base + "/setupDone"
        settings.mobileAuthenticateURL = base + "/authenticate"
        settings.setDeviceName = false
        settings.requestOTP = false
        settings.useWebSocket = false
        settings.useNFC = false
        settings.accessNumberUseCheckSum = true
        settings.accessNumberDigits = 7
        settings.cSum = 1
        settings.seedValue = Hex.encode(try randomBytes(100))
        settings.usePermits = config.usePermits
        var response = Response.json(settings)
        response.headers[.cacheControl] = "no-cache, no-store, max-age=0, must-revalidate"
        response.headers[.pragma] = "no-cache"
        response.headers[.expires] = "Sat, 26 Jul 1997 05:00:00 GMT"
        return response
    }
}

extension HTTPField.Name {
    static let pragma = HTTPField.Name("Pragma") ?? .cacheControl
}
