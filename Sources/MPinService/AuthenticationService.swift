package import MPinSecrets
package import MPinStore

/// The rules of registrations and logins, which are the same for all wire protocols: who may register, who gets shares
/// and permits, whether a PIN is right, and what follows.
package struct AuthenticationService: Sendable {
    /// Asks the relying party whether a user may still log in. Returns nil for yes, or the reason for a refusal. Throws
    /// if there is no answer.
    package typealias Permission = @Sendable (MPinID) async throws -> (any Error)?

    package let rules: ServiceRules
    package let keyRing: ServerKeyRing
    /// Checks the time permits; nil if logins need none.
    package let permitWatch: PermitWatch?
    /// The D-TAs in the order of their indices. The service itself asks the first one for shares; clients ask the
    /// others.
    let authorities: [any Authority]
    /// Signs the activation keys. Which slot an unregistered ID gets also depends on it.
    let activationKey: SecretBytes
    /// The relying party's permission to log in; nil if every user has it.
    let permission: Permission?
    let observer: ServiceObserver
    /// The checks of proofs.
    package let checks: JointChecks
    /// The slots for data of IDs that were never registered.
    let slots: Slots
    let registrations: Registrations
    let identities: Identities
    let devices: Devices
    let projects: Projects
    /// The users of projects who are the same to the OpenID clients of their project as before, when their user ids had no
    /// name space.
    package let keptNames: Set<UserKey>
    let lost: LostRegistrations
    let wrongCodes: WrongCodes
    let activationCodes: ActivationCodes
    let passwords: OneTimePasswords
    let challenges: Challenges
    let tokens: Tokens
    let browsers: WaitingBrowsers
    let pendingLogins: PendingLogins
    /// The last D-TA's permit shares in hex, by day and hash of the M-Pin ID.
    let storedPermits: Table<String>

    /// Makes the service. `durable` keeps the data that must last, `shortLived` the data that is valid for a few
    /// minutes. `shortLived` must be in memory, so that nothing that was used before a restart can be used again after
    /// it.
    package init(
        rules: ServiceRules, activationKey: SecretBytes, durable: any Store, shortLived: any Store,
        signals: any Signals, keyRing: ServerKeyRing, permitWatch: PermitWatch?, authorities: [any Authority],
        permission: Permission?, observer: @escaping ServiceObserver
    ) async throws {
        let slots = Slots(bits: rules.limits.strangerBits, key: activationKey)
        self.rules = rules
        self.activationKey = activationKey
        self.keyRing = keyRing
        self.permitWatch = permitWatch
        self.authorities = authorities
        self.permission = permission
        self.observer = observer
        checks = JointChecks(pause: rules.pause)
        self.slots = slots
        registrations = Registrations(in: durable)
        // If both stores are in this process, a crash that loses a reservation also loses the challenge and the token
        // of its login. Otherwise challenge and token could outlive the reservation, so it must be on the disk first.
        identities = Identities(
            in: durable, slots: slots, policy: rules.attempts,
            reserving: durable.isNear && shortLived.isNear ? .ordered : .durable)
        try await identities.pack(at: rules.clock())
        devices = Devices(in: durable)
        try await devices.addAll(at: rules.clock())
        projects = Projects(in: durable)
        try await UserSeparation(
            store: durable, identities: identities, devices: devices, projects: projects, observer: observer,
            now: rules.clock()
        ).run()
        let kept = try await UserSeparation.kept(in: durable).all(at: rules.clock())
        keptNames = Set(kept.map { UserKey(text: $0.key) })
        try await devices.addMailboxes(at: rules.clock())
        try await identities.suspensions.markAll(devices, at: rules.clock())
        lost = try await LostRegistrations(in: durable, at: rules.clock())
        wrongCodes = WrongCodes(in: shortLived, limit: rules.limits.wrongCodesPerDay)
        activationCodes = ActivationCodes(in: durable, counting: wrongCodes)
        passwords = OneTimePasswords(in: shortLived)
        challenges = Challenges(in: shortLived, limit: rules.limits.pass1Records)
        tokens = Tokens(in: shortLived, slots: slots)
        browsers = WaitingBrowsers(in: shortLived, signals: signals)
        pendingLogins = PendingLogins(in: shortLived, seconds: rules.limits.tokenSeconds)
        storedPermits = Table("permit", in: shortLived)
    }

    var limits: ServiceLimits { rules.limits }
    var keys: ServerKeys { keyRing.keys }
    var now: Moment { rules.clock() }

    /// Whether the operator has revoked, blocked or deleted the identity, or has suspended its user. Then its sessions and
    /// tokens have no effect.
    /// Those of an identity that was renewed last as long as those of its successor, because the user does not see the
    /// renewal. With `user`, also whether it is an identity of another user: a version before has taken users of projects
    /// for users of the server.
    package func isRevoked(_ id: MPinID, as user: UserKey? = nil) async throws -> Bool {
        var key = id.key
        while let record = try await identities.find(key: key, at: now) {
            if record.revoked || record.isRefusedByOperator || record.user != user ?? record.user { return true }
            guard record.isReplaced else { return false }
            key = Hex.encode(record.successor)
        }
        return true
    }

    func share(_ ask: () async throws -> SecretBytes) async throws -> SecretBytes {
        do { return try await ask() } catch { throw ServiceError.noShareFromAuthority }
    }
}
