import MPinSecrets
import MPinServer
import MPinService
import XCTest

/// Tests the signed messages between the parts. A signature must be valid only for one purpose, one key and one list of
/// fields.
final class SignedMessageTests: XCTestCase {
    func testEveryKindEveryFieldAndEveryBoundaryChangesTheSignature() throws {
        let key = try SecretBytes.random(count: 32)
        let messages: [SignedMessage] = [
            .keys(appID: "ab", expires: "c"), .keys(appID: "a", expires: "bc"),
            .serverSecret(appID: "ab", keyID: "c", expires: "d"), .serverSecret(appID: "a", keyID: "bc", expires: "d"),
            .serverSecret(appID: "abc", keyID: "", expires: "d"), .serverSecret(appID: "ab", keyID: "", expires: "cd"),
            .clientSecret(appID: "ab", keyID: "1", hashID: "c", hashUser: "", expires: "d"),
            .clientSecret(appID: "ab", keyID: "2", hashID: "c", hashUser: "", expires: "d"),
            .clientSecret(appID: "ab", keyID: "1", hashID: "", hashUser: "c", expires: "d"),
            .clientSecret(appID: "ab", keyID: "1", hashID: "c", hashUser: "d", expires: ""),
            .timePermit(keyID: "1", hashID: "ab", date: 1), .timePermit(keyID: "1", hashID: "ab", date: 2),
            .timePermit(keyID: "1", hashID: "ab1", date: 1), .timePermit(keyID: "2", hashID: "ab", date: 1),
            .timePermits(keyID: "1", hashID: "ab", count: 1, expires: ""),
            .timePermits(keyID: "1", hashID: "ab", count: 11, expires: ""),
            .timePermits(keyID: "11", hashID: "ab", count: 1, expires: ""),
            .timePermits(keyID: "1", hashID: "ab", count: 1, expires: "1"),
            .activationLink(id: "ab", expires: "c", activateKey: "d"),
            .activationLink(id: "a", expires: "bc", activateKey: "d"), .fromRPA, .fromRPS,
        ]
        let signatures = messages.map { $0.signature(key: key) }
        XCTAssertEqual(Set(signatures).count, messages.count)
        for (message, signature) in zip(messages, signatures) {
            XCTAssertEqual(messages.filter { $0.isSigned(signature, key: key) }.count, 1)
            XCTAssertTrue(message.isSigned(signature.uppercased(), key: key))
            XCTAssertFalse(message.isSigned(String(signature.dropLast(2)), key: key))
            XCTAssertFalse(message.isSigned("", key: key))
            XCTAssertFalse(message.isSigned(signature, key: try .random(count: 32)))
        }
    }

    /// Compares with the signatures of wire section 16, which Milagro's crypto library has made.
    func testTheOldFormIsByteForByteTheOldPrograms() throws {
        let key = SecretBytes(copying: Array("9d1f3a5b7c2e4f60818a9bacbdcedff0".utf8).span)
        let appID = "c0ffee00c98e11e4b69d02547e1fd4a1"
        let expires = "2026-11-21T02:37:19Z"
        let clientSecret = LegacyMessage.clientSecret(
            appID: appID, hashID: Section16.hash, hashUser: "", expires: expires)
        XCTAssertEqual(
            clientSecret.signature(key: key), "7c3db1b24e3e30b8eedb8fedc7b8691dd40387a6478f09daed96225de8c80611")
        XCTAssertEqual(
            LegacyMessage.serverSecret(appID: appID, expires: expires).signature(key: key),
            "031bff9f23bb2de8a543000682bee3c80d23cf7116be49cfb6d6e8234c6cf348")
        XCTAssertEqual(
            LegacyMessage.timePermit(hashID: Section16.hash).signature(key: key),
            "fe68eb4950d82e48a3bbb38e7b319b41b170439393f14d061e1f7723ec616b7a")
    }
}
