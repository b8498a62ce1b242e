/// POST /getQrUrl of an RPA that shows the page itself: where the browser is, for the phone. Both members are our own, and
/// absent in the requests of others.
package struct WaitingBrowserRequest: Codable, Sendable {
    /// The IP address of the browser.
    package var address: String?
    /// The program that it says to be.
    package var program: String?

    package init(address: String? = nil, program: String? = nil) {
        self.address = address
        self.program = program
    }
}

/// The answer to POST getAccessNumberURL (wire section 6.9) and to POST getQrUrl (wire section 6.11), whose requests
/// have no members. It contains what the browser shows to a phone, and the token with which the browser asks for the
/// result.
package struct WaitingBrowserResponse: Codable, Sendable {
    /// 7 digits, the last one a check digit, or 6 digits without it.
    package var accessNumber: String?
    /// A URL with the browser's id, 32 hex digits, after `#`.
    package var qrUrl: String?
    /// The one-time token of the browser, 32 hex digits.
    package var webOTT: String
    package var ttlSeconds: Int
    /// The time of the answer on the server's clock, in milliseconds since 1970.
    package var localTimeStart: Int
    /// When the number or code expires on the server's clock, in milliseconds since 1970.
    package var localTimeEnd: Int

    package init(webOTT: String, ttlSeconds: Int, start seconds: Int) {
        self.webOTT = webOTT
        self.ttlSeconds = ttlSeconds
        localTimeStart = seconds &* 1000
        localTimeEnd = (seconds &+ ttlSeconds) &* 1000
    }
}

/// POST accessNumberURL (wire section 6.10): the browser asks for the state of the login.
package struct AccessRequest: Codable, Sendable {
    package var webOTT: String
    /// How many seconds, at most 30, the server may wait for a change before it answers. Old browsers do not send this
    /// member and get an immediate answer.
    package var wait: LenientInt?
    /// The status that the browser knows. If the current status differs, the server answers at once. Absent: the
    /// current status counts as known.
    package var status: String?
    /// The number of the phone's refused logins that the browser knows. If the current number differs, the server
    /// answers at once. Old browsers do not send this member and are not told about refusals.
    package var refusals: LenientInt?

    package init(webOTT: String, wait: Int? = nil, status: String? = nil, refusals: Int? = nil) {
        self.webOTT = webOTT
        self.wait = wait.map(LenientInt.init)
        self.status = status
        self.refusals = refusals.map(LenientInt.init)
    }
}

extension AccessRequest: PlainMessage {
    package init?(plain members: PlainMembers) {
        guard members.consist(ofTexts: ["webOTT", "status"], numbers: ["wait", "refusals"]),
            let webOTT = members.text("webOTT")
        else { return nil }
        self.init(
            webOTT: webOTT, wait: members.number("wait"), status: members.text("status"),
            refusals: members.number("refusals"))
    }
}

/// The answer to ``AccessRequest``.
package struct AccessResponse: Codable, Sendable, Equatable {
    /// The state of the browser's login: `new` at first; then what the phone has reported (`wid`, `user`, ...);
    /// `authenticate` when the phone's login has succeeded, and `authenticated` in the one answer with a
    /// ``redirectURL``; `expired` when the browser has used the login or its time is over.
    package var status: String
    package var statusCode = 0
    /// The user id of the login that has begun; only with the status `user`, and with a ``redirectURL``.
    package var userId = ""
    package var redirectURL = ""
    /// The token that the browser exchanges for the login at authenticateURL: 16 bytes in hex with the status
    /// `authenticate`, otherwise empty.
    package var authOTT = ""
    /// How many logins of the phone were refused; only if ``AccessRequest/refusals`` was sent.
    package var refusals: Int?
    /// The HTTP status of the last refusal, as the phone received it: 401 for a wrong PIN, 409, 410 or 429. Absent if
    /// the phone has reported something since then.
    package var refusal: Int?

    package init(status: String, userId: String = "", authOTT: String = "") {
        self.status = status
        self.userId = userId
        self.authOTT = authOTT
    }

    /// The answer as a value, which is written faster.
    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "status": .string(status), "statusCode": .int(statusCode), "userId": .string(userId),
            "redirectURL": .string(redirectURL), "authOTT": .string(authOTT),
        ]
        if let refusals { members["refusals"] = .int(refusals) }
        if let refusal { members["refusal"] = .int(refusal) }
        return .object(members)
    }
}

/// POST codeStatusURL (wire section 6.12): the phone reports the state of a login.
package struct CodeStatusRequest: Codable, Sendable {
    /// `wid`: the code was read; `user`: a login begins; `abort`: the user has declined.
    package var status: String
    package var wid: String?
    package var userId: String?

    package init(status: String, wid: String, userId: String? = nil) {
        self.status = status
        self.wid = wid
        self.userId = userId
    }
}

/// The answer to ``CodeStatusRequest`` if there are no details.
package struct CodeStatusResponse: Codable, Sendable {
    package var Status = "OK"

    package init() {}
}

/// An answer that tells a phone where the screen is that waits for it. These are our own members; each is absent if the server
/// does not know it.
package protocol TellsPlace {
    /// The address of the browser that waits, and the program that it says to be: for warnings of a code that somebody else
    /// has sent.
    var browserAddress: String? { get set }
    var browserProgram: String? { get set }
    /// The address of a server or program that has opened the session, so that nothing is known about the screen.
    var siteAddress: String? { get set }
}

/// The answer to the status `wid` of a valid code: details of the page that shows it. Each of the three values has two
/// names: old servers send the first three names, and old clients read the last three.
package struct CodeDetailsResponse: Codable, Sendable, TellsPlace {
    package var PrerollId: String
    package var AppName: String
    package var AppLogoUrl: String
    package var prerollId: String
    package var appName: String
    package var appLogoURL: String
    package var browserAddress: String?
    package var browserProgram: String?
    package var siteAddress: String?

    /// `prerollID`: the user id that the phone proposes; empty if there is none.
    package init(name: String, logoURL: String, prerollID: String = "") {
        PrerollId = prerollID
        prerollId = prerollID
        AppName = name
        appName = name
        AppLogoUrl = logoURL
        appLogoURL = logoURL
    }
}

/// The answer to POST mobileAuthenticateURL (wire section 6.8), whose request is an ``AuthenticateRequest``. It says
/// how the phone can end the browser's session.
package struct MobileAuthenticateResponse: Codable, Sendable {
    /// The path at the RPA that ends the session; empty if the RPA offers no logout.
    package var logoutURL: String
    /// The data that the phone posts unchanged to `logoutURL`; null if the RPA offers no logout.
    package var logoutData: JSONValue
    /// The authorization code for the app's back end, if the phone has asked for one (`authzRequest`).
    package var code: String?

    package init(logoutURL: String, logoutData: JSONValue, code: String? = nil) {
        self.logoutURL = logoutURL
        self.logoutData = logoutData
        self.code = code
    }

    /// The answer as a value, which is written faster.
    package var json: JSONValue {
        var members: [String: JSONValue] = ["logoutURL": .string(logoutURL), "logoutData": logoutData]
        if let code { members["code"] = .string(code) }
        return .object(members)
    }
}

/// Private POST /loginResult, from the RPA to the RPS (wire section 7): the RPA's decision about a login.
package struct LoginResultRequest: Codable, Sendable {
    package var authOTT: String
    /// 200, or the HTTP status that the waiting phone receives.
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

/// GET /service, without a prefix (wire section 6.15): tells a phone that knows only a URL where the RPS is. Old
/// clients require all five members, and the type `online`.
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
