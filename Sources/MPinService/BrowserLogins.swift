import MPinSecrets
package import MPinStore

/// A login that a phone makes for a browser: what the browser asks.
extension AuthenticationService {
    /// How a browser shows its name to the phone.
    package enum BrowserName: Sendable {
        /// Six digits, or seven, for a person to type.
        case number
        /// 16 bytes in hex, for a QR code.
        case code
    }

    /// A browser that begins to wait.
    package struct OpenedBrowser: Sendable {
        package let wid: String
        /// One-time token of the browser, 16 bytes in hex.
        package let webOTT: String
        package let seconds: Int
        package let begun: Moment
    }

    /// Lets a browser wait under a name that no live one has. That takes a second try only where very many are live.
    package func openBrowser(_ kind: BrowserName) async throws -> OpenedBrowser {
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
            if try await browsers.open(wid, webOTT: webOTT, expires: expires, at: now) {
                return OpenedBrowser(wid: wid, webOTT: webOTT, seconds: seconds, begun: now)
            }
        }
        throw ServiceError.noFreeNumber
    }

    /// What a browser knows already.
    package struct Known: Sendable {
        /// Nil: what is so now.
        package let status: String?
        /// Nil: it wants to hear of no refusals.
        package let refusals: Int?

        package init(status: String?, refusals: Int?) {
            self.status = status
            self.refusals = refusals
        }
    }

    /// How far the phone is: at once, or as soon as it is another state than the browser knows, after `seconds` at the
    /// latest.
    package func follow(webOTT: String, known: Known, seconds: Int) async throws -> WaitingBrowser.View {
        guard let wid = try await browsers.wid(webOTT: webOTT, at: now) else { return .expired }
        let showsRefusals = known.refusals != nil
        let first = try await look(wid, webOTT: webOTT, showsRefusals)
        let seconds = min(max(seconds, 0), limits.pageWaitSeconds)
        guard seconds > 0, !first.isFinal, first.status == known.status ?? first.status,
            first.refusals == known.refusals
        else { return first }
        let changed = try await browsers.wait(wid, seconds: seconds) {
            let now = try await look(wid, webOTT: webOTT, showsRefusals)
            return now.status == first.status && now.refusals == first.refusals ? nil : now
        }
        return changed ?? first
    }

    private func look(_ wid: String, webOTT: String, _ showsRefusals: Bool) async throws -> WaitingBrowser.View {
        let now = now
        return try await browsers.look(wid, webOTT: webOTT, at: now) {
            $0.show(at: now, showsRefusals: showsRefusals)
        } ?? .expired
    }

    /// A phone reports how far it is. There are so few numbers that anybody could find the live ones, and write on their
    /// pages: reports on them, which are no part of a login, are dropped. False: no browser waits under that code.
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

    /// A short word, and none of those that only the server may tell a browser.
    private static func isReport(_ status: String) -> Bool {
        (1...32).contains(status.utf8.count) && !["new", "authenticate", "expired"].contains(status)
            && status.wholeMatch(of: /[A-Za-z0-9_-]+/) != nil
    }
}

/// What the phone and the relying party make of it.
extension AuthenticationService {
    /// What a phone hears of the login that it has brought.
    package enum PhoneAnswer: Sendable {
        /// No right PIN: as the relying party would hear it.
        case refused(Verdict, at: Moment)
        case decided(WaitingBrowser.Outcome)
    }

    /// The phone brings the one-time token of its pass 2, in lower-case hex, and waits for what the relying party makes of
    /// it. The token stays where it is: the relying party takes it.
    package func present(_ authOTT: String) async throws -> PhoneAnswer {
        let now = now
        guard let token = try await tokens.read(authOTT, at: now) else { throw ServiceError.noWaitingBrowser }
        // The verdict before any look at the number: else who has no account could find out which numbers are live.
        guard token.verdict == .right else { return try await refusal(token, authOTT) }
        guard token.wid != "0", try await browsers.contains(token.wid, at: now) else {
            throw ServiceError.noWaitingBrowser
        }
        // No attempt is counted.
        guard self.now < token.expires else { throw ServiceError.lateProof }
        try await handOver(token, authOTT)
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

    /// A wrong PIN. The browser goes on waiting, and may hear of it.
    private func refusal(_ token: AuthToken, _ authOTT: String) async throws -> PhoneAnswer {
        let now = now
        try await identities.sync(token, at: now)
        _ = try await tokens.take(authOTT, at: now)
        // Anybody may find the live numbers, and write on their pages: there a note must cost a try of a PIN. Who has a
        // code has seen the page.
        let isShown = !AccessNumber.isNumber(token.wid) || token.isKnown && token.verdict.isWrong
        _ = try await browsers.change(token.wid, at: now) { if isShown { $0.turnDown(token.verdict) } }
        return .refused(token.verdict, at: now)
    }

    /// Gives a right PIN to its browser.
    private func handOver(_ token: AuthToken, _ authOTT: String) async throws {
        let now = now
        let isAccepted = try await browsers.change(token.wid, at: now) {
            $0.accept(authOTT: authOTT, id: token.id, expires: token.expires, at: now)
        }
        guard isAccepted == true else { throw ServiceError.noWaitingBrowser }
    }

    /// The relying party asks about a login for a browser though no page of its own wants it: nothing could come of that but
    /// a phone that says "logged in". The token has stayed, and the phone hears of it unless such a page comes after all.
    func noteRefusal(of token: AuthToken, _ authOTT: String, at now: Moment) async throws {
        guard token.verdict == .right else { return }
        let authOTT = authOTT.lowercased()
        _ = try await browsers.change(token.wid, at: now) { $0.refuse(authOTT: authOTT) }
    }

    /// Whether a right PIN, whose token the relying party has just taken, counts: one that was made for a browser does only
    /// out of that browser's hand.
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

    /// The relying party's own word on a login, once for each. `decide` alters what it said when it redeemed the token.
    package func finish(
        _ authOTT: String, decide: @escaping @Sendable (WaitingBrowser.Outcome) -> WaitingBrowser.Outcome
    ) async throws {
        // Before the login is taken: another word on it may follow.
        guard decide(.init(logoutURL: "", logoutData: nil)).isStorable else { throw ServiceError.deepLogoutData }
        let now = now
        guard let pending = try await pendingLogins.take(authOTT: authOTT, at: now) else {
            throw ServiceError.expiredLogin
        }
        let outcome = decide(pending.outcome)
        if pending.wid != "0" { _ = try await browsers.change(pending.wid, at: now) { $0.finish(outcome) } }
    }
}
