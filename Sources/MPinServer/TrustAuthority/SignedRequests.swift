import Hummingbird
import MPinCrypto
import MPinSecrets
import MPinService
import MPinStore

/// Checks whether the RPS has signed a request to this D-TA, and whether it is still valid.
struct SignedRequests: Sendable {
    let key: SecretBytes
    /// The credentials of a Milagro RPS; nil: requests with Milagro's signatures are refused.
    let legacy: LegacyCredentials?
    let limits: Limits
    let clock: Clock

    func isSigned(_ message: SignedMessage, _ request: Request) throws -> Bool {
        message.isSigned(try request.argument("signature"), key: key)
    }

    /// Throws if the signature or the time is wrong. The signature is checked first, so that only an owner of the key
    /// learns anything about the clock.
    func check(_ message: SignedMessage, _ request: Request, expires: String?) throws {
        guard try isSigned(message, request) else { throw APIError(.unauthorized, "Invalid signature") }
        try checkTime(expires)
    }

    /// Checks a request with Milagro's signature, which is refused unless `legacy` is set.
    func checkLegacy(
        _ request: Request, expires: String?, _ message: (LegacyCredentials) -> SignedMessage
    ) throws {
        let signature = try request.argument("signature")
        guard let legacy, message(legacy).isSigned(signature, key: legacy.appKey) else {
            throw APIError(.unauthorized, "Invalid signature")
        }
        try checkTime(expires)
    }

    /// Throws if `expires` has passed or is too far in the future. A message whose `expires` is nil never expires.
    private func checkTime(_ expires: String?) throws {
        guard let expires else { return }
        guard let limit = Moment(expires) else { throw APIError(.forbidden, "Unreadable argument expires") }
        let now = clock()
        guard now <= limit else { throw APIError(.requestTimeout, "Request expired") }
        guard limit <= now.adding(seconds: limits.signedAheadSeconds) else {
            throw APIError(.forbidden, "Argument expires lies too far ahead")
        }
    }
}

extension Request {
    /// A member of the query. Throws 403 if it is missing (wire section 9).
    func argument(_ name: String) throws -> String {
        guard let value = query(name) else { throw APIError(.forbidden, "Missing argument \(name)") }
        return value
    }

    /// The member `hash_mpin_id` of the query, 32 bytes. Throws 403 for anything else.
    func hashID() throws -> [UInt8] {
        guard let hash = Hex.decode(try argument("hash_mpin_id")), hash.count == MPinSize.hash else {
            throw APIError(.forbidden, "hash_mpin_id must be 64 hex digits")
        }
        return hash
    }
}
