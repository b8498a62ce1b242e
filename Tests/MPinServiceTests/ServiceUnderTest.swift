import Logging
import MPinCrypto
import MPinSecrets
import MPinService
import MPinStore
import StoreEngines
import Synchronization

/// The service with two D-TAs and stores in memory, without HTTP, messages or files.
struct ServiceUnderTest {
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Records the verdicts that the service reports, and lets a test set the service's clock and act between a judgement
    /// and what follows.
    final class Surroundings: Sendable {
        private let verdicts = Mutex<[Verdict]>([])
        private let begun = Mutex<[Moment?]>([])
        private let losses = Mutex(0)
        private let separated = Mutex<[(identity: String, isGuess: Bool)]>([])
        private let ahead = Mutex(0)
        private let act = Mutex<@Sendable () -> Void>({})

        func note(_ event: ServiceEvent) {
            if case .judged = event { act.withLock { $0 }() }
            if case .loginLost = event { losses.withLock { $0 += 1 } }
            if case .login(_, _, let verdict) = event { verdicts.withLock { $0.append(verdict) } }
            if case .blocked(_, _, let until) = event { begun.withLock { $0.append(until) } }
            if case .separated(let id, _, let isGuess) = event { separated.withLock { $0.append((id.key, isGuess)) } }
        }

        var seen: [Verdict] { verdicts.withLock { $0 } }
        /// The identities that were found to be of users of projects.
        var moved: [(identity: String, isGuess: Bool)] { separated.withLock { $0 } }
        /// The ends of the blocks that have begun.
        var blocks: [Moment?] { begun.withLock { $0 } }
        /// How many verdicts could not be kept.
        var lost: Int { losses.withLock { $0 } }
        var now: Moment { Moment.now().adding(seconds: ahead.withLock { $0 }) }

        func whenJudged(_ act: @escaping @Sendable () -> Void) { self.act.withLock { $0 = act } }
        func advance(seconds: Int) { ahead.withLock { $0 += seconds } }
    }

    let surroundings = Surroundings()
    let authorities: [FakeAuthority]
    let signals = LocalSignals()
    let service: AuthenticationService
    let durable: any Store

    /// `layer` wraps each of the two stores, for example to run every change twice. `durable` is the store that
    /// must last, and `known` the D-TAs that it knows.
    init(
        durable kept: any Store = MemoryStore(), at known: [FakeAuthority]? = nil,
        _ change: (inout ServiceRules) -> Void = { _ in },
        layer: (any Store) -> any Store = { RepeatingStore($0) }
    ) async throws {
        authorities = try known ?? [FakeAuthority(1), FakeAuthority(2)]
        var rules = ServiceRules()
        rules.usesPermits = false
        let surroundings = surroundings
        rules.clock = { surroundings.now }
        change(&rules)
        let durable = layer(kept)
        self.durable = durable
        let observer: ServiceObserver = { surroundings.note($0) }
        let ring = try await ServerKeyRing(
            ServerSecrets(
                authorities, store: durable, place: "memory", rules: rules, observer: observer, logger: Self.logger))
        service = try await AuthenticationService(
            rules: rules, activationKey: try .random(count: 32), durable: durable, shortLived: layer(MemoryStore()),
            signals: signals, keyRing: ring, permitWatch: nil, authorities: authorities, permission: nil,
            observer: observer)
    }

    /// Registers a user without a confirmation, and fetches both shares.
    func register(_ user: String, pin: String) async throws -> FakeClient {
        let started = try await service.register(application(user)) { _ in .init(isConfirmed: true) }
        let issued = try await service.issueShares(started.id, token: started.registrationToken)
        let shares = try issued.tickets.map { ticket in
            Share(index: ticket.index, try authorities[ticket.index - 1].clientSecretShare(ticket: ticket.text))
        }
        return try FakeClient(started.id, [issued.share] + shares, pin: pin)
    }

    func application(_ user: String) throws -> AuthenticationService.Application {
        try .init(
            id: nil, userID: user, mobile: 0, registrationToken: nil, activationCode: nil,
            limits: service.rules.limits)
    }

    /// Redeems a one-time token as the relying party does. Returns the answer.
    func redeem(_ token: String) async throws -> AuthenticationService.LoginReport {
        try await service.redeem(token, isOwnPage: true, outcome: .init(logoutURL: "", logoutData: nil))
    }
}
