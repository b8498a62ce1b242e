/// GET BASE/<prefix>/clientSettings (wire section 6.1): the members that mobile clients use, and those that old clients
/// and browsers expect.
package struct ClientSettings: Codable, Sendable {
    /// Base URL of D-TA 2; ends in "/".
    package var certivoxURL: String
    package var signatureURL: String
    package var registerURL: String
    package var timePermitsURL: String
    /// URL of the static storage of second time permit shares; may be empty.
    package var timePermitsStorageURL: String?
    package var setupDoneURL: String?
    /// The client appends `/pass1` and `/pass2` to this URL.
    package var mpinAuthServerURL: String
    /// The URL that completes a login on the same device. It belongs to the RPA.
    package var authenticateURL: String
    /// The URL that completes a login with an access number.
    package var mobileAuthenticateURL: String?
    /// The URL where browsers ask for the result of a login with an access number; absent if one-time passwords are
    /// used instead.
    package var accessNumberURL: String?
    /// The URL where browsers get an access number; absent if one-time passwords are used instead.
    package var getAccessNumberURL: String?
    /// The URL where browsers get a QR code; absent if QR codes are not used.
    package var getQrUrl: String?
    /// The URL where phones report that they have read a code; absent if QR codes are not used.
    package var codeStatusURL: String?
    package var appID: String
    package var setDeviceName: Bool?
    package var requestOTP: Bool?
    package var useWebSocket: Bool?
    package var useNFC: Bool?
    package var accessNumberUseCheckSum: Bool?
    package var accessNumberDigits: Int?
    /// 1 makes the client check the check digit of access numbers.
    package var cSum: Int?
    /// New random bytes in hex, for clients without a random generator.
    package var seedValue: String?
    /// Whether logins need time permits. Absent means true, because old servers use permits and never send this member.
    package var usePermits: Bool?
    /// True if a login with the scope `reg-code` gives a code that registers another device. Old servers do not send
    /// this member.
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
