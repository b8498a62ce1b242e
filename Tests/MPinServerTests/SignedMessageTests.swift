import MPinSecrets
import MPinServer
import XCTest

/// Messages between the parts: unambiguous, each good for its purpose, key and fields only.
final class SignedMessageTests: XCTestCase {
    func testEveryKindEveryFieldAndEveryBoundaryChangesTheSignature() throws {
        let key = try SecretBytes.random(count: 32)
        let messages: [SignedMessage] = [
            .serverSecret(appID: "ab", expires: "c"), .serverSecret(appID: "a", expires: "bc"),
            .serverSecret(appID: "abc", expires: ""), .serverSecret(appID: "", expires: "abc"),
            .clientSecret(appID: "ab", hashID: "c", hashUser: "", expires: "d"),
            .clientSecret(appID: "ab", hashID: "", hashUser: "c", expires: "d"),
            .clientSecret(appID: "ab", hashID: "c", hashUser: "d", expires: ""),
            .timePermit(hashID: "ab", date: 1), .timePermit(hashID: "ab", date: 2), .timePermit(hashID: "ab1", date: 1),
            .timePermits(hashID: "ab", count: 1, expires: ""), .timePermits(hashID: "ab", count: 11, expires: ""),
            .timePermits(hashID: "ab", count: 1, expires: "1"),
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
}
