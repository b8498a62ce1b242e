package import Logging
import MPinCrypto
import MPinSecrets
import MPinStore
import ServiceLifecycle
import Synchronization

/// Checks that the time permits of the D-TAs are right.
///
/// With a wrong permit share every right PIN is judged wrong, and the login does not show why. So each D-TA is asked,
/// at the start and regularly, for the permit share of a random identity, in the way that clients ask. The share is
/// checked against that D-TA's share of the server secret.
package final class PermitWatch: Sendable {
    /// The result of asking a D-TA.
    private enum Finding {
        case right
        case wrong
        /// The D-TA gave no permit. This is no reason to stop logins, because no client has got a wrong one.
        case none(any Error)
    }

    private struct State {
        var isWrong = false
        /// Whether the last request got no answer. Only the first such request is logged.
        var isUnanswered = false
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

    /// Throws while the permits of a D-TA are wrong, because a right PIN would then be judged wrong.
    func requireRight() throws(ServiceError) {
        guard isRight else { throw .unjudged(.unavailable(.permits)) }
    }

    /// Checks the permits of all D-TAs at the same time.
    package func check() async {
        await withTaskGroup(of: Void.self) { group in
            for place in authorities.indices {
                group.addTask { await self.note(await self.ask(place), place) }
            }
        }
    }

    /// Asks the D-TA at `place` for a permit share under each master secret in use, and checks the shares.
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
        } catch let answer as AuthorityFailure where answer.kind == .invalidShare { return .wrong } catch {
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
            case .none: states[place].isUnanswered = true
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
        case .none(let error) where !before.isUnanswered:
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
    /// Whether `share` is the time permit share for the day `date` and the M-Pin ID with the hash `hash` (32 bytes),
    /// from the D-TA at `place` in the list of D-TAs (from 0 on).
    func isPermit(_ share: SecretBytes, date: Int32, hash: [UInt8], of place: Int) -> Bool {
        guard shares.indices.contains(place) else { return false }
        let secretShare = shares[place]
        let isPermit = try? PermitCheck.isTimePermit(
            share.span, date: date, hashID: hash.span, serverSecretShare: secretShare.span)
        return isPermit == true
    }
}
