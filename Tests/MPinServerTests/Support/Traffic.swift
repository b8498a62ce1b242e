import Foundation
import Synchronization

/// The secrets that a test has sent and received: every M-Pin ID, token, share, point and signature is a long piece of
/// hex, every user id here a mail address.
final class Traffic: Sendable {
    private let secrets = Mutex<Set<String>>([])

    func add(_ target: String, _ body: Data, _ answer: Data) {
        for text in [target, String(decoding: body, as: UTF8.self), String(decoding: answer, as: UTF8.self)] {
            let found = text.split { !$0.isLetter && !$0.isNumber && !"@._%+-".contains($0) }
                .filter { $0.contains("@") || ($0.utf8.count >= 32 && $0.allSatisfy(\.isHexDigit)) }
            secrets.withLock { $0.formUnion(found.map(String.init)) }
        }
    }

    var count: Int { secrets.withLock(\.count) }

    /// Those that stand in `log`.
    func found(in log: String) -> [String] {
        let words = Set(log.split { !$0.isLetter && !$0.isNumber && !"@._%+-".contains($0) }.map(String.init))
        return secrets.withLock { secrets in secrets.filter { words.contains($0) } }
    }
}
