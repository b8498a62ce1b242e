import Foundation
import HTTPTypes
import MPinSecrets

/// A message that this server posts to an operator's program, with the headers of Standard Webhooks 1.0.0. Their HMAC shows
/// the receiver who has sent it, and that it is new.
struct Webhook {
    /// The same in each try, so that the receiver can tell a repetition.
    let id: String
    /// When this try was made, in seconds since 1970.
    let time: String
    let body: [UInt8]

    enum Header {
        static let id = "webhook-id"
        static let time = "webhook-timestamp"
        static let signature = "webhook-signature"
    }

    /// The scheme of the signature: HMAC-SHA256.
    private static let scheme = "v1,"

    /// The value of the header `webhook-signature`: the HMAC of id, time and body, joined by full stops, in base64.
    func signature(_ key: SecretBytes) -> String {
        Self.scheme + Data(HMACSHA256.tag(signed, key: key)).base64EncodedString()
    }

    /// Whether one of the signatures in a header is right. Spaces separate them.
    func isSigned(_ header: String, _ key: SecretBytes) -> Bool {
        header.split(separator: " ").contains { signature in
            guard signature.hasPrefix(Self.scheme),
                let tag = Data(base64Encoded: String(signature.dropFirst(Self.scheme.count)))
            else { return false }
            return HMACSHA256.isValid(Array(tag), for: signed, key: key)
        }
    }

    private var signed: [UInt8] { Array("\(id).\(time).".utf8) + body }
}
