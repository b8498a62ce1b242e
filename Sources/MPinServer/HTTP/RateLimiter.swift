import MPinSecrets
import MPinService

/// The rate limits of one process at work. What is over a limit gets 429 and `Retry-After`, whether the identity is known
/// or not.
final class RateLimiter: Sendable {
    /// Requests that share their limits.
    enum Group: String, Sendable { case register, login, access, poll, authority }

    private struct Pair: Sendable {
        let address: TokenBuckets?
        let identity: TokenBuckets?

        init(_ address: RateLimit?, _ identity: RateLimit?) {
            self.address = address.map { TokenBuckets($0) }
            self.identity = identity.map { TokenBuckets($0) }
        }
    }

    private let pairs: [Group: Pair]
    private let metrics: Metrics

    init(_ limits: RateLimits, metrics: Metrics) {
        pairs = [
            .register: Pair(limits.registerAddress, limits.registerIdentity),
            .login: Pair(limits.loginAddress, limits.loginIdentity),
            .access: Pair(limits.accessAddress, nil),
            .poll: Pair(limits.pollAddress, nil),
            .authority: Pair(limits.authorityAddress, limits.authorityIdentity),
        ]
        self.metrics = metrics
    }

    /// Counts a request of `address`; nil, an unknown one, is not counted.
    func admit(_ group: Group, address: IPAddress?) throws(APIError) {
        guard let address, let wait = pairs[group]?.address?.take(.init(address)) else { return }
        throw refusal(group, "address", wait)
    }

    /// Counts a request for an identity. `hash`: SHA-256 of its M-Pin ID, 32 bytes.
    func admit(_ group: Group, identity hash: [UInt8]) throws(APIError) {
        guard let wait = pairs[group]?.identity?.take(.init(hash: hash)) else { return }
        throw refusal(group, "identity", wait)
    }

    /// Counts a request for a user id that has no M-Pin ID yet, by its mailbox.
    func admit(_ group: Group, user: String) throws(APIError) {
        try admit(group, identity: SHA256.hash(Array(UserID.mailbox(user).utf8)))
    }

    private func refusal(_ group: Group, _ scope: String, _ wait: Int) -> APIError {
        metrics.count(.rateLimited, [group.rawValue, scope])
        return APIError(.tooManyRequests, "Too many requests", retryAfter: max(1, wait))
    }
}
