import MPinSecrets
package import MPinStore

/// The requests of a browser that waits for a phone to log it in.
extension AuthenticationService {
    /// The kinds of names under which a browser waits. The phone gets the name from the browser's page.
    package enum BrowserName: Sendable {
        /// Six or seven digits, which the user types.
        case number
        /// 16 bytes in hex, for a QR code.
        case code
    }

    /// A browser that has begun to wait.
    package struct OpenedBrowser: Sendable {
        package let wid: String
        /// One-time token of the browser, 16 bytes in hex.
        package let webOTT: String
        package let seconds: Int
        package let begun: Moment
    }

    /// Lets a browser wait under a new random name. Tries again if another waiting browser has that name, which happens
    /// only if very many wait. Throws ``ServiceError/noFreeNumber`` after ``ServiceLimits/accessNumberTries``.
    ///
    /// `details` are what a phone is told that reads the QR code. There are none for a number, because anybody can guess
    /// one that is in use. `place` is where the browser is, and also for codes only.
    package func openBrowser(
        _ kind: BrowserName, details: WaitingBrowser.Details? = nil, place: WaitingBrowser.Place? = nil
    ) async throws -> OpenedBrowser {
        let now = now
        let seconds = limits.accessNumberSeconds
        let expires = now.adding(seconds: seconds + limits.accessNumberGraceSeconds)
        for _ in 0..<limits.accessNumberTries {
            let wid =
                switch kind {
                case .number: try AccessNumber.random(checkSum: rules.checksNumbers)
                case .code: Hex.encode(try randomBytes(16))
                }
            let webOTT = Hex.encode(try randomBytes(16))
            let (shown, place) = kind == .code ? (details, place) : (nil, nil)
            if try await browsers.open(wid, webOTT: webOTT, details: shown, place: place, expires: expires, at: now) {
                return OpenedBrowser(wid: wid, webOTT: webOTT, seconds: seconds, begun: now)
            }
        }
        throw ServiceError.noFreeNumber
    }

    /// What a browser already knows about the state of its login.
    package struct KnownState: Sendable {
        /// The status that the browser knows; nil stands for the current one.
        package let status: String?
        /// The number of refusals that the browser knows; nil if it does not want to be told of refusals.
        package let refusals: Int?

        package init(status: String?, refusals: Int?) {
            self.status = status
            self.refusals = refusals
        }
    }

    /// Returns how far the phone's login is, as soon as that differs from what the browser knows, or after `seconds`.
    /// That time is shortened at random by up to a quarter: otherwise pages that have asked at the same moment, because
    /// the server started, would all ask again at the same moment.
    package func follow(webOTT: String, known: KnownState, seconds: Int) async throws -> WaitingBrowser.View {
        guard let wid = try await browsers.wid(webOTT: webOTT, at: now) else { return .expired }
        let showsRefusals = known.refusals != nil
        let seconds = min(max(seconds, 0), limits.pageWaitSeconds)
        guard seconds > 0, let status = known.status else {
            let first = try await look(wid, webOTT: webOTT, showsRefusals)
            guard seconds > 0, !first.isFinal else { return first }
            let known = KnownState(status: first.status, refusals: known.refusals)
            return try await follow(webOTT: webOTT, known: known, seconds: seconds)
        }
        let changed = try await browsers.wait(wid, seconds: .random(in: (seconds - seconds / 4)...seconds)) {
            let now = try await look(wid, webOTT: webOTT, showsRefusals)
            return now.isFinal || now.status != status || now.refusals != known.refusals ? now : nil
        }
        if let changed { return changed }
        return try await look(wid, webOTT: webOTT, showsRefusals)
    }

    private func look(_ wid: String, webOTT: String, _ showsRefusals: Bool) async throws -> WaitingBrowser.View {
        let now = now
        return try await browsers.look(wid, webOTT: webOTT, at: now) {
            $0.show(at: now, showsRefusals: showsRefusals)
        } ?? .expired
    }

    /// Stores what a phone reports about its login for the browser `wid`. False if no browser waits under that id.
    /// Reports for access numbers are dropped: there are so few numbers that anybody could find those in use and write
    /// on their pages.
    package func report(_ status: String, of userID: String, to wid: String) async throws -> Bool {
        guard Self.isReport(status) else { throw ServiceError.badReport }
        let userID = UserID.normal(userID)
        guard userID.utf8.count <= limits.userIDBytes else {
            throw ServiceError.badUserID("must have at most \(limits.userIDBytes) bytes")
        }
        if let hidden = UserID.hiddenCharacters(in: userID) {
            throw ServiceError.badUserID("must not hold \(hidden)")
        }
        guard !AccessNumber.isNumber(wid) else { return true }
        return try await browsers.change(wid, at: now) { $0.report(status: status, userID: userID) } != nil
    }

    /// What a phone is told about the page with the QR code `wid`. Nil if the login is for the service itself.
    package func details(of wid: String) async throws -> WaitingBrowser.Details? {
        try await browsers.details(wid, at: now)
    }

    /// Who has opened the session with the QR code `wid`. Nil if this server did not see them.
    package func place(of wid: String) async throws -> WaitingBrowser.Place? {
        try await browsers.place(wid, at: now)
    }

    /// Whether `status` is a short word that is not reserved for the server.
    private static func isReport(_ status: String) -> Bool {
        (1...32).contains(status.utf8.count) && !["new", "authenticate", "expired"].contains(status)
            && status.wholeMatch(of: /[A-Za-z0-9_-]+/) != nil
    }
}

/// The requests of the phone and of the relying party about a login for a browser.
extension AuthenticationService {
    /// The answer to a phone that has presented its token.
    package enum PhoneAnswer: Sendable {
        /// The PIN was not right. The relying party would get the same verdict.
        case refused(Verdict, at: Moment)
        case decided(WaitingBrowser.Outcome)
        /// The relying party has given the phone this authorization code.
        case code(String)
    }

    /// Presents the one-time token of a phone's pass 2, in lower-case hex, to the browser that waits for it. Waits
    /// until the relying party has decided about the login. The token stays in the store, because the relying party
    /// takes it.
    ///
    /// `code` is asked with the browser's name after the browser has got the token. If it returns an authorization
    /// code, that is the answer.
    package func present(
        _ authOTT: String, code: @Sendable (_ wid: String) async throws -> String? = { _ in nil }
    ) async throws -> PhoneAnswer {
        let now = now
        guard let token = try await tokens.read(authOTT, at: now) else { throw ServiceError.noWaitingBrowser }
        // The verdict is checked before the access number. Otherwise somebody without an account could find out which
        // numbers are in use.
        guard token.verdict == .right else { return try await refusal(token, authOTT) }
        guard token.wid != "0" else { throw ServiceError.noWaitingBrowser }
        // A token that comes too late does not count as an attempt.
        guard self.now < token.expires else {
            let isWaiting = try await browsers.contains(token.wid, at: now)
            throw isWaiting ? ServiceError.lateProof : .noWaitingBrowser
        }
        try await handOver(token, authOTT)
        if let code = try await code(token.wid) { return .code(code) }
        let outcome = try await browsers.wait(token.wid, seconds: limits.waitSeconds) {
            try await browsers.outcome(token.wid, authOTT: authOTT, at: self.now)
        }
        guard let outcome else {
            let isRefused = try await browsers.endIfRefused(token.wid, authOTT: authOTT, at: self.now)
            throw isRefused ? ServiceError.foreignPage : ServiceError.noOutcome
        }
        try await browsers.end(token.wid, at: self.now)
        return .decided(outcome)
    }

    /// Tells the phone that its PIN was not right. The browser continues to wait, and its page may show the refusal.
    @discardableResult
    func refusal(_ token: AuthToken, _ authOTT: String) async throws -> PhoneAnswer {
        let now = now
        try await identities.sync(token, at: now)
        _ = try await tokens.take(authOTT, at: now)
        // Anybody can guess an access number that is in use. So its page shows a refusal only for a wrong PIN of a
        // registered identity: then each refusal costs an attempt. The id in a QR code is known only to those who have
        // seen the page.
        let isShown = !AccessNumber.isNumber(token.wid) || token.isKnown && token.verdict.isWrong
        _ = try await browsers.change(token.wid, at: now) { if isShown { $0.noteRefusedLogin(token.verdict) } }
        return .refused(token.verdict, at: now)
    }

    /// Gives the token of a right PIN to the waiting browser. Throws ``ServiceError/noWaitingBrowser`` if none waits
    /// under its name, or another phone has logged it in.
    func handOver(_ token: AuthToken, _ authOTT: String) async throws {
        let now = now
        let isAccepted = try await browsers.change(token.wid, at: now) {
            $0.accept(authOTT: authOTT, id: token.id, expires: token.expires, at: now)
        }
        guard isAccepted == true else { throw ServiceError.noWaitingBrowser }
    }

    /// Notes that the token of a login for a browser was refused, because it was not presented by a page of the relying
    /// party. The token stays valid, so that such a page can still redeem it. If none does, the phone is told of the
    /// refusal.
    func noteRefusal(of token: AuthToken, _ authOTT: String, at now: Moment) async throws {
        guard token.verdict == .right else { return }
        let authOTT = authOTT.lowercased()
        _ = try await browsers.change(token.wid, at: now) { $0.refuse(authOTT: authOTT) }
    }

    /// Completes a login with a right PIN after the relying party has taken its token. False if it is a login for a
    /// browser that does not wait for it, or if the login was redeemed before.
    func redeem(
        _ token: AuthToken, _ authOTT: String, _ outcome: WaitingBrowser.Outcome, at now: Moment
    ) async throws -> Bool {
        let authOTT = authOTT.lowercased()
        let isFinal = !rules.waitsForResult
        if token.wid != "0" {
            let isRedeemed = try await browsers.change(token.wid, at: now) {
                $0.redeem(authOTT: authOTT, outcome: isFinal ? outcome : nil)
            }
            guard isRedeemed == true else { return false }
        }
        guard !isFinal else { return true }
        return try await pendingLogins.add(PendingLogin(wid: token.wid, outcome: outcome), authOTT: authOTT, at: now)
    }

    /// Ends a login that waits for the relying party's decision. It can be ended once. `decide` turns the outcome that
    /// was set when the token was redeemed into the final one.
    package func finish(
        _ authOTT: String, decide: @escaping @Sendable (WaitingBrowser.Outcome) -> WaitingBrowser.Outcome
    ) async throws {
        // This checks that the outcome can be stored, before the login is taken, so that the relying party can send
        // another decision.
        guard decide(.init(logoutURL: "", logoutData: nil)).isStorable else { throw ServiceError.deepLogoutData }
        let now = now
        guard let pending = try await pendingLogins.take(authOTT: authOTT, at: now) else {
            throw ServiceError.expiredLogin
        }
        let outcome = decide(pending.outcome)
        if pending.wid != "0" { _ = try await browsers.change(pending.wid, at: now) { $0.finish(outcome) } }
    }
}
