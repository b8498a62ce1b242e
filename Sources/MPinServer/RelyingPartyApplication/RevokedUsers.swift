import Foundation
import MPinSecrets
import MPinService

/// The operator's list of users who may not log in any more: a user id or an M-Pin ID in hex on each line. It is read
/// each time. Only LF and CRLF end a line, so that no character in a name can hide it. Case, Unicode form and blanks
/// around a line are ignored: it is safer to refuse too many.
package struct RevokedUsers: Sendable {
    /// The path; nil if there is no list.
    private let file: String?

    package init(file: String?) { self.file = file }

    /// Whether the list contains `mpinID`, in hex, or `user`. Throws if it cannot be read; then nobody may log in.
    package func contains(_ mpinID: String, user: String) throws -> Bool {
        guard let file else { return false }
        let names = [mpinID, user].map { Self.folded($0) }
        let lines = try PlainFile.text(file).utf8.split(separator: UInt8(ascii: "\n"))
        return lines.contains { names.contains(Self.folded(String(Substring($0)))) }
    }

    /// Control characters are removed, too: a line may end with CR, and some editors begin a file with an invisible
    /// mark.
    private static func folded(_ text: String) -> String {
        UserID.normal(text.trimmingCharacters(in: .whitespaces.union(.controlCharacters)).lowercased())
    }
}
