// The messages of MIRACL's MFA clients of 2017, the first generation of the MIRACL Trust wire, as far as they are not
// Milagro's (TRUST wire section 7.2).

/// GET clientSettings with the id of a customer.
package struct MFASettingsResponse: Codable, Sendable {
    package var certivoxURL: String
    package var dta2URL: String
    package var signatureURL: String
    package var registerURL: String
    package var timePermitsURL = ""
    package var usePermits = false
    package var setupDoneURL: String
    package var mobileAuthenticateURL: String
    package var timePermitsStorageURL = ""
    package var mpinAuthServerURL: String
    package var authenticateURL: String
    package var setDeviceName: Bool
    package var accessNumberUseCheckSum = false
    package var accessNumberFormat = "qr"
    package var appID = "OIDC"
    package var requestOTP = false
    package var accessnumber: String
    package var getAccessNumber: String
    /// Random bytes in hex.
    package var seedValue: String
    package var accessNumberDigits = 0
    package var cSum = 0
    package var useWebSocket = false
    package var codeStatusURL: String

    /// `base`: the URL of the service with its prefix. `authority`: that of D-TA 2.
    package init(base: String, authority: String, setDeviceName: Bool, seedValue: String) {
        certivoxURL = authority
        dta2URL = authority
        signatureURL = base + "/signature"
        registerURL = base + "/user"
        setupDoneURL = base + "/setupDone"
        mobileAuthenticateURL = base + "/authenticate"
        mpinAuthServerURL = base
        authenticateURL = base + "/authenticate"
        self.setDeviceName = setDeviceName
        accessnumber = base + "/access"
        getAccessNumber = base + "/getAccessNumber"
        self.seedValue = seedValue
        codeStatusURL = base + "/codeStatus"
    }
}

/// The answer to a ``RegisterRequest``.
package struct MFAUserResponse: Codable, Sendable {
    package var mpinId: String
    package var regOTT: String
    /// In seconds since 1970, as ``nowTime``.
    package var expireTime: Int64
    package var nowTime: Int64
    package var customerId: String
    package var appId = ""
    /// Whether the user needs no confirmation any more.
    package var active: Bool

    package init(
        mpinId: String, regOTT: String, expireTime: Int64, nowTime: Int64, customerId: String, active: Bool
    ) {
        self.mpinId = mpinId
        self.regOTT = regOTT
        self.expireTime = expireTime
        self.nowTime = nowTime
        self.customerId = customerId
        self.active = active
    }
}

/// The answer to a ``CodeStatusRequest`` with the status `wid`.
package struct MFASessionDetails: Codable, Sendable, TellsPlace {
    package var prerollId: String
    package var appName: String
    package var appLogoURL: String
    package var customerId: String
    package var customerName: String
    package var customerLogoURL = ""
    package var browserAddress: String?
    package var browserProgram: String?
    package var siteAddress: String?

    package init(prerollId: String, appName: String, appLogoURL: String, customerId: String, customerName: String) {
        self.prerollId = prerollId
        self.appName = appName
        self.appLogoURL = appLogoURL
        self.customerId = customerId
        self.customerName = customerName
    }
}

/// The answer to a ``Pass2Request``, the same for a right and a wrong PIN.
package struct MFAPass2Response: Codable, Sendable {
    package var authOTT: String
    package var pass = 2
    /// Six digits; nil if none were asked for.
    package var OTP: String?

    package init(authOTT: String, OTP: String?) {
        self.authOTT = authOTT
        self.OTP = OTP
    }
}

/// The answer to an ``AuthenticateRequest``. The HTTP status equals `status`.
package struct MFAAuthenticateResponse: Codable, Sendable {
    package var status: Int
    package var message: String
    /// The authorization code that was asked for; else empty.
    package var code: String
    /// When the digits of ``MFAPass2Response`` end, in milliseconds since 1970, as ``nowTime``. Nil if there are none.
    package var expireTime: Int64?
    package var ttlSeconds: Int?
    package var nowTime: Int64?
    /// The permission to register a key.
    package var dvsRegister: TrustRenewal?

    package init(status: Int, message: String, code: String = "") {
        self.status = status
        self.message = message
        self.code = code
    }
}
