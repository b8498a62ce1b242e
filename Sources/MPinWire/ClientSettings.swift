/// GET BASE/<prefix>/clientSettings (wire section 6.1): the members that a mobile client uses and those that old clients
/// and browsers expect.
package struct ClientSettings: Codable, Sendable {
    /// Base URL of D-TA 2; ends in "/".
    package var certivoxURL: String
    package var signatureURL: String
    package var registerURL: String
    package var timePermitsURL: String
    /// Static store for second time permit shares; may be empty.
    package var timePermitsStorageURL: String?
    package var setupDoneURL: String?
    /// The client appends `/pass1` and `/pass2`.
    package var mpinAuthServerURL: String
    /// Where the client redeems a login on the same device (it belongs to the RPA).
    package var authenticateURL: String
    /// Where the client redeems a login on an access number.
    package var mobileAuthenticateURL: String?
    /// Where browsers ask for the outcome of a login on an access number; absent where one-time digits are asked for.
    package var accessNumberURL: String?
    /// Where browsers get an access number; absent where one-time digits are asked for.
    package var getAccessNumberURL: String?
    /// Where browsers get a QR code; absent where codes are not used.
    package var getQrUrl: String?
    /// Where phones report that they have read a code; absent where codes are not used.
    package var codeStatusURL: String?
    package var appID: String
    package var setDeviceName: Bool?
    package var requestOTP: Bool?
    package var useWebSocket: Bool?
    package var useNFC: Bool?
    package var accessNumberUseCheckSum: Bool?
    package var accessNumberDigits: Int?
    /// 1 switches the client's check of access numbers on.
    package var cSum: Int?
    /// Fresh random hex for clients without a generator of their own.
    package var seedValue: String?
    /// Absent means true: old servers never send it.
    package var usePermits: Bool?
    /// True: a login of the scope `reg-code` gives digits that register another device. Old servers do not say it.
    package var registrationCodes: Bool?

    package init(
        certivoxURL: String, signatureURL: String, registerURL: String, timePermitsURL: String,
        mpinAuthServerURL: String, authenticateURL: String, appID: String
    ) {
        self.certivoxURL = certivoxURL
        self.signatureURL = signatureURL
        self.registerURL = registerURL
        self.timePermitsURL = timePermitsURL
        self.mpinAuthServerURL = mpinAuthServerURL
        self.authenticateURL = authenticateURL
        self.appID = appID
    }
}
