import Foundation
import MPinStore

/// Rules for user ids: which are allowed, and which mean the same user.
///
/// The server stores and shows user ids in Unicode's composed form (NFC). Only the M-Pin ID has the bytes that the
/// client sent, because old clients compare them with what they asked for.
package enum UserID {
    /// The user id in NFC, where "é" is one character, however it was typed.
    package static func normal(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x80 } ? text : text.precomposedStringWithCanonicalMapping
    }

    /// Returns the user id in NFC. Throws ``ServiceError/badUserID(_:)`` if a user cannot register with it.
    static func accepted(_ written: String, _ limits: ServiceLimits) throws(ServiceError) -> String {
        let userID = normal(written)
        guard !userID.isEmpty, max(userID.utf8.count, written.utf8.count) <= limits.userIDBytes else {
            throw .badUserID("must have 1 to \(limits.userIDBytes) bytes")
        }
        if let hidden = hiddenCharacters(in: written) { throw .badUserID("must not hold \(hidden)") }
        return userID
    }

    /// The class of the first invisible character in `text`, with which two different user ids could look the same; nil
    /// if there is none.
    package static func hiddenCharacters(in text: String) -> String? {
        text.unicodeScalars.lazy.compactMap(name).first
    }

    /// The class of an invisible character, for an error text.
    private static func name(_ scalar: Unicode.Scalar) -> String? {
        switch scalar.value {
        case 0xAD: return "soft hyphens"
        case 0x61C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: return "bidirectional control characters"
        case 0x180E, 0x200B...0x200D, 0x2060...0x2065, 0xFEFF: return "zero-width characters"
        default: break
        }
        let properties = scalar.properties
        if properties.generalCategory == .control { return "control characters" }
        if properties.isDefaultIgnorableCodePoint || properties.generalCategory == .format {
            return "invisible characters"
        }
        return nil
    }

    /// What all spellings of one user have in common: mail providers ignore case and a dot after the domain. Tags and dots
    /// in names make other users, though their mails may come to the same mailbox.
    package static func spelling(_ text: String) -> String {
        var folded = normal(text).lowercased()
        while folded.contains("@"), folded.hasSuffix(".") { folded.removeLast() }
        return folded
    }

    /// The mailbox that a mail address means, for limits only; the user id itself is not changed. Mail providers ignore
    /// case, a "+tag" and a dot after the domain, and Gmail also ignores dots in names.
    package static func mailbox(_ text: String) -> String {
        let folded = spelling(text)
        guard let at = folded.lastIndex(of: "@") else { return folded }
        let tagged = folded[..<at]
        var name = String(tagged.firstIndex(of: "+").map { tagged[..<$0] } ?? tagged)
        if name.isEmpty { name = String(tagged) }
        var domain = String(folded[at...].dropFirst())
        if domain == "googlemail.com" { domain = "gmail.com" }
        if domain == "gmail.com" { name = name.replacing(".", with: "") }
        return "\(name)@\(domain)"
    }
}

extension UserKey {
    /// The mailbox of the user (``UserID/mailbox(_:)``), in the user's name space.
    var mailbox: UserKey { UserKey(UserID.mailbox(userID), of: project) }

    /// Whether two user ids mean the same user. The back end of a project tells its users apart itself, also by case.
    func isSpelled(as other: UserKey) -> Bool {
        guard project == nil, other.project == nil else { return self == other }
        return UserID.spelling(userID) == UserID.spelling(other.userID)
    }
}
