/// The answer to POST getAccessNumberURL (wire section 6.9) and to POST getQrUrl (wire section 6.11), whose requests have
/// no members: what a browser shows to a phone, and the token under which it asks for the outcome.
package struct WaitingBrowserResponse: Codable, Sendable {
    /// 7 digits, the last one a check digit, or 6 digits without it.
    package var accessNumber: String?
    /// A URL with the browser's id, 32 hex digits, behind `#`.
    package var qrUrl: String?
    /// One-time token of the browser, 32 hex digits.
    package var webOTT: String
    package var ttlSeconds: Int
    /// Milliseconds since 1970.
    package var localTimeStart: Int
    /// Milliseconds since 1970.
    package var localTimeEnd: Int

    package init(webOTT: String, ttlSeconds: Int, start seconds: Int) {
        self.webOTT = webOTT
        self.ttlSeconds = ttlSeconds
        localTimeStart = seconds &* 1000
        localTimeEnd = (seconds &+ ttlSeconds) &* 1000
    }
}

/// POST accessNumberURL (wire section 6.10): the browser asks how far the phone is.
package struct AccessRequest: Codable, Sendable {
    package var webOTT: String
    /// Seconds, at most 10, for which the answer may be held back while nothing changes. Old browsers do not send it and
    /// are answered at once.
    package var wait: LenientInt?
    /// The status that the browser knows already: another one is answered at once. Absent: the one of now.
    package var status: String?
    /// How many refusals of its phone the browser knows already: another number is answered at once. Absent, as of old
    /// browsers: it hears of none.
    package var refusals: LenientInt?

    package init(webOTT: String, wait: Int? = nil, status: String? = nil, refusals: Int? = nil) {
        self.webOTT = webOTT
        self.wait = wait.map(LenientInt.init)
        self.status = status
        self.refusals = refusals.map(LenientInt.init)
    }
}

/// The answer to ``AccessRequest``.
package struct AccessResponse: Codable, Sendable, Equatable {
    /// `new`, then what the phone reported (`wid`, `user`, ...), `authenticate` once its login succeeded, `expired` when
    /// it was used or its time is over.
    package var status: String
    package var statusCode = 0
    /// Whom the phone is about to log in; only with the status `user`.
    package var userId = ""
    package var redirectURL = ""
    /// What the browser redeems at authenticateURL: 16 bytes in hex with the status `authenticate`, else empty.
    package var authOTT = ""
    /// How often the phone was refused; only for who asks with ``AccessRequest/refusals``.
    package var refusals: Int?
    /// Why, the last time: 401 a wrong PIN, 409, 410 or 429 as the phone was told. Absent when the phone has reported
    /// something since then.
    package var refusal: Int?

    package init(status: String, userId: String = "", authOTT: String = "") {
        self.status = status
        self.userId = userId
        self.authOTT = authOTT
    }
}

/// POST codeStatusURL (wire section 6.12): the phone reports that it has read a code.
package struct CodeStatusRequest: Codable, Sendable {
    /// `wid` when the code was read, `user` when a login begins, `abort` when it was given up.
    package var status: String
    package var wid: String?
    package var userId: String?

    package init(status: String, wid: String, userId: String? = nil) {
        self.status = status
        self.wid = wid
        self.userId = userId
    }
}

/// The answer to ``CodeStatusRequest`` where there is no more to say.
package struct CodeStatusResponse: Codable, Sendable {
    package var Status = "OK"

    package init() {}
}

/// The answer to the status `wid` of a live code: whose page it is. Old servers wrote the first three names, old clients
/// read the last three.
package struct CodeDetailsResponse: Codable, Sendable {
    package var PrerollId = ""
    package var AppName: String
    package var AppLogoUrl: String
    package var prerollId = ""
    package var appName: String
    package var appLogoURL: String

    package init(name: String, logoURL: String) {
        AppName = name
        appName = name
        AppLogoUrl = logoURL
        appLogoURL = logoURL
    }
}

/// The answer to POST mobileAuthenticateURL (wire section 6.8), whose request is an ``AuthenticateRequest``: how the
/// phone can end the browser's session.
package struct MobileAuthenticateResponse: Codable, Sendable {
    /// A path at the RPA; empty where it offers no logout.
    package var logoutURL: String
    /// What to post there, unread; null where it offers no logout.
    package var logoutData: JSONValue

    package init(logoutURL: String, logoutData: JSONValue) {
        self.logoutURL = logoutURL
        self.logoutData = logoutData
    }
}

/// Private POST /loginResult, from the RPA to the RPS (wire section 7): what the RPA made of a login.
package struct LoginResultRequest: Codable, Sendable {
    package var authOTT: String
    /// 200, or the HTTP status that the waiting phone gets.
    package var status: Int
    package var message: String?
    package var logoutURL: String?
    package var logoutData: JSONValue?

    package init(
        authOTT: String, status: Int, message: String? = nil, logoutURL: String? = nil, logoutData: JSONValue? = nil
    ) {
        self.authOTT = authOTT
        self.status = status
        self.message = message
        self.logoutURL = logoutURL
        self.logoutData = logoutData
    }
}

/// GET /service, without a prefix (wire section 6.15): how a phone that knows nothing but a URL finds the RPS. Old
/// clients want all five members, and the type `online`.
package struct ServiceResponse: Codable, Sendable, Equatable {
    package var name: String
    /// Base URL of the RPA.
    package var url: String
    package var rps_prefix: String
    package var logo_url: String
    package var type: String

    package init(name: String, url: String, rps_prefix: String, logo_url: String, type: String = "online") {
        self.name = name
        self.url = url
        self.rps_prefix = rps_prefix
        self.logo_url = logo_url
        self.type = type
    }
}
