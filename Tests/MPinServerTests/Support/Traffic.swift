import Foundation
import MPinSecrets
import Synchronization
import XCTest

/// The secrets that a test has sent and received. They are recognised by their form: M-Pin IDs, tokens, shares, points,
/// cookies and signatures are long pieces of hex, and user ids in these tests are mail addresses.
final class Traffic: Sendable {
    private let secrets = Mutex<Set<String>>([])
    /// The hashes of M-Pin IDs with which the test itself has asked D-TAs.
    private let hashIDs = Mutex<Set<String>>([])

    func add(_ target: String, _ headers: [String: String], _ body: Data, _ answer: Answer) {
        if let hashID = target.firstMatch(of: /[?&]hash_mpin_id=([0-9a-f]{64})/)?.1 {
            hashIDs.withLock { _ = $0.insert(String(hashID)) }
        }
        let texts = [target, String(decoding: body, as: UTF8.self), answer.text, answer.headers["set-cookie"] ?? ""]
        for text in texts + headers.values {
            let found = text.split { !$0.isLetter && !$0.isNumber && !"@._%+-".contains($0) }
                .filter { $0.contains("@") || ($0.utf8.count >= 32 && $0.allSatisfy(\.isHexDigit)) }
            secrets.withLock { $0.formUnion(found.map(String.init)) }
        }
    }

    var count: Int { secrets.withLock(\.count) }

    /// Returns the secrets that `log` contains.
    func found(in log: String) -> [String] {
        let words = Set(log.split { !$0.isLetter && !$0.isNumber && !"@._%+-".contains($0) }.map(String.init))
        return secrets.withLock { secrets in secrets.filter { words.contains($0) } }
    }

    /// Checks that a log contains no secret and no query.
    func assertSilent(_ log: String) {
        for secret in found(in: log) {
            XCTFail("\(secret) stands in the log: \(log.split(separator: "\n").first { $0.contains(secret) } ?? "")")
        }
        for name in ["regOTT=", "signature=", "hash_mpin_id=", "mpin_id=", "&s=", "?i="] where log.contains(name) {
            XCTFail("a query string stands in the log: \(name)")
        }
    }

    /// Checks that an audit log contains no secret. It may contain users, and hashes of M-Pin IDs, also with their public
    /// keys, which name devices.
    func assertSilent(audit: String) {
        let named = found(in: audit).filter { !$0.contains("@") }
        let texts = secrets.withLock { $0 }.compactMap { Hex.decode($0) }
        let (ids, keys) = (texts.filter { $0.first == UInt8(ascii: "{") }, texts.filter { $0.count == 128 })
        let hashes = (texts + ids.flatMap { id in keys.map { id + $0 } }).map { Hex.encode(SHA256.hash($0)) }
        let known = hashIDs.withLock { $0 }.union(hashes)
        for secret in Set(named).subtracting(known) { XCTFail("\(secret) stands in the audit log") }
    }
}
