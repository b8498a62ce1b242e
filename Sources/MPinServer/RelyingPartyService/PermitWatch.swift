import Logging
import MPinCrypto
import MPinSecrets
import NIOConcurrencyHelpers
import ServiceLifecycle

/// Whether the D-TAs give time permits that open something.
///
/// With a wrong share of a permit every right PIN counts as a wrong one, and nothing in the login shows whose fault it is.
/// So each D-TA is asked at start and now and then for the permit of a random identity, on the way that clients take, and
/// the share is held against that D-TA's share of the server secret.
final class PermitWatch: Sendable {
    /// What a D-TA has shown.
    private enum Verdict {
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

    private let authorities: [TrustAuthorityClient]
    private let ring: ServerKeyRing
    private let config: RelyingPartyServiceConfig
    private let logger: Logger
    private let states: NIOLockedValueBox<[State]>

    init(
        _ authorities: [TrustAuthorityClient], ring: ServerKeyRing, config: RelyingPartyServiceConfig, logger: Logger
    ) {
        self.authorities = authorities
        self.ring = ring
        self.config = config
        self.logger = logger
        states = NIOLockedValueBox(authorities.map { _ in State() })
    }

    var isRight: Bool { states.withLockedValue { $0.allSatisfy { !$0.isWrong } } }

    /// Nothing may be judged while a right PIN would be called a wrong one.
    func requireRight() throws(APIError) {
        guard isRight else { throw .permitsWrong }
    }

    /// Asks all D-TAs at the same time.
    func check() async {
        await withTaskGroup(of: Void.self) { group in
            for place in authorities.indices {
                group.addTask { await self.note(await self.ask(place), place) }
            }
        }
    }

    /// For one identity under each master secret that is in use.
    private func ask(_ place: Int) async -> Verdict {
        do {
            for secret in ring.secretsInUse where secret.context != nil {
                let hash = try randomBytes(MPinSize.hash)
                let date = config.clock().day
                let share = try await authorities[place].permitShareForClient(hash, keyID: secret.keyID, date: date)
                // An old D-TA gives that of its own day, which may have begun meanwhile.
                let dates = authorities[place].legacy == nil ? [date] : [date, config.clock().day]
                guard dates.contains(where: { secret.isPermit(share, date: $0, hash: hash, of: place) }) else {
                    return .wrong
                }
            }
            return .right
        } catch let answer as TrustAuthorityClient.Unusable where answer.status == 200 { return .wrong } catch {
            return .none(error)
        }
    }

    private func note(_ verdict: Verdict, _ place: Int) async {
        let name = authorities[place].name
        let before = states.withLockedValue { states in
            let before = states[place]
            switch verdict {
            case .right: states[place] = State()
            case .wrong: states[place] = State(isWrong: true)
            case .none: states[place].isSilent = true
            }
            return before
        }
        switch verdict {
        case .right where before.isWrong:
            config.audit.record(.permits(of: name, areRight: true))
            logger.notice("the time permits are right again", metadata: ["of": "\(name)"])
        case .wrong where !before.isWrong:
            config.audit.record(.permits(of: name, areRight: false))
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
    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: .seconds(self.config.limits.permitCheckSeconds))
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
