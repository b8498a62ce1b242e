import Foundation
package import MPinSecrets
package import MPinService

/// The credentials that Milagro's RPS and D-TAs share and sign with (wire section 5).
package struct LegacyCredentials: Sendable {
    package let appID: String
    /// The bytes of the app_key string in the file.
    package let appKey: SecretBytes

    package init(appID: String, appKey: SecretBytes) {
        self.appID = appID
        self.appKey = appKey
    }

    /// Reads a credentials file of Milagro's servers, which only its owner may read.
    package static func load(_ path: String) throws -> LegacyCredentials {
        struct File: Decodable {
            let app_id: String
            let app_key: String
        }
        let text = try SecretFile.load(path, limit: 16 * 1024)
        let data = text.span.withUnsafeBufferPointer { Data($0) }
        guard let file = try? JSONDecoder().decode(File.self, from: data), !file.app_id.isEmpty,
            file.app_key.utf8.count >= 16
        else { throw StartError("\(path): an old credentials file has app_id and an app_key of 16 or more characters") }
        return LegacyCredentials(
            appID: file.app_id, appKey: SecretBytes(copying: Array(file.app_key.utf8).span))
    }
}

/// The messages that Milagro's programs sign. The fields follow each other without lengths or labels (wire section 5).
package enum LegacyMessage {
    package static func serverSecret(appID: String, expires: String) -> SignedMessage {
        joined(["serverSecret", appID, expires])
    }

    package static func clientSecret(
        appID: String, hashID: String, hashUser: String, expires: String
    ) -> SignedMessage {
        joined(["clientSecret", appID, hashID, hashUser, expires])
    }

    /// The message of a request for one day's permit or for several. It contains neither a date nor an expiry (wire
    /// section 17, defect 7).
    package static func timePermit(hashID: String) -> SignedMessage { joined([hashID]) }

    private static func joined(_ fields: [String]) -> SignedMessage {
        SignedMessage(bytes: Array(fields.joined().utf8))
    }
}
