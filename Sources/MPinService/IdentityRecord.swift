import MPinSecrets
package import MPinStore
import MPinWire

/// An identity that this server has registered, and its count of wrong PINs. The record contains no secret.
package struct IdentityRecord: Storable, Equatable {
    /// The M-Pin ID in hex; for an unregistered ID its padded key.
    package var mpinID: String
    /// The user id. If the M-Pin ID does not tell that a project's back end has verified the user, it is ``UserKey/text``:
    /// that of an identity of an older version, which was found to be of such a user.
    package var userID: String
    /// The id of the master secret from which the identity's client secret was made.
    package var keyID: String
    package var registered: Moment
    /// Wrong PINs since the last right one, or since the end of the last temporary block.
    package var attempts = 0
    /// The ids of the attempts in progress. An attempt that a version before 1.1.0 reserved has the id 0.
    package var open: [Int64] = []
    /// Wrong PINs since the last right one.
    package var failuresSinceSuccess = 0
    /// The number of logins since the last right PIN that were refused without being judged.
    package var refused = 0
    /// When a login was last begun.
    package var lastAttempt: Moment?
    package var blockedUntil: Moment?
    /// Whether the identity is blocked until the operator unblocks it.
    package var blocked = false
    /// Whether the operator has revoked the identity, which is permanent.
    package var revoked = false
    /// Whether a PIN of the identity was right at least once. Then its shares are no longer handed out.
    package var isProven = false
    /// The attempt with which the present block began. A positive number is the id of an attempt whose end began the
    /// block. A negative number is minus the id of an attempt whose reservation began it. 0 means that the attempt is
    /// not known. ``Reason`` has the others.
    package var blockedBy: Int64 = 0
    /// SHA-256 of the identity's public key, 32 bytes; zeros if it has no key pair.
    package var publicKeyHash = Self.noPublicKey

    /// Whether the operator wants the device to renew its secret at its next login, if its wire can do so.
    package var mustRenew = false
    /// SHA-256 of the M-Pin ID that has taken this one's place, 32 bytes; zeros if none has. The identity can then never
    /// log in again, but its sessions last as long as those of the other one.
    package var successor = Self.noSuccessor

    /// The key with which the device renews its secret and keeps its M-Pin ID. It takes the place of the other one with
    /// the first login that uses it, because the device may never get its new secret.
    package var renewal = Renewal.none

    /// A key that is to take the place of another one.
    package struct Renewal: Sendable, Equatable {
        /// SHA-256 of the public key, 32 bytes; zeros for none.
        package let publicKeyHash: [UInt8]
        /// The id of the master secret.
        package let keyID: String

        package init(publicKeyHash: [UInt8], keyID: String) {
            self.publicKeyHash = publicKeyHash
            self.keyID = keyID
        }

        /// Its key id is as long as that of most others.
        package static let none = Renewal(publicKeyHash: IdentityRecord.noPublicKey, keyID: "0")
    }

    package static let noPublicKey = [UInt8](repeating: 0, count: SHA256.size)
    package static let noSuccessor = [UInt8](repeating: 0, count: SHA256.size)

    package var user: UserKey { UserKey(userID, ofIdentity: mpinID) }

    /// Whether a renewed identity has taken this one's place.
    package var isReplaced: Bool { successor != Self.noSuccessor }
    /// Whether the identity can never log in again.
    package var hasEnded: Bool { revoked || isReplaced }

    /// What ``blockedBy`` is for a block that no attempt began. No attempt has these numbers, because ids of attempts are
    /// random and positive. Versions that know no suspensions take one for a block.
    private enum Reason {
        static let operatorsBlock = Int64.min
        /// The user is suspended, and the identity itself is not blocked.
        static let suspension = Int64.min + 1
        /// The user is suspended, and the operator has blocked the identity.
        static let suspensionAndBlock = Int64.min + 2
        /// The user is suspended, and wrong PINs have blocked the identity until the operator unblocks it.
        static let suspensionAndWrongPINs = Int64.min + 3
    }

    package init(mpinID: String, userID: String, keyID: String, registered: Moment) {
        self.mpinID = mpinID
        self.userID = userID
        self.keyID = keyID
        self.registered = registered
    }
}

/// An attempt that was reserved by appending it to the bytes of a record (``BlindForm``), with the rules by which the server
/// that appended it reserves attempts.
struct AppendedAttempt: Packable {
    let id: Int64
    let policy: AttemptPolicy
    let now: Moment

    init(id: Int64, policy: AttemptPolicy, now: Moment) {
        self.id = id
        self.policy = policy
        self.now = now
    }

    init(packed members: inout Unpacker) throws {
        (id, now) = (try members.number(), try members.moment())
        var policy = AttemptPolicy()
        policy.maxAttempts = try members.count()
        policy.maxFailures = try members.count()
        policy.lostSeconds = try members.count()
        let seconds = try members.count()
        policy.block = try members.flag() ? .permanent : .temporary(seconds: seconds)
        self.policy = policy
    }

    func pack(into members: inout Packer) {
        members.put(id)
        members.put(now)
        for number in [policy.maxAttempts, policy.maxFailures, policy.lostSeconds] { members.put(number) }
        if case .temporary(let seconds) = policy.block { members.put(seconds) } else { members.put(0) }
        members.put(policy.block == .permanent)
    }

    /// The attempt in packed form, to be appended.
    var packed: [UInt8] {
        var members = Packer(appendedWith: 64)
        pack(into: &members)
        return members.bytes
    }
}

extension IdentityRecord {
    package init(stored bytes: [UInt8]) throws {
        guard var members = try Unpacker(bytes, version: 1) else {
            self = try JSON.decode(RecordInJSON.self, from: bytes.span).record
            return
        }
        try self.init(packed: &members)
        while !members.isAtEnd { _ = reserve(try members.value(AppendedAttempt.self)) }
    }

    /// Reads a record whose last attempt was appended. Returns also what came of this attempt.
    static func withLastAttempt(
        stored bytes: [UInt8]
    ) throws -> (record: IdentityRecord, reservation: Reservation, block: NewBlock?) {
        guard var members = try Unpacker(bytes, version: 1) else { throw Unpacker.foreign }
        var record = try IdentityRecord(packed: &members)
        var last = (Reservation.refused(.busy), NewBlock?.none)
        repeat { last = record.reserve(try members.value(AppendedAttempt.self)) } while !members.isAtEnd
        return (record, last.0, last.1)
    }

    /// Reserves an attempt. Returns also the block that has begun.
    mutating func reserve(_ attempt: AppendedAttempt) -> (Reservation, NewBlock?) {
        let earlier = self
        let reservation = reserve(attempt.id, attempt.policy, at: attempt.now)
        return (reservation, block(by: -attempt.id, since: earlier))
    }

    private init(packed members: inout Unpacker) throws {
        mpinID = try members.text()
        userID = try members.text()
        keyID = try members.text()
        registered = try members.moment()
        attempts = try members.count()
        failuresSinceSuccess = try members.count()
        refused = try members.count()
        lastAttempt = try members.optionalMoment()
        blockedUntil = try members.optionalMoment()
        blocked = try members.flag()
        revoked = try members.flag()
        isProven = try members.flag()
        for _ in 0..<(try members.count()) { open.append(try members.number()) }
        if !members.isAtEnd { blockedBy = try members.number() }
        if !members.isAtEnd { publicKeyHash = try members.octets() }
        if !members.isAtEnd { (mustRenew, successor) = (try members.flag(), try members.octets()) }
        if !members.isAtEnd {
            renewal = Renewal(publicKeyHash: try members.octets(), keyID: try members.text())
        }
    }

    /// Whether the bytes are a packed record with all members, as this version writes it. Attempts can be appended only
    /// to such a record.
    static func isComplete(_ bytes: [UInt8]) -> Bool {
        guard var members = try? Unpacker(bytes, version: 1), (try? IdentityRecord(packed: &members)) != nil else {
            return false
        }
        return bytes.count >= (try? IdentityRecord(stored: bytes).stored().count) ?? .max
    }

    /// The first bytes of every stored record with this ``mpinID``.
    static func beginning(_ mpinID: String) -> [UInt8] {
        var members = Packer(version: 1, capacity: 512)
        members.put(mpinID)
        return members.bytes
    }

    /// The length depends on the number of attempts in progress, but not on the counts and flags. Each login reads and
    /// writes a record twice, and the time for it must not reveal how earlier logins ended.
    package func stored() throws -> [UInt8] {
        var members = Packer(version: 1, capacity: 512)
        for text in [mpinID, userID, keyID] { members.put(text) }
        members.put(registered)
        for count in [attempts, failuresSinceSuccess, refused] { members.put(count) }
        members.put(lastAttempt)
        members.put(blockedUntil)
        for mark in [blocked, revoked, isProven] { members.put(mark) }
        members.put(open.count)
        for id in open { members.put(id) }
        members.put(blockedBy)
        members.put(publicKeyHash)
        members.put(mustRenew)
        members.put(successor)
        members.put(renewal.publicKeyHash)
        members.put(renewal.keyID)
        return members.bytes
    }
}

/// A record as versions before 1.1.0 wrote it. Members that were added later, or that had their initial value, may be
/// missing.
private struct RecordInJSON: Decodable {
    let mpinID: String
    let userID: String
    let keyID: String
    let registered: Moment
    let attempts: Int?
    let inProgress: Int?
    let failuresSinceSuccess: Int?
    let refused: Int?
    let lastAttempt: Moment?
    let blockedUntil: Moment?
    let blocked: Bool?
    let revoked: Bool?
    let isProven: Bool?

    var record: IdentityRecord {
        var record = IdentityRecord(
            mpinID: mpinID, userID: UserID.normal(userID), keyID: keyID, registered: registered)
        record.attempts = attempts ?? 0
        record.open = Array(repeating: 0, count: min(max(0, inProgress ?? 0), 1000))
        record.failuresSinceSuccess = failuresSinceSuccess ?? 0
        record.refused = refused ?? 0
        record.lastAttempt = lastAttempt
        record.blockedUntil = blockedUntil
        record.blocked = blocked ?? false
        record.revoked = revoked ?? false
        record.isProven = isProven ?? false
        return record
    }
}

extension IdentityRecord {
    /// Reserves one attempt before anything is judged, so that proofs that come at the same time cannot exceed the
    /// number of wrong PINs that the policy allows. `id` is random; if it is reserved already, nothing changes.
    package mutating func reserve(_ id: Int64, _ policy: AttemptPolicy, at now: Moment) -> Reservation {
        guard !open.contains(id) else { return .granted }
        countLost(policy, at: now)
        endBlock(at: now)
        let refusal = refusal(policy, at: now)
        guard refusal != nil || attempts + open.count < policy.maxAttempts else { return .refused(.busy) }
        lastAttempt = now
        if let refusal { return .refused(refusal) }
        open.append(id)
        return .granted
    }

    /// Ends an attempt and returns the verdict, which the caller ignores for ``Settlement/refused`` and
    /// ``Settlement/notJudged``. An attempt that was settled before, or was counted as lost, is not counted again.
    package mutating func settle(
        _ id: Int64, _ settlement: Settlement, _ policy: AttemptPolicy, at now: Moment
    ) -> Verdict {
        let isOpen = open.contains(id)
        open.removeAll { $0 == id }
        switch settlement {
        case .right, .renewed:
            isProven = true
            if case .renewed(let key) = settlement, renewal.publicKeyHash == key { endRenewal() }
            // A block that has begun since the reservation stays, although the PIN is right.
            if isOpen, !blocked, blockedUntil == nil { (attempts, failuresSinceSuccess, refused) = (0, 0, 0) }
            return hasEnded ? .revoked : .right
        case .wrong: if isOpen { count(1) }
        case .refused: refused += 1
        case .notJudged: break
        }
        return refusal(policy, at: now) ?? .wrong(left: attemptsLeft(policy))
    }

    /// Replaces the key by the one of the renewal.
    private mutating func endRenewal() {
        guard renewal != .none else { return }
        (publicKeyHash, keyID, mustRenew, renewal) = (renewal.publicKeyHash, renewal.keyID, false, .none)
    }

    private func attemptsLeft(_ policy: AttemptPolicy) -> Int {
        let left = policy.maxAttempts - attempts
        return max(0, policy.block == .permanent ? left : min(left, policy.maxFailures - failuresSinceSuccess))
    }

    /// The block that has begun since the record was `earlier`; nil if none has.
    package func block(since earlier: IdentityRecord) -> NewBlock? {
        if blocked { return earlier.blocked ? nil : NewBlock(until: nil) }
        return blockedUntil == earlier.blockedUntil ? nil : blockedUntil.map { NewBlock(until: $0) }
    }

    /// The block that has begun with `change` since the record was `earlier`; nil if none has. If the answer to a change was
    /// lost, the change runs again and finds its own block in `earlier`; that block is returned, too. `change` has the
    /// form of ``blockedBy``.
    package mutating func block(by change: Int64, since earlier: IdentityRecord) -> NewBlock? {
        if let block = block(since: earlier) {
            blockedBy = change
            return block
        }
        guard blockedBy == change else { return nil }
        return blocked ? NewBlock(until: nil) : blockedUntil.map { NewBlock(until: $0) }
    }

    /// Whether no right PIN can log the identity in now, unless the operator allows it again.
    package var isBarred: Bool { hasEnded || isRefusedByOperator }

    /// Whether the operator, and not wrong PINs, refuses the identity. Then its sessions have no effect either.
    package var isRefusedByOperator: Bool { isBlockedByOperator || isSuspended }

    /// Whether the operator has blocked the identity.
    package var isBlockedByOperator: Bool {
        blocked && (blockedBy == Reason.operatorsBlock || blockedBy == Reason.suspensionAndBlock)
    }

    /// Blocks the identity until the operator unblocks it.
    package mutating func blockByOperator() {
        blockedBy = isSuspended ? Reason.suspensionAndBlock : Reason.operatorsBlock
        (blocked, blockedUntil) = (true, nil)
    }

    /// Resets the count of wrong PINs and ends a block. Attempts in progress are counted when they end. A suspension of the
    /// user stays.
    package mutating func unblock(at now: Moment) {
        countLost(AttemptPolicy(), at: now)
        (attempts, failuresSinceSuccess, refused) = (0, 0, 0)
        (blocked, blockedUntil, blockedBy) = isSuspended ? (true, nil, Reason.suspension) : (false, nil, 0)
    }

    /// Whether the identity has the mark of a suspended user (``Suspensions``).
    package var isSuspended: Bool { blocked && (Reason.suspension...Reason.suspensionAndWrongPINs).contains(blockedBy) }

    /// Marks the identity as that of a suspended user. What it is blocked for besides is kept.
    package mutating func suspend() {
        guard !isSuspended else { return }
        blockedBy =
            isBlockedByOperator
            ? Reason.suspensionAndBlock : blocked ? Reason.suspensionAndWrongPINs : Reason.suspension
        blocked = true
    }

    /// Takes the mark away. The identity is blocked as if there had been no suspension.
    package mutating func resume() {
        switch blockedBy {
        case Reason.suspension where blocked: (blocked, blockedBy) = (false, 0)
        case Reason.suspensionAndBlock: blockedBy = Reason.operatorsBlock
        case Reason.suspensionAndWrongPINs: blockedBy = 0
        default: break
        }
    }

    /// When the block of a suspended identity ends, if the suspension ends at `until` (nil: never). Nil if only the operator
    /// can end it.
    func end(ofSuspension until: Moment?) -> Moment? {
        guard let until, blockedBy == Reason.suspension else { return nil }
        return blockedUntil.map { max($0, until) } ?? until
    }

    /// The verdict that every login gets now, whatever its PIN; nil if proofs are judged. If the number of wrong PINs
    /// has reached a limit of the policy, a block begins first.
    private mutating func refusal(_ policy: AttemptPolicy, at now: Moment) -> Verdict? {
        if attempts >= policy.maxAttempts, !blocked, blockedUntil == nil {
            switch policy.block {
            case .permanent: blocked = true
            case .temporary(let seconds): blockedUntil = now.adding(seconds: seconds)
            }
        }
        if policy.block != .permanent, failuresSinceSuccess >= policy.maxFailures { blocked = true }
        if hasEnded { return .revoked }
        if blocked { return .blocked(until: nil) }
        return blockedUntil.map { .blocked(until: $0) }
    }

    /// Counts attempts in progress as wrong if their process must have ended, because they may have been judged.
    private mutating func countLost(_ policy: AttemptPolicy, at now: Moment) {
        guard !open.isEmpty, let lastAttempt, lastAttempt.adding(seconds: policy.lostSeconds) < now else { return }
        count(open.count)
        open = []
    }

    private mutating func endBlock(at now: Moment) {
        guard let blockedUntil, blockedUntil <= now else { return }
        self.blockedUntil = nil
        attempts = 0
    }

    private mutating func count(_ wrong: Int) {
        attempts += wrong
        failuresSinceSuccess += wrong
    }
}
