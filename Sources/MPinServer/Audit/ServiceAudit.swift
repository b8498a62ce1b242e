import MPinService
import MPinStore

/// Writes the events of the service into the audit log, and counts them in the metrics.
struct ServiceAudit: Sendable {
    private let audit: Audit
    private let metrics: Metrics
    let permits: PermitAudit

    init(_ config: RelyingPartyServiceConfig, metrics: Metrics) {
        audit = config.audit
        self.metrics = metrics
        permits = PermitAudit(config)
    }

    func note(_ event: ServiceEvent) {
        switch event {
        case .judged(let start): metrics.observe(.pairingSeconds, since: start)
        case .permit(let id, let user, let refusal):
            permits.note(id, user: user, status: refusal.map(Self.status(of:)) ?? Verdict.right.status)
        case .blocked(_, _, let until): metrics.count(.blocked, [until == nil ? "permanent" : "temporary"])
        default: break
        }
        if let line = AuditEvent(event) { audit.record(line) }
    }

    /// The HTTP status of a refusal.
    fileprivate static func status(of error: any Error) -> Int {
        switch error {
        case let error as APIError: error.status.code
        case let error as ServiceError: error.spelled.status.code
        default: APIError.internalError.status.code
        }
    }
}

extension AuditEvent {
    /// The line for an event of the service; nil if the event is only counted.
    fileprivate init?(_ event: ServiceEvent) {
        switch event {
        case .registrationStarted(let id, let user, let isRestart):
            self = .registrationStarted(id, user: user, isRestart: isRestart)
        case .registrationRefused(let id, let user, let error):
            self = .registrationRefused(id, user: user, status: ServiceAudit.status(of: error))
        case .registrationConfirmed(let id, let user): self = .registrationConfirmed(id, user: user)
        case .confirmationRefused(let id, let user): self = .confirmationRefused(id, user: user)
        case .registrationDeleted(let id, let user): self = .registrationDeleted(id, user: user)
        case .registered(let id, let user, let keyID, let hash):
            self = .registered(id, user: user, keyID: keyID, secretHash: hash)
        case .login(let id, let user, let verdict): self = .login(id, user: user, status: verdict.status)
        case .loginLost(let id, let user): self = .login(id, user: user, status: APIError.storeFailed.status.code)
        case .signature(let id, let user, let verdict): self = .signature(id, user: user, status: verdict.status)
        case .blocked(let id, let user, let until): self = .blocked(id, user: user, until: until)
        case .quickCodeMade(let id, let user): self = .quickCodeMade(id, user: user)
        case .renewed(let id, let user, let successor): self = .renewed(id, user: user, by: successor)
        case .separated(let id, let user, let isGuess): self = .userMoved(id, user: user, isGuess: isGuess)
        case .keyInUse(let keyID): self = .keyInUse(keyID)
        case .permits(let authority, let areRight): self = .permits(of: authority, areRight: areRight)
        case .judged, .permit: return nil
        }
    }
}
