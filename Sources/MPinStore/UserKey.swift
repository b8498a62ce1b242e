/// A user within a name space. The server has one, of the users that it has verified itself, by a mail or an operator;
/// and each project has one, of the users that its back end has verified. Nobody is in two of them: `alice` of a project is
/// neither `alice` of another project nor the one with the mailbox.
///
/// It is here, and not with the rules for user ids, because the OpenID provider has tables of users, too.
package struct UserKey: Sendable, Hashable {
    /// The user id in NFC, without its name space.
    package let userID: String
    /// The id of the project whose back end has verified the user. Nil if the server itself has.
    package let project: String?

    package init(_ userID: String, of project: String? = nil) {
        self.userID = userID
        self.project = project
    }

    /// Reads ``text``.
    package init(text: String) {
        guard let end = text.utf8.firstIndex(of: Self.separator) else {
            self.init(text)
            return
        }
        self.init(String(text[text.utf8.index(after: end)...]), of: String(text[..<end]))
    }

    /// Reads ``shown`` of a user of a project, whose id has no slash. Nil for a text without a slash, which is none. The
    /// text may as well be the user id of a user of the server.
    package init?(shown text: String) {
        guard let end = text.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        self.init(String(text[text.utf8.index(after: end)...]), of: String(text[..<end]))
    }

    /// The key in tables: the user id of a user whom the server has verified, as ever; for others the id of the project, a
    /// line feed and the user id. Neither a user id nor the id of a project has a line feed.
    package var text: String { project.map { "\($0)\n\(userID)" } ?? userID }

    /// The name for people and programs that know users of all name spaces: `PROJECT/USER` for a user of a project. No
    /// user of the server has such a name, because it begins with the id of a project.
    package var shown: String { project.map { "\($0)/\(userID)" } ?? userID }

    private static let separator = UInt8(ascii: "\n")
}
