import MPinSecrets
import MPinService
import MPinStore

/// Applies the rate limits. Requests of one address are counted in this process, requests for one identity in the
/// counters that the operator has configured. A request above a limit gets 429 and `Retry-After`, whether the identity
/// is known or not.
final class RateLimiter: Sendable {
    /// A group of requests that share their limits.
    enum Group: String, Sendable { case register, login, access, poll, authority, token, admin, device, push, other }

    private let addresses: [Group: TokenBuckets]
    private let identities: [Group: RateLimit]
    /// Whether callers have a share of the stores.
    private let hasShares: Bool
    private let counters: any Counters
    private let metrics: Metrics

    init(_ limits: RateLimits, counters: any Counters, metrics: Metrics) {
        let addresses: [Group: RateLimit?] = [
            .register: limits.registerAddress, .login: limits.loginAddress, .access: limits.accessAddress,
            .poll: limits.pollAddress, .authority: limits.authorityAddress, .token: limits.tokenAddress,
            .admin: limits.adminAddress, .device: limits.deviceAddress, .other: limits.otherAddress,
        ]
        let identities: [Group: RateLimit?] = [
            .register: limits.registerIdentity, .login: limits.loginIdentity, .authority: limits.authorityIdentity,
            .token: limits.tokenClient, .push: limits.pushUser,
        ]
        self.addresses = addresses.compactMapValues { $0.map { TokenBuckets($0) } }
        self.identities = identities.compactMapValues { $0 }
        hasShares = limits.memoryShares
        self.counters = counters
        self.metrics = metrics
    }

    /// Counts a request of `address`. A request of an unknown address (nil) is not counted.
    func admit(_ group: Group, address: IPAddress?) throws(APIError) {
        guard let address, let wait = addresses[group]?.take(.init(address)) else { return }
        throw refusal(group, "address", wait)
    }

    /// Counts a request for an identity. `hash`: SHA-256 of its M-Pin ID, 32 bytes.
    func admit(_ group: Group, identity hash: [UInt8]) async throws {
        guard let limit = identities[group] else { return }
        guard let wait = try await counters.admit(group.rawValue, hash, limit) else { return }
        throw refusal(group, "identity", wait)
    }

    /// Counts a request for a user id that has no M-Pin ID yet. All spellings of one mail address count together.
    func admit(_ group: Group, user: String) async throws {
        try await admit(group, identity: SHA256.hash(Array(UserID.mailbox(user).utf8)))
    }

    /// Returns the address if it has a share of the memory, otherwise nil.
    func sharer(_ address: IPAddress?) -> IPAddress? { hasShares ? address : nil }

    private func refusal(_ group: Group, _ scope: String, _ wait: Int) -> APIError {
        metrics.count(.rateLimited, [group.rawValue, scope])
        return APIError(.tooManyRequests, "Too many requests", retryAfter: max(1, wait))
    }
}

extension TokenBuckets.Key {
    init(_ address: IPAddress) { self.init(high: address.caller.high, low: address.caller.low) }
}
