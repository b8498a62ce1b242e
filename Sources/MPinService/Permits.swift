package import MPinCrypto
import MPinSecrets
import MPinStore

/// Time permits. The relying party or the operator refuses them to a user who may no longer log in.
extension AuthenticationService {
    /// The time permit share of the first D-TA, and the requests for the shares of the others.
    package struct IssuedPermit: Sendable {
        package let permit: Permit
        package let share: Share
        package let tickets: [Ticket]
    }

    /// Makes today's permit.
    ///
    /// Any ID gets a permit, registered or not, so that nobody learns which IDs are registered. The permit of an
    /// unregistered ID is made in the same way, but for a hash that no ID has, so it is useless. The time is the same
    /// in all cases, too, which `make times-test` checks.
    package func issuePermit(_ id: MPinID) async throws -> IssuedPermit {
        // A wrong share must not be handed out, because clients would keep it for the rest of the day.
        try permitWatch?.requireRight()
        let now = now
        let identity = try await identities.findInEqualTime(id, at: now)
        try await requirePermission(id, identity)
        let registered = identity?.keyID ?? keys.currentID
        // If this process does not know the identity's master secret yet, it is fetched first. Clients keep a permit
        // for the day, so one from an older master secret would make all their logins of that day fail.
        let keyID = try await keyRing.keys(for: registered).servedID(registered)
        let permit = Permit(hash: id.hash, isStranger: identity == nil, keyID: keyID, date: now.day)
        guard let first = authorities.first else { throw ServiceError.noShareFromAuthority }
        let share = try await share { try await first.permitShare(permit) }
        try await keep(permit, at: now)
        observer(.permit(id, user: identity?.user.text, refusal: nil))
        return IssuedPermit(
            permit: permit, share: Share(index: first.index, share),
            tickets: authorities.dropFirst().map { Ticket(index: $0.index, text: $0.permitTicket(permit)) })
    }

    /// Throws if the operator or the relying party has taken away the user's right to log in.
    private func requirePermission(_ id: MPinID, _ identity: IdentityRecord?) async throws {
        let refusal: (any Error)?
        do {
            refusal = identity?.hasEnded == true ? ServiceError.revoked : try await permission?(id)
        } catch {
            observer(.permit(id, user: identity?.user.text, refusal: error))
            throw error
        }
        // Nothing is refused for an unregistered ID. Anybody can write another user's id into an invented M-Pin ID, and
        // must not learn the relying party's answer about that user.
        guard let refusal, let identity else { return }
        observer(.permit(id, user: identity.user.text, refusal: refusal))
        throw refusal
    }
}

/// The permit shares of the last D-TA, stored by identity and day. This replaces the permit storage of Milagro's cloud
/// service (wire section 10).
extension AuthenticationService {
    /// The share for the day `date` in hex. Nil if none is stored: the client must then ask the D-TA, as old clients
    /// always do.
    package func keptPermit(date: Int32, hash: [UInt8]) async throws -> String? {
        let now = now
        let known = try await storedPermits.read(Self.permitKey(date: date, hash: hash), at: now)
        let stranger = try await storedPermits.read(strangerKey(hash), at: now)
        let prefix = Self.permitKey(date: date, hash: hash) + "/"
        return known ?? stranger.flatMap { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil }
    }

    /// Stores the last D-TA's share until the permit's day ends, if the operator has configured that. Shares of
    /// unregistered IDs go to a fixed number of slots. If this fails, the client has to ask the D-TA.
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

    /// Checks a share before it is stored for the day. The share of an unregistered ID is useless; it is checked only
    /// so that both kinds of IDs take the same time.
    private func isRight(_ share: SecretBytes, _ permit: Permit, of authority: any Authority) -> Bool {
        keyRing.secretsInUse.first { $0.keyID == permit.keyID }?
            .isPermit(share, date: permit.date, hash: authority.holder(permit), of: authorities.count - 1) ?? false
    }

    private func strangerKey(_ hash: [UInt8]) -> String { "stranger/" + slots.key(hash) }

    private static func permitKey(date: Int32, hash: [UInt8]) -> String { "\(date)/\(Hex.encode(hash))" }
}
