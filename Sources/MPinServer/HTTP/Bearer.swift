import Hummingbird
import MPinSecrets
import MPinService

extension Request {
    /// 401 unless the request carries the bearer token of `message` under `key`.
    func requireBearer(_ message: SignedMessage, key: SecretBytes) throws {
        let given = headers[.authorization] ?? ""
        guard given.hasPrefix("Bearer "), message.isSigned(String(given.dropFirst(7)), key: key) else {
            throw APIError(.unauthorized, "Missing or wrong bearer token")
        }
    }
}
