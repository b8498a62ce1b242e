import Synchronization

/// The access tokens that were signed or verified here last, by their hashes. A client that has just got a token asks
/// for the claims of its user with it; to verify the signature again would take longer than all the rest of the answer.
final class KnownTokens: Sendable {
    /// The largest number of tokens. When it is reached, all are forgotten.
    private static let most = 256

    private let known = Mutex<[[UInt8]: JWT.Claims]>([:])

    /// Remembers a token, by its hash, with its claims. Its signature must be right.
    func add(_ hash: [UInt8], _ claims: JWT.Claims) {
        known.withLock { known in
            if known.count >= Self.most { known.removeAll(keepingCapacity: true) }
            known[hash] = claims
        }
    }

    /// Returns the claims of the token with this hash. Nil if the token is not known, which does not mean that it is wrong.
    func claims(of hash: [UInt8]) -> JWT.Claims? { known.withLock { $0[hash] } }

    /// Forgets all tokens. It is called when a key is withdrawn, because the key's tokens are not valid any more.
    func forget() { known.withLock { $0.removeAll() } }
}
