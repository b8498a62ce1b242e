import Foundation

/// The operator's list of users who may not log in any more: a user id or an M-Pin ID in hex on each line, read anew each
/// time. Neither case nor blanks around a line count: to take too much away is the safe side.
struct RevokedUsers: Sendable {
    /// Nil: there is no list.
    let file: String?

    /// Whether the list has `mpinID`, in hex, or `user`. Throws where it cannot be read: then nobody may log in.
    func contains(_ mpinID: String, user: String) throws -> Bool {
        guard let file else { return false }
        let names = [mpinID, user].map { Self.folded($0) }
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(whereSeparator: \.isNewline)
        return lines.contains { names.contains(Self.folded($0)) }
    }

    /// Control characters, too: some editors begin a file with a mark that nobody sees.
    private static func folded(_ text: some StringProtocol) -> String {
        text.trimmingCharacters(in: .whitespaces.union(.controlCharacters)).lowercased()
    }
}
