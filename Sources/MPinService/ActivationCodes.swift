import MPinSecrets
package import MPinStore

/// One-time codes that confirm a registration instead of a mail (`activateCode`, wire section 6.2). A user id has at
/// most one at a time. A user gets the code from the operator, or from another of the user's own devices.
package struct ActivationCodes: Sendable {
    private let codes: UserCodes

    package init(in store: any Store) { self.init(in: store, counting: nil) }

    /// `wrongCodes` counts the wrong ones of six digits, which logins make.
    init(in store: any Store, counting wrongCodes: WrongCodes?) {
        codes = UserCodes("activation_code", in: store, counting: wrongCodes)
    }

    /// Deletes all codes. This is done to a backup when it is restored, because some of its codes may have been used
    /// since the backup was made.
    package func clear(at now: Moment) async throws { try await codes.clear(at: now) }

    /// Stores a code for the user, in place of an earlier one.
    package func issue(_ code: String, user: UserKey, until expires: Moment, at now: Moment) async throws {
        try await codes.issue(Self.plain(code), user: user.text, until: expires, at: now)
    }

    /// Redeems a code. True if it is the code of `user`, which is then deleted. False for a wrong code, which is
    /// counted.
    func redeem(_ code: String, user: UserKey, by asker: String?, at now: Moment) async throws -> Bool {
        try await codes.redeem(Self.plain(code), user: user.text, of: user, by: asker, at: now) != nil
    }

    /// Makes a code for an operator to hand out: 60 random bits as 12 letters and digits, none of which look alike.
    package static func random() throws -> String {
        let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
        let characters = try randomBytes(12).map { alphabet[Int($0) % alphabet.count] }
        return stride(from: 0, to: 12, by: 4).map { String(characters[$0..<$0 + 4]) }.joined(separator: "-")
    }

    /// The code in upper case, without hyphens and spaces, and with 1 for I and L and 0 for O, which look alike.
    private static func plain(_ code: String) -> String {
        String(
            code.uppercased().compactMap { character -> Character? in
                switch character {
                case "-", " ": nil
                case "O": "0"
                case "I", "L": "1"
                default: character
                }
            })
    }
}
