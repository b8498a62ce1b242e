import Foundation
import MPinSecrets
import MPinService

/// The operator's list of users who may not log in any more: a user id or an M-Pin ID in hex on each line, read anew each
/// time. Lines end with LF or CRLF and with nothing else, or a character in the middle of a name would hide it. Neither
/// case nor Unicode form nor blanks around a line count: to take too much away is the safe side.
package struct RevokedUsers: Sendable {
    /// Nil: there is no list.
    private let file: String?

    package init(file: String?) { self.file = file }

    /// Whether the list has `mpinID`, in hex, or `user`. Throws where it cannot be read: then nobody may log in.
    package func contains(_ mpinID: String, user: String) throws -> Bool {
        guard let file else { return false }
        let names = [mpinID, user].map { Self.folded($0) }
        let lines = try PlainFile.text(file).utf8.split(separator: UInt8(ascii: "\n"))
        return lines.contains { names.contains(Self.folded(String(Substring($0)))) }
    }

    /// Control characters, too: a line may end with CR, and some editors begin a file with a mark that nobody sees.
    private static func folded(_ text: String) -> String {
        UserID.normal(text.trimmingCharacters(in: .whitespaces.union(.controlCharacters)).lowercased())
    }
}
