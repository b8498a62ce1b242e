import MPinService
import MPinStore

/// Users of versions before, whose ids could not be registered any more: see ``Mailboxes`` and ``UserID``.
extension Doctor {
    /// Lists the users that differ only in case or in a dot after the domain, those with blanks that nobody sees, and those
    /// whose ids begin with the id of a project and a slash. They go on, each by its own.
    @Sendable static func spellings(
        _ store: any Store, _ now: Moment
    ) async throws -> [(Finding.Weight, String)] {
        var found: [(Finding.Weight, String)] = []
        try await Mailboxes(in: store).pairs(at: now) { users in
            let names = users.map(visible).joined(separator: ", ")
            found.append((.note, "users whose ids differ only in case or in a dot after the domain: \(names)"))
        }
        let (users, projects) = (Table<Bool>("user", in: store), Projects(in: store))
        var last: String?
        repeat {
            let page = try await users.list(after: last, limit: 500, at: now).map(\.key)
            for name in page {
                let user = UserKey(text: name)
                if user.project == nil, let project = UserKey(shown: name)?.project,
                    try await projects.find(project, at: now) != nil
                {
                    found.append((.note, "a user of the server with the name of one of a project: \(visible(name))"))
                }
                guard let blanks = UserID.badBlanks(in: user.userID) else { continue }
                found.append((.note, "a user id with \(blanks): \(visible(user.shown))"))
            }
            last = page.last
        } while last != nil
        return found
    }

    /// The text in quotation marks. What is not visible ASCII or a letter is written as its number.
    private static func visible(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar in
            scalar == " " || (0x21...0x7E).contains(scalar.value) || scalar.properties.isAlphabetic
                ? String(scalar) : "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }
        return "\"\(scalars.joined())\""
    }
}
