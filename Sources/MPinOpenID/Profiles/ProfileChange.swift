/// New values for members of a profile. Nil leaves a member as it is; an empty text or list removes it. The command
/// line, the account page and the admin API all make such a change, so that the same checks hold for all of them.
package struct ProfileChange: Sendable, Equatable {
    package var name: String?
    /// A new mail address. It counts at once, but as unverified, so this is for operators only. A user asks for another
    /// address by ``Profiles/requestEmail(_:for:at:)``.
    package var email: String?
    package var picture: String?
    package var locale: String?
    /// For operators only.
    package var groups: [String]?

    package static let maxGroups = 100

    package init() {}

    package var isEmpty: Bool { self == ProfileChange() }

    /// The names of the members that are set, for the audit log.
    package var names: [String] {
        [
            ("name", name != nil), ("email", email != nil), ("picture", picture != nil), ("locale", locale != nil),
            ("groups", groups != nil),
        ].filter(\.1).map(\.0)
    }

    /// Makes the change. Throws if a value is refused; then the profile is as it was.
    func apply(to profile: inout Profile) throws(ProfileFault) {
        var changed = profile
        if let name { changed.name = try Self.name(name) }
        if let email { changed.setEmail(try Self.email(email), isProven: false) }
        if let picture { changed.picture = try Self.picture(picture) }
        if let locale { changed.locale = try Self.locale(locale) }
        if let groups { changed.groups = try Self.groups(groups) }
        profile = changed
    }

    private static func name(_ text: String) throws(ProfileFault) -> String? {
        guard !text.isEmpty else { return nil }
        guard ClientMember.isShown(text) else {
            throw ProfileFault(.name, "must have 1 to 100 characters that can be seen")
        }
        return text
    }

    private static func email(_ text: String) throws(ProfileFault) -> String? {
        guard !text.isEmpty else { return nil }
        guard let address = EmailAddress(text) else { throw ProfileFault(.email, "is no mail address") }
        return address.text
    }

    private static func picture(_ text: String) throws(ProfileFault) -> String? {
        guard !text.isEmpty else { return nil }
        let uri: RedirectURI
        do { uri = try RedirectURI(text) } catch { throw ProfileFault(.picture, "\(error)") }
        guard uri.scheme == "https" else { throw ProfileFault(.picture, "must begin with https://") }
        return uri.text
    }

    /// Checks the form of a language tag (RFC 5646 section 2.1): a language of 2 to 8 letters, and subtags of 1 to 8
    /// letters and digits.
    private static func locale(_ text: String) throws(ProfileFault) -> String? {
        guard !text.isEmpty else { return nil }
        guard text.utf8.count <= 35, text.wholeMatch(of: /[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*/) != nil else {
            throw ProfileFault(.locale, "must be a language tag such as de or pt-BR")
        }
        return text
    }

    /// Returns whether a group can have this name: it can stand in a list with commas, and in the header of an HTTP
    /// request.
    static func isGroup(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count) && text.first != " " && text.last != " "
            && text.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") }
    }

    private static func groups(_ texts: [String]) throws(ProfileFault) -> [String] {
        guard texts != [""] else { return [] }
        guard texts.count <= maxGroups else { throw ProfileFault(.groups, "more than \(maxGroups)") }
        guard Set(texts).count == texts.count else { throw ProfileFault(.groups, "one is there twice") }
        guard texts.allSatisfy(isGroup) else {
            throw ProfileFault(.groups, "each must have 1 to 100 ASCII characters, and no comma")
        }
        return texts
    }
}

/// The reason why a value is refused for a profile.
package struct ProfileFault: Error, Equatable, CustomStringConvertible {
    package enum Member: String, Sendable {
        case name, email, picture, locale, groups
    }

    package let member: Member
    private let text: String

    init(_ member: Member, _ text: String) {
        self.member = member
        self.text = text
    }

    /// One line that begins with the name of the member.
    package var description: String { "\(member.rawValue): \(text)" }
}
