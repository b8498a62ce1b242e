package import MPinStore
package import MPinWire

/// A browser that waits for a phone, named by an access number or the id in a QR code (wire section 11), and the rules of
/// what may happen to it.
///
/// At most one login ever comes out of it: the first right PIN locks it to that M-Pin ID, and only the one-time token that
/// was shown to the browser is worth anything there.
package struct WaitingBrowser: Codable, Storable {
    /// A right PIN that a phone has brought.
    private struct Login: Codable {
        /// 16 bytes in hex.
        var authOTT: String
        /// Hash of the M-Pin ID.
        var id: String
        var expires: Moment
        /// Whether a browser has got the token.
        var isShown = false
        /// Whether it was presented by something that is no page of the relying party's.
        var isRefused = false
    }

    /// What became of the login, for the phone.
    package struct Outcome: Codable, Sendable, Equatable {
        /// 200, or why the relying party refused: its own word, which is passed on.
        package var status: Int
        package var message: String
        /// A path at the relying party; empty where it offers no logout.
        package var logoutURL: String
        /// What to post there, unread.
        package var logoutData: JSONValue?

        package init(status: Int = 200, message: String = "", logoutURL: String, logoutData: JSONValue?) {
            self.status = status
            self.message = message
            self.logoutURL = logoutURL
            self.logoutData = logoutData
        }

        /// Whether it can be read again where it is stored: in two levels of JSON.
        var isStorable: Bool { (logoutData?.depth ?? 0) + 2 <= JSON.maxDepth }
    }

    /// What the browser is told.
    package struct View: Sendable, Equatable {
        /// `new`, then what the phone reported, `authenticate` once its login succeeded, `expired` when it was used or its
        /// time is over.
        package var status: String
        /// Whom the phone is about to log in; only with the status `user`.
        package var userID = ""
        /// What the browser redeems, 16 bytes in hex; only with the status `authenticate`.
        package var authOTT = ""
        /// How often the phone was refused; nil for a browser that does not want to hear of it.
        package var refusals: Int?
        /// Why, the last time. Nil when the phone has reported something since then.
        package var refusal: Verdict?

        static let expired = View(status: "expired")

        /// Whether there is nothing more to wait for.
        var isFinal: Bool { status == "authenticate" || status == "expired" }
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
    package mutating func show(at now: Moment, showsRefusals: Bool = false) -> View {
        var answer = state(at: now)
        guard showsRefusals else { return answer }
        answer.refusals = refusals
        answer.refusal = answer.authOTT.isEmpty ? refusal : nil
        return answer
    }

    private mutating func state(at now: Moment) -> View {
        guard !isRedeemed else { return .expired }
        let user = phoneStatus == "user" ? userID : ""
        guard let login, now < login.expires else { return View(status: phoneStatus, userID: user) }
        self.login?.isShown = true
        return View(status: "authenticate", userID: user, authOTT: login.authOTT)
    }

    /// The relying party presents the browser's token: once, and no other. Without an outcome the phone goes on waiting for one.
    mutating func redeem(authOTT: String, outcome: Outcome?) -> Bool {
        guard !isRedeemed, login?.authOTT == authOTT else { return false }
        isRedeemed = true
        self.outcome = outcome
        return true
    }

    /// Something that is no page of the relying party's has presented the token. It stays good for a page that is.
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
