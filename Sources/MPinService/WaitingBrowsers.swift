import MPinSecrets
package import MPinStore

/// The browsers that wait for a phone. They are found by their names, which are numbers or ids, and by their webOTTs.
package struct WaitingBrowsers: Sendable {
    private let table: Table<WaitingBrowser>
    /// The names of the browsers, by the hashes of their webOTTs.
    private let names: Table<String>
    private let signals: any Signals

    package init(in store: any Store, signals: any Signals) {
        self.signals = signals
        table = Table("wid", in: store)
        names = Table("webott", in: store)
    }

    /// Lets a browser wait under the name `wid`. False if the name is in use.
    package func open(
        _ wid: String, webOTT: String, details: WaitingBrowser.Details? = nil, place: WaitingBrowser.Place? = nil,
        expires: Moment, at now: Moment
    ) async throws -> Bool {
        let hash = Self.hash(webOTT)
        let (browser, name) = (table.key(wid), names.key(hash))
        return try await table.store.transaction([browser, name], at: now, .durable) { items in
            guard items[browser] == nil else { return false }
            try Table<WaitingBrowser>.change(&items[browser]) {
                $0 = .init(WaitingBrowser(webOTTHash: hash, details: details, place: place), expires: expires)
            }
            try Table<String>.change(&items[name]) { $0 = .init(wid, expires: expires) }
            return true
        }
    }

    func contains(_ wid: String, at now: Moment) async throws -> Bool { try await table.contains(wid, at: now) }

    /// Whether a browser waits under this name, and its user has not declined the login.
    func isWaiting(_ wid: String, at now: Moment) async throws -> Bool {
        try await table.read(wid, at: now)?.isAborted == false
    }

    /// The name under which the browser with this webOTT waits; nil if its time is over.
    package func wid(webOTT: String, at now: Moment) async throws -> String? {
        try await names.read(Self.hash(webOTT), at: now)
    }

    /// Calls `look` with the browser that waits under the name `wid`. Nil, without a call, if no browser waits there,
    /// or one with another webOTT. In both cases the time of the browser with this webOTT is over; the name may be in
    /// use again.
    package func look<Result: Sendable>(
        _ wid: String, webOTT: String, at now: Moment,
        _ look: @escaping @Sendable (inout WaitingBrowser) -> Result
    ) async throws -> Result? {
        let hash = Self.hash(webOTT)
        return try await table.update(wid, at: now) { entry in
            guard entry?.value.webOTTHash == hash, var browser = entry?.value else { return nil }
            let result = look(&browser)
            entry?.value = browser
            return result
        }
    }

    /// Changes the browser that waits under the name `wid` and wakes the requests that wait for a change. Nil if there
    /// is none.
    func change<Result: Sendable>(
        _ wid: String, at now: Moment, _ change: @escaping @Sendable (inout WaitingBrowser) -> Result
    ) async throws -> Result? {
        let result: Result? = try await table.update(wid, at: now) { entry in
            guard var browser = entry?.value else { return nil }
            let result = change(&browser)
            entry?.value = browser
            return result
        }
        signals.ring(wid)
        return result
    }

    func details(_ wid: String, at now: Moment) async throws -> WaitingBrowser.Details? {
        try await table.read(wid, at: now)?.details
    }

    func place(_ wid: String, at now: Moment) async throws -> WaitingBrowser.Place? {
        try await table.read(wid, at: now)?.place
    }

    /// The outcome of the login with the token `authOTT`; nil while the phone has to wait.
    func outcome(_ wid: String, authOTT: String, at now: Moment) async throws -> WaitingBrowser.Outcome? {
        try await table.read(wid, at: now)?.outcome(authOTT: authOTT)
    }

    /// Waits until `look` returns a result. It is called at once, after each change of the browser, and finally after
    /// `seconds`, and may each time wait for the store as long as another request. Nil if it never returned one, the client
    /// has disconnected, or the server is to stop.
    package func wait<Result: Sendable>(
        _ wid: String, seconds: Int, _ look: @Sendable () async throws -> Result?
    ) async throws -> Result? {
        let (rings, stop) = signals.rings(wid, seconds: seconds)
        defer { stop() }
        return try await runWhileNeeded {
            for await _ in rings {
                if let result = try await StorePatience.limit({ try await look() }) { return result }
            }
            return nil
        } onEnd: {
            stop()
        }
    }

    /// Deletes the browser `wid` if its login was refused and not redeemed. Otherwise false, and nothing is changed.
    func endIfRefused(_ wid: String, authOTT: String, at now: Moment) async throws -> Bool {
        let isEnded = try await table.update(wid, at: now) { entry in
            guard entry?.value.isRefused(authOTT: authOTT) == true else { return false }
            entry = nil
            return true
        }
        if isEnded { signals.ring(wid) }
        return isEnded
    }

    func end(_ wid: String, at now: Moment) async throws { try await table.delete(wid, at: now) }

    private static func hash(_ webOTT: String) -> String { Hex.encode(SHA256.hash(Array(webOTT.utf8))) }
}
