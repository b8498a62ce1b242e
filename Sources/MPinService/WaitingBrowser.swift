package import MPinStore
package import MPinWire

/// A browser that waits for a phone, and the rules for its changes. Its name is an access number or the id in a QR code
/// (wire section 11).
///
/// At most one login succeeds. The first right PIN binds the browser to its M-Pin ID, and only the one-time token that
/// was given to the browser is valid for it.
package struct WaitingBrowser: PackedItem {
    /// The login of a phone whose PIN was right.
    fileprivate struct Login: Decodable {
        /// The one-time token, 16 bytes in hex.
        var authOTT: String
        /// The key of the M-Pin ID (``MPinID/key``).
        var id: String
        var expires: Moment
        /// Whether the browser has got the token.
        var isShown = false
        /// Whether something other than a page of the relying party has presented the token.
        var isRefused = false
    }

    /// The answer that the phone gets about its login.
    package struct Outcome: Codable, Sendable, Equatable {
        /// 200, or the relying party's status for a refusal, which is passed on unchanged.
        package var status: Int
        package var message: String
        /// A path at the relying party; empty if it offers no logout.
        package var logoutURL: String
        /// The data that the phone posts to `logoutURL` without reading it.
        package var logoutData: JSONValue?

        package init(status: Int = 200, message: String = "", logoutURL: String, logoutData: JSONValue?) {
            self.status = status
            self.message = message
            self.logoutURL = logoutURL
            self.logoutData = logoutData
        }

        /// Whether the outcome can be read again after it was stored: the JSON reader limits the depth, and stored
        /// outcomes lie two levels deep in JSON.
        var isStorable: Bool { (logoutData?.depth ?? 0) + 2 <= JSON.maxDepth }
    }

    /// The answer that the browser gets about the login.
    package struct View: Sendable, Equatable {
        /// First `new`, then the status that the phone reports; `authenticate` after a right PIN; `expired` when the
        /// login was used or the browser's time is over.
        package var status: String
        /// The user id that the phone has reported; only with the status `user`.
        package var userID = ""
        /// The token that the browser redeems, 16 bytes in hex; only with the status `authenticate`.
        package var authOTT = ""
        /// How often the phone was refused; nil if the browser does not ask for it.
        package var refusals: Int?
        /// The verdict of the last refusal; nil if the phone has reported something since then.
        package var refusal: Verdict?

        static let expired = View(status: "expired")

        /// Whether the status cannot change any more.
        var isFinal: Bool { status == "authenticate" || status == "expired" }
    }

    /// What a phone is told about the page that it has read a QR code from.
    package struct Details: Codable, Sendable, Equatable {
        /// The user id that the phone proposes. Empty if there is none.
        package let userID: String
        /// The name of the application that the login is for.
        package let name: String
        /// The URL of its logo. Empty if it has none.
        package let logoURL: String

        package init(userID: String, name: String, logoURL: String) {
            self.userID = userID
            self.name = name
            self.logoURL = logoURL
        }
    }

    /// Who has opened the session of a browser that waits for a phone. The phone shows it, so that its user notices a code
    /// that somebody else has sent.
    package struct Place: Sendable, Equatable {
        /// The IP address of its connection.
        package let address: String
        /// The program that it says to be, such as `Firefox, Linux`. Empty if that is not known.
        package let program: String
        /// Whether it is the browser that shows the code. Otherwise it is a server or program, and nothing is known about
        /// the screen.
        package let isScreen: Bool
        private static let longest = 64

        package init(address: String, program: String, isScreen: Bool = true) {
            self.isScreen = isScreen
            self.address = address.beginning(Self.longest)
            self.program = program.beginning(Self.longest)
        }
    }

    /// SHA-256 of the browser's webOTT in hex. It is compared because a number may be given to another browser later:
    /// then the first browser's webOTT must not give access to the second one.
    let webOTTHash: String
    /// Nil if the login is for the service itself.
    let details: Details?
    /// Nil if this server did not see the browser.
    let place: Place?
    private var phoneStatus = "new"
    private var userID = ""
    private var login: Login?
    private var isRedeemed = false
    private var outcome: Outcome?
    private var refusals = 0
    /// The verdict of the last refusal, until the phone reports something.
    private var refusal: Verdict?

    init(webOTTHash: String, details: Details? = nil, place: Place? = nil) {
        self.webOTTHash = webOTTHash
        self.details = details
        self.place = place
    }

    /// Whether the user has declined the login on the phone.
    var isAborted: Bool { phoneStatus == "abort" && login == nil }

    /// Stores the phone's report, unless a login has succeeded.
    mutating func report(status: String, userID: String) {
        guard login == nil else { return }
        phoneStatus = status
        self.userID = userID
        refusal = nil
    }

    /// Notes that the phone's login was refused.
    mutating func noteRefusedLogin(_ verdict: Verdict) {
        guard login == nil else { return }
        refusals = min(refusals + 1, 1000)
        refusal = verdict
    }

    /// Stores the login of a right PIN. False if another login came first. A login of the same M-Pin ID may replace the
    /// earlier one only if the browser never got the earlier token, or the earlier token has expired unused. The same
    /// token may come again, because phones repeat requests.
    mutating func accept(authOTT: String, id: String, expires: Moment, at now: Moment) -> Bool {
        if let login {
            guard login.id == id else { return false }
            guard login.authOTT != authOTT else { return true }
            guard !isRedeemed, !login.isShown || login.expires <= now else { return false }
        }
        login = Login(authOTT: authOTT, id: id, expires: expires)
        return true
    }

    /// Returns the answer for the browser. With the status `authenticate` it contains the token, and the browser then
    /// counts as having got it. `showsRefusals` tells whether the browser asks for refusals.
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

    /// Redeems the token of the browser's login for the relying party; this works once. Without an outcome the phone
    /// continues to wait for one.
    mutating func redeem(authOTT: String, outcome: Outcome?) -> Bool {
        guard !isRedeemed, login?.authOTT == authOTT else { return false }
        isRedeemed = true
        self.outcome = outcome
        return true
    }

    /// Notes that the token was presented by something other than a page of the relying party. The token stays valid
    /// for such a page.
    mutating func refuse(authOTT: String) {
        if !isRedeemed, login?.authOTT == authOTT { login?.isRefused = true }
    }

    /// Whether this token was presented, but never by a page of the relying party.
    func isRefused(authOTT: String) -> Bool {
        !isRedeemed && login?.authOTT == authOTT && login?.isRefused == true
    }

    /// Sets the outcome after ``redeem(authOTT:outcome:)``.
    mutating func finish(_ outcome: Outcome) { self.outcome = outcome }

    /// The answer for the phone with this token; nil while it has to wait.
    func outcome(authOTT: String) -> Outcome? { login?.authOTT == authOTT ? outcome : nil }
}

extension WaitingBrowser {
    package init(packed members: inout Unpacker) throws {
        webOTTHash = try members.text()
        details = try members.optionalValue()
        phoneStatus = try members.text()
        userID = try members.text()
        login = try members.optionalValue()
        isRedeemed = try members.flag()
        outcome = try members.optionalValue()
        refusals = try members.count()
        refusal = try members.flag() ? Verdict(stored: members.octets()) : nil
        let place: Place? = members.isAtEnd ? nil : try members.value()
        let isServer = try !members.isAtEnd && members.flag()
        self.place = place.map { Place(address: $0.address, program: $0.program, isScreen: !isServer) }
    }

    package func pack(into members: inout Packer) throws {
        members.put(webOTTHash)
        try members.put(details)
        members.put(phoneStatus)
        members.put(userID)
        try members.put(login)
        members.put(isRedeemed)
        try members.put(outcome)
        members.put(refusals)
        members.put(refusal != nil)
        if let refusal { members.put(try refusal.stored()) }
        // Browsers that an earlier version has packed have none, and then one without the flag.
        if let place {
            try members.put(place)
            if !place.isScreen { members.put(true) }
        }
    }
}

extension WaitingBrowser.Place: Packable, Decodable {
    private enum Member: CodingKey { case address, program }

    /// Reads JSON of an earlier version, which has stored browsers only.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        self.init(
            address: try members.decode(String.self, forKey: .address),
            program: try members.decode(String.self, forKey: .program))
    }

    package init(packed members: inout Unpacker) throws {
        (address, program, isScreen) = (try members.text(), try members.text(), true)
    }

    package func pack(into members: inout Packer) {
        members.put(address)
        members.put(program)
    }
}

extension WaitingBrowser.Details: Packable {
    package init(packed members: inout Unpacker) throws {
        (userID, name, logoURL) = (try members.text(), try members.text(), try members.text())
    }

    package func pack(into members: inout Packer) {
        for text in [userID, name, logoURL] { members.put(text) }
    }
}

extension WaitingBrowser.Login: Packable {
    init(packed members: inout Unpacker) throws {
        authOTT = try members.text()
        id = try members.text()
        expires = try members.moment()
        isShown = try members.flag()
        isRefused = try members.flag()
    }

    func pack(into members: inout Packer) {
        members.put(authOTT)
        members.put(id)
        members.put(expires)
        members.put(isShown)
        members.put(isRefused)
    }
}

extension WaitingBrowser.Outcome: Packable {
    package init(packed members: inout Unpacker) throws {
        status = try members.count()
        message = try members.text()
        logoutURL = try members.text()
        let data = try members.octets()
        logoutData = data.isEmpty ? nil : try JSON.decode(JSONValue.self, from: data.span, fromAny: true)
    }

    /// The logout data is written as JSON, because it can have any form. Without data, the text is empty.
    package func pack(into members: inout Packer) throws {
        members.put(status)
        members.put(message)
        members.put(logoutURL)
        members.put(try logoutData.map { try JSON.bytes($0) } ?? [])
    }
}
