import MPinSecrets
package import MPinStore

/// The code that a device without a browser shows, and that a person types at another one (RFC 8628 section 3.2): eight
/// letters, of which there are 20⁸, more than 2³⁴.
package struct UserCode: Sendable, Hashable, Codable {
    private static let count = 8
    /// Consonants only, so that no code is a word, and none that are easily taken for a digit (RFC 8628 section 6.1).
    private static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)

    private let letters: String

    static func random() throws(RandomFailure) -> UserCode {
        var letters: [UInt8] = []
        while letters.count < count {
            // Larger bytes are dropped: with them, some letters would be more frequent than others.
            let fair = try randomBytes(2 * count).filter { Int($0) < 256 / alphabet.count * alphabet.count }
            letters += fair.map { alphabet[Int($0) % alphabet.count] }
        }
        return UserCode(letters: String(decoding: letters.prefix(count), as: UTF8.self))
    }

    private init(letters: String) { self.letters = letters }

    /// Reads what a person has typed: in upper or lower case, with or without hyphen and spaces. Nil if it is no code.
    package init?(_ typed: String) {
        let text = typed.utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ") }
        guard text.count == Self.count else { return nil }
        let letters = text.map { (0x61...0x7a).contains($0) ? $0 - 0x20 : $0 }
        guard letters.allSatisfy(Self.alphabet.contains) else { return nil }
        self.letters = String(decoding: letters, as: UTF8.self)
    }

    /// The code as it is shown: `BCDF-GHJK`.
    package var text: String { "\(letters.prefix(4))-\(letters.dropFirst(4))" }
}

extension UserCode: Packable {
    package init(packed members: inout Unpacker) throws { letters = try members.text() }

    package func pack(into members: inout Packer) { members.put(letters) }
}
