import MPinSecrets
package import MPinStore
import MPinWire

/// The result of pass 2, which the relying party gets for the one-time token.
package struct AuthToken: Codable, Storable, Equatable {
    /// Hex of the SHA-256 of the one-time token's hex text. The token itself is not stored.
    package var key: String
    /// The key of the M-Pin ID (``MPinID/key``).
    package var id: String
    /// Hex of the M-Pin ID; empty if it was never registered.
    package var mpinID: String
    /// As in the record of the identity (``IdentityRecord/userID``).
    package var userID: String
    package var verdict: Verdict
    /// "0" for a login on the same device, else the access number or the id in a QR code.
    package var wid: String
    /// The six digits that the client shows; empty if it asked for none or the PIN was wrong.
    package var otp: String
    package var expires: Moment
    /// Whether the six digits register another device of the user.
    package var registersDevice: Bool
    /// What the login is for (TRUST wire section 4.8); nil on the Milagro wire.
    package var scope: String?

    package init(
        key: String, id: String, mpinID: String, userID: String, verdict: Verdict, wid: String, otp: String,
        expires: Moment, registersDevice: Bool = false, scope: String? = nil
    ) {
        self.key = key
        self.id = id
        self.mpinID = mpinID
        self.userID = userID
        self.verdict = verdict
        self.wid = wid
        self.otp = otp
        self.expires = expires
        self.registersDevice = registersDevice
        self.scope = scope
    }

    package var isKnown: Bool { !mpinID.isEmpty }
    package var user: UserKey { UserKey(userID, ofIdentity: mpinID) }

    /// Whether the token is of a login for a browser.
    var isForBrowser: Bool { wid != "0" }

    /// Whether a relying party may redeem the token. That of a login for no browser is for the face alone
    /// that asked for its scope.
    var isForRelyingParty: Bool {
        guard let scope else { return true }
        return isForBrowser && LoginScope(rawValue: scope)?.isForBrowser(wid) == true
    }

    /// The key of the token `authOTT`, which is hex in either case.
    package static func key(_ authOTT: String) -> String {
        Hex.encode(SHA256.hash(Array(authOTT.lowercased().utf8)))
    }
}

extension AuthToken {
    package init(stored bytes: [UInt8]) throws {
        guard var members = try Unpacker(bytes, version: 2) else {
            self = try JSON.decode(from: bytes.span)
            return
        }
        key = try members.text()
        _ = try members.flag()
        id = try members.text()
        mpinID = try members.text()
        userID = try members.text()
        verdict = try Verdict(stored: try members.octets())
        wid = try members.text()
        otp = try members.text()
        expires = try members.moment()
        registersDevice = try members.flag()
        let text = members.isAtEnd ? "" : try members.text()
        scope = text.isEmpty ? nil : text
    }

    package func stored() throws -> [UInt8] {
        var members = Packer(version: 2, capacity: 768)
        members.put(key)
        members.put(isForBrowser)
        for text in [id, mpinID, userID] { members.put(text) }
        members.put(try verdict.stored())
        for text in [wid, otp] { members.put(text) }
        members.put(expires)
        members.put(registersDevice)
        members.put(scope ?? "")
        return members.bytes
    }

    /// The first bytes of every stored token with this key; with `isForBrowser`, of those that are for a browser, or of
    /// those that are not.
    static func beginning(_ key: String, isForBrowser: Bool? = nil) -> [UInt8] {
        var members = Packer(version: 2, capacity: 80)
        members.put(key)
        if let isForBrowser { members.put(isForBrowser) }
        return members.bytes
    }
}

/// The one-time tokens. Those of unregistered IDs share a fixed number of slots.
package struct Tokens: Sendable {
    private let known: Table<AuthToken>
    private let unknown: Table<AuthToken>
    private let slots: Slots

    package init(in store: any Store, slots: Slots) {
        known = Table("token", in: store)
        unknown = Table("unknown_token", in: store)
        self.slots = slots
    }

    /// Stores the token until `end`, and deletes the challenges that its login used, in one step. `end` may be later
    /// than the token's expiry, so that a phone can be told that it has expired.
    package func save(
        _ token: AuthToken, until end: Moment? = nil, using used: [Challenge] = [], at now: Moment
    ) async throws {
        // Also for a known ID the slot is computed, so that both take equally long.
        let (own, place) = (known.key(token.key), place(token.key))
        let change = SaveToken(
            key: token.isKnown ? own : place, token: token, end: end ?? token.expires,
            challenges: ItemKey("pass1", token.id), used: used.map(\.y))
        try await known.store.performOnce(change, at: now, .volatile)
    }

    /// The token, even if it has expired; nil if it is unknown or used. It stays in the store.
    package func read(_ authOTT: String, at now: Moment) async throws -> AuthToken? {
        let key = AuthToken.key(authOTT)
        let stranger = try await unknown.read(slots.key(Array(key.utf8)), at: now)
        return try await known.read(key, at: now) ?? stranger.flatMap { $0.key == key ? $0 : nil }
    }

    /// Takes the token out of the store, so that only one caller gets it. Nil if it is unknown, used or expired.
    package func take(_ authOTT: String, at now: Moment) async throws -> AuthToken? {
        try await take(authOTT, leavingBrowsers: false, at: now)?.token
    }

    /// Takes the token as ``take(_:at:)`` does. With `leavingBrowsers` the token of a login for a browser is returned,
    /// but stays in the store; `isLeft` is then true.
    func take(
        _ authOTT: String, leavingBrowsers: Bool, at now: Moment
    ) async throws -> (token: AuthToken, isLeft: Bool)? {
        let key = AuthToken.key(authOTT)
        let change = TakeToken(
            key: key, keys: [known.key(key), place(key)], leavesBrowsers: leavingBrowsers, now: now)
        guard let taken = try await known.store.perform(change, at: now, .durable), now < taken.token.expires else {
            return nil
        }
        return taken
    }

    /// The slot in which the token is if its ID is unregistered.
    private func place(_ key: String) -> ItemKey { unknown.key(slots.key(Array(key.utf8))) }
}

private struct SaveToken: NamedChange {
    static let name = "save"

    let key: ItemKey
    let token: AuthToken
    let end: Moment
    let challenges: ItemKey
    /// The values y of the used challenges. They tell which of the stored challenges to delete.
    let used: [[UInt8]]

    var keys: [ItemKey] { used.isEmpty ? [key] : [key, challenges] }

    func run(_ items: inout Items) throws {
        try Table<AuthToken>.change(&items[key]) { $0 = .init(token, expires: end) }
        guard !used.isEmpty else { return }
        try Table<LiveChallenges>.change(&items[challenges]) { entry in
            _ = entry?.value.apply(.delete(used))
            if entry?.value.challenges.isEmpty ?? false { entry = nil }
        }
    }

    func blindForm() throws -> BlindForm<Void>? {
        let item = try Table<AuthToken>.item(.init(token, expires: end))
        let step = LiveChallenges.Step.delete(used)
        return BlindForm(
            [.put(key, item)] + (used.isEmpty ? [] : [.append(challenges, step.packed, otherwise: nil)]),
            readsItems: false
        ) { _ in () }
    }
}

/// Takes a token out of the table for known IDs or the one for unknown IDs, so that of several callers only one gets
/// it. With `leavesBrowsers`, an unexpired token of a login for a browser is returned but stays.
private struct TakeToken: NamedChange {
    static let name = "take"

    let key: String
    let keys: [ItemKey]
    let leavesBrowsers: Bool
    let now: Moment

    func run(_ items: inout Items) throws -> (token: AuthToken, isLeft: Bool)? {
        for place in keys {
            guard let item = items[place] else { continue }
            let token = try AuthToken(stored: item.value)
            // The slot may contain another token.
            guard token.key == key else { continue }
            let isLeft = leavesBrowsers && token.isForBrowser && now < token.expires
            if !isLeft { items[place] = nil }
            return (token, isLeft)
        }
        return nil
    }

    /// Deletes the token wherever it is. With `leavesBrowsers`, deletes only tokens that are not for browsers, and looks
    /// for the others.
    func blindForm() -> BlindForm<(token: AuthToken, isLeft: Bool)?>? {
        let beginning = AuthToken.beginning(key, isForBrowser: leavesBrowsers ? false : nil)
        let takes = keys.map { BlindWrite.take($0, beginning: beginning) }
        return BlindForm(takes + (leavesBrowsers ? keys.map { .look($0) } : [])) { [key, now] results in
            for (number, result) in results.enumerated() {
                guard let result else { continue }
                let token = try AuthToken(stored: result.item.value)
                let isLeft = number >= takes.count
                // The slot may contain another token, and one that has expired is of no use.
                if token.key == key, !isLeft || now < token.expires {
                    let taken: (token: AuthToken, isLeft: Bool)? = (token, isLeft)
                    return .some(taken)
                }
            }
            return .some(nil)
        }
    }
}

/// A login with a right PIN about which the relying party has not decided yet.
struct PendingLogin: Codable, Storable {
    /// "0" for a login on the same device, else the name of the waiting browser.
    var wid: String
    /// The outcome if the relying party agrees and adds nothing.
    var outcome: WaitingBrowser.Outcome
}

/// The logins that wait for the relying party's decision, by their one-time tokens.
struct PendingLogins: Sendable {
    private let table: Table<PendingLogin>
    private let seconds: Int

    init(in store: any Store, seconds: Int) {
        table = Table("login", in: store)
        self.seconds = seconds
    }

    func add(_ login: PendingLogin, authOTT: String, at now: Moment) async throws -> Bool {
        try await table.create(AuthToken.key(authOTT), login, expires: now.adding(seconds: seconds), at: now)
    }

    /// Takes the login out of the store, so that only one caller gets it. Nil if there is none.
    func take(authOTT: String, at now: Moment) async throws -> PendingLogin? {
        try await table.take(AuthToken.key(authOTT), at: now)
    }
}
