package import MPinStore
package import MPinWire

/// A browser that waits for a phone, named by an access number or the id in a QR code (wire section 11), and the rules of
/// what may happen to it.
///
/// At most one login ever comes out of it: the first right PIN locks it to that M-Pin ID, and only the one-time token that
/// was shown to the browser is worth anything there.
package struct BrowserSession: Codable, Sendable {
    /// A right PIN that a phone has brought.
    private struct Login: Codable {
        /// 16 bytes in hex.
        var authOTT: String
        /// Hash of the M-Pin ID.
        var id: String
        var expires: Moment
        /// Whether a browser has got the token.
        var isShown = false
        /// Whether it was presented by something that is no page of the RPA's.
        var isRefused = false
    }

    /// What became of the login, for the phone.
    struct Outcome: Codable, Sendable, Equatable {
        /// HTTP status: 200, or why the RPA refused.
        var status: Int
        var message: String
        var logoutURL: String
        var logoutData: JSONValue?

        /// This, as the RPA's verdict alters it.
        func with(_ verdict: LoginResultRequest) -> Outcome {
            Outcome(
                status: verdict.status,
                message: verdict.message ?? "The relying party application refused the login",
                logoutURL: verdict.logoutURL ?? logoutURL, logoutData: verdict.logoutData ?? logoutData)
        }
    }

    /// SHA-256 of the browser's webOTT in hex: a number may be given to another browser later, and the old one's token
    /// must not open it.
    let webOTTHash: String
    private var phoneStatus = "new"
    private var userID = ""
    private var login: Login?
    private var isRedeemed = false
    private var outcome: Outcome?
    private var refusals = 0
    /// The last one, until the phone reports something.
    private var refusal: Verdict?

    init(webOTTHash: String) { self.webOTTHash = webOTTHash }

    /// The phone's report; nothing once a login has succeeded.
    mutating func report(status: String, userID: String) {
        guard login == nil else { return }
        phoneStatus = status
        self.userID = userID
        refusal = nil
    }

    /// The phone was told that its login came to nothing.
    mutating func turnDown(_ verdict: Verdict) {
        guard login == nil else { return }
        refusals = min(refusals + 1, 1000)
        refusal = verdict
    }

    /// Takes in a right PIN. False when another one came first: of anybody else for good, of the same M-Pin ID unless the
    /// browser never got it or let it expire. The same token again is fine: the phone asks a second time.
    mutating func accept(authOTT: String, id: String, expires: Moment, at now: Moment) -> Bool {
        if let login {
            guard login.id == id else { return false }
            guard login.authOTT != authOTT else { return true }
            guard !isRedeemed, !login.isShown || login.expires <= now else { return false }
        }
        login = Login(authOTT: authOTT, id: id, expires: expires)
        return true
    }

    /// What the browser is told; with the status `authenticate` it has got the token. Refusals are for browsers that
    /// know of them.
    package mutating func show(at now: Moment, showsRefusals: Bool = false) -> AccessResponse {
        var answer = state(at: now)
        guard showsRefusals else { return answer }
        answer.refusals = refusals
        answer.refusal = answer.authOTT.isEmpty ? refusal?.status : nil
        return answer
    }

    private mutating func state(at now: Moment) -> AccessResponse {
        guard !isRedeemed else { return AccessResponse(status: "expired") }
        let user = phoneStatus == "user" ? userID : ""
        guard let login, now < login.expires else { return AccessResponse(status: phoneStatus, userId: user) }
        self.login?.isShown = true
        return AccessResponse(status: "authenticate", userId: user, authOTT: login.authOTT)
    }

    /// The RPA presents the browser's token: once, and no other. Without an outcome the phone goes on waiting for one.
    mutating func redeem(authOTT: String, outcome: Outcome?) -> Bool {
        guard !isRedeemed, login?.authOTT == authOTT else { return false }
        isRedeemed = true
        self.outcome = outcome
        return true
    }

    /// Something that is no page of the RPA's has presented the token. It stays good for a page that is.
    mutating func refuse(authOTT: String) {
        if !isRedeemed, login?.authOTT == authOTT { login?.isRefused = true }
    }

    /// Whether nothing but such has presented this token.
    func isRefused(authOTT: String) -> Bool {
        !isRedeemed && login?.authOTT == authOTT && login?.isRefused == true
    }

    /// The end, after ``redeem(authOTT:outcome:)``.
    mutating func finish(_ outcome: Outcome) { self.outcome = outcome }

    /// What the phone that brought this token is told; nil while it has to wait.
    func outcome(authOTT: String) -> Outcome? { login?.authOTT == authOTT ? outcome : nil }
}
