import Foundation
import MPinSecrets
import MPinService
package import MPinStore

/// The operator's list of users who may no longer log in. Each line of the file is a user id, `PROJECT/USER` for a user of a
/// project only, or an M-Pin ID in hex. The file is read each time. Only LF and CRLF end a line, so that no other character in a name can split it. All
/// spellings of a user count, and blanks around a line do not, because it is safer to refuse too many users than too few.
package struct RevokedUsers: Sendable {
    /// The path; nil if there is no list.
    private let file: String?

    package init(file: String?) { self.file = file }

    /// Whether the list contains `mpinID`, in hex, or the user. Throws if the list cannot be read; then nobody may log in.
    package func contains(_ mpinID: String, user: UserKey) throws -> Bool {
        guard let file else { return false }
        let names = [mpinID, user.userID, user.shown].map { Self.folded($0) }
        let lines = try PlainFile.text(file).utf8.split(separator: UInt8(ascii: "\n"))
        return lines.contains { names.contains(Self.folded(String(Substring($0)))) }
    }

    /// The form in which names are compared. Control characters at both ends are removed, too, because a line may end
    /// with CR, and some editors begin a file with an invisible mark.
    private static func folded(_ text: String) -> String {
        UserID.spelling(text.trimmingCharacters(in: .whitespaces.union(.controlCharacters)))
    }
}
