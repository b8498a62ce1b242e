package import MPinCrypto
import MPinSecrets
import MPinStore

/// Time permits: how the relying party and the operator take the right to log in away.
extension AuthenticationService {
    /// The time permit share of the first D-TA, and what gets those of the others.
    package struct IssuedPermit: Sendable {
        package let permit: Permit
        package let share: Share
        package let tickets: [Ticket]
    }

    /// Today's permit.
    ///
    /// It works for any ID, registered or not, so that nobody learns here which ones are. What a stranger gets is made in
    /// the same way of an ID that nobody has: it fits no token. Nor does the time tell: all do the same work (`make
    /// times-test`).
    package func issuePermit(_ id: MPinID) async throws -> IssuedPermit {
        // Else clients would keep a wrong share for the rest of the day.
        try permitWatch?.requireRight()
        let now = now
        let identity = try await identities.findAlike(id, at: now)
        try await requirePermission(id, identity)
        let registered = identity?.keyID ?? keys.currentID
        // Of an older master secret it would spoil the logins of the whole day, for which clients keep it.
        let keyID = try await keyRing.keys(for: registered).servedID(registered)
        let permit = Permit(hash: id.hash, isStranger: identity == nil, keyID: keyID, date: now.day)
        guard let first = authorities.first else { throw ServiceError.noShareFromAuthority }
        let share = try await share { try await first.permitShare(permit) }
        try await keep(permit, at: now)
        observer(.permit(id, user: identity?.userID, refusal: nil))
        return IssuedPermit(
            permit: permit, share: Share(index: first.index, share),
            tickets: authorities.dropFirst().map { Ticket(index: $0.index, text: $0.permitTicket(permit)) })
    }

    /// Refuses whom the operator or the relying party has taken the right away.
    private func requirePermission(_ id: MPinID, _ identity: IdentityRecord?) async throws {
        let refusal: (any Error)?
        do {
            refusal = identity?.revoked == true ? ServiceError.revoked : try await permission?(id)
        } catch {
            observer(.permit(id, user: identity?.userID, refusal: error))
            throw error
        }
        // What the relying party says of a user is not for strangers: they can write any user id into an M-Pin ID.
        guard let refusal, let identity else { return }
        observer(.permit(id, user: identity.userID, refusal: refusal))
        throw refusal
    }
}

/// What stands in for the old cloud's permit storage: the last D-TA's shares under the name of their identity and day.
extension AuthenticationService {
    /// The share of that day in hex; nil: the client asks the D-TA, as old clients do in any case.
    package func keptPermit(date: Int32, hash: [UInt8]) async throws -> String? {
        let now = now
        let known = try await storedPermits.read(Self.permitKey(date: date, hash: hash), at: now)
        let stranger = try await storedPermits.read(strangerKey(hash), at: now)
        let prefix = Self.permitKey(date: date, hash: hash) + "/"
        return known ?? stranger.flatMap { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil }
    }

    /// Keeps the last D-TA's share until the day ends, where that is wanted; those of strangers share a fixed number of
    /// places. It is only a convenience: without it the client asks the D-TA.
    private func keep(_ permit: Permit, at now: Moment) async throws {
        let name = Self.permitKey(date: permit.date, hash: permit.hash)
        let key = permit.isStranger ? strangerKey(permit.hash) : name
        guard rules.keepsPermits, let last = authorities.last else { return }
        let kept = try await storedPermits.read(key, at: now)
        if permit.isStranger ? kept?.hasPrefix(name + "/") == true : kept != nil { return }
        guard let share = try? await last.permitShare(permit), isRight(share, permit, of: last) else { return }
        let text = permit.isStranger ? "\(name)/\(share.hex())" : share.hex()
        try await storedPermits.update(key, at: now) { entry in
            entry = .init(text, expires: Moment(startOfDay: permit.date &+ 1))
        }
    }

    /// What is kept for a whole day is looked at; that of a stranger for the sake of equal times.
    private func isRight(_ share: SecretBytes, _ permit: Permit, of authority: any Authority) -> Bool {
        keyRing.secretsInUse.first { $0.keyID == permit.keyID }?
            .isPermit(share, date: permit.date, hash: authority.holder(permit), of: authorities.count - 1) ?? false
    }

    private func strangerKey(_ hash: [UInt8]) -> String { "stranger/" + slots.key(hash) }

    private static func permitKey(date: Int32, hash: [UInt8]) -> String { "\(date)/\(Hex.encode(hash))" }
}
