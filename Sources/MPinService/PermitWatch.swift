package import Logging
import MPinCrypto
import MPinSecrets
import MPinStore
import ServiceLifecycle
import Synchronization

/// Whether the D-TAs give time permits that open something.
///
/// With a wrong share of a permit every right PIN counts as a wrong one, and nothing in the login shows whose fault it is.
/// So each D-TA is asked at start and now and then for the permit of a random identity, on the way that clients take, and
/// the share is held against that D-TA's share of the server secret.
package final class PermitWatch: Sendable {
    /// What a D-TA has shown.
    private enum Finding {
        case right
        case wrong
        /// No permit at all: then nobody has a wrong one.
        case none(any Error)
    }

    private struct State {
        var isWrong = false
        /// Whether the last question got no answer: that is said once.
        var isSilent = false
    }

    private let authorities: [any Authority]
    private let ring: ServerKeyRing
    private let rules: ServiceRules
    private let observer: ServiceObserver
    private let logger: Logger
    private let states: Mutex<[State]>

    package init(
        _ authorities: [any Authority], ring: ServerKeyRing, rules: ServiceRules,
        observer: @escaping ServiceObserver, logger: Logger
    ) {
        self.authorities = authorities
        self.ring = ring
        self.rules = rules
        self.observer = observer
        self.logger = logger
        states = Mutex(authorities.map { _ in State() })
    }

    package var isRight: Bool { states.withLock { $0.allSatisfy { !$0.isWrong } } }

    /// Nothing may be judged while a right PIN would be called a wrong one.
    func requireRight() throws(ServiceError) {
        guard isRight else { throw .unjudged(.unavailable(.permits)) }
    }

    /// Asks all D-TAs at the same time.
    package func check() async {
        await withTaskGroup(of: Void.self) { group in
            for place in authorities.indices {
                group.addTask { await self.note(await self.ask(place), place) }
            }
        }
    }

    /// For one identity under each master secret that is in use.
    private func ask(_ place: Int) async -> Finding {
        do {
            for secret in ring.secretsInUse where secret.context != nil {
                let hash = try randomBytes(MPinSize.hash)
                let date = rules.clock().day
                let permit = Permit(hash: hash, keyID: secret.keyID, date: date)
                let share = try await authorities[place].permitShareForClient(permit)
                let dates = authorities[place].givesPermitsOfToday ? [date, rules.clock().day] : [date]
                guard dates.contains(where: { secret.isPermit(share, date: $0, hash: hash, of: place) }) else {
                    return .wrong
                }
            }
            return .right
        } catch let answer as AuthorityAnswer where answer.kind == .nonsense { return .wrong } catch {
            return .none(error)
        }
    }

    private func note(_ finding: Finding, _ place: Int) async {
        let name = authorities[place].name
        let before = states.withLock { states in
            let before = states[place]
            switch finding {
            case .right: states[place] = State()
            case .wrong: states[place] = State(isWrong: true)
            case .none: states[place].isSilent = true
            }
            return before
        }
        switch finding {
        case .right where before.isWrong:
            observer(.permits(of: name, areRight: true))
            logger.notice("the time permits are right again", metadata: ["of": "\(name)"])
        case .wrong where !before.isWrong:
            observer(.permits(of: name, areRight: false))
            logger.error(
                "wrong time permits: logins get 503 until they are right again", metadata: ["of": "\(name)"])
        case .none(let error) where !before.isSilent:
            logger.warning(
                "the time permits cannot be checked", metadata: ["of": "\(name)", "error": "\(error)"])
        default: break
        }
    }
}

extension PermitWatch: Service {
    package func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: .seconds(self.rules.limits.permitCheckSeconds))
                await self.check()
            }
        }
    }
}

extension ServerSecret {
    /// Whether `share` is the one of the D-TA at that place of the permit of that day; `hash`: of the M-Pin ID, 32 bytes.
    func isPermit(_ share: SecretBytes, date: Int32, hash: [UInt8], of place: Int) -> Bool {
        guard shares.indices.contains(place) else { return false }
        let secretShare = shares[place]
        let isPermit = try? PermitCheck.isTimePermit(
            share.span, date: date, hashID: hash.span, serverSecretShare: secretShare.span)
        return isPermit == true
    }
}
