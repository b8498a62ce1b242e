import MPinSecrets
import MPinStore

/// The one-time passwords: six digits that a client shows after a login, and that its user types in at another place. A
/// program of that place asks whether they are right.
struct OneTimePasswords: Sendable {
    private let codes: UserCodes

    init(in store: any Store) { codes = UserCodes("one_time_password", in: store) }

    /// Stores the digits of a login, in place of those of the user's earlier login.
    func issue(_ digits: String, of token: AuthToken, until expires: Moment, at now: Moment) async throws {
        try await codes.issue(digits, user: token.user.text, mpinID: token.mpinID, until: expires, at: now)
    }

    /// Returns the M-Pin ID of the login that the digits come from, and deletes the digits. Nil if they are wrong.
    func redeem(_ digits: String, of user: UserKey, at now: Moment) async throws -> MPinID? {
        try await codes.redeem(digits, user: user.text, of: user, by: nil, at: now)?.mpinID.flatMap { MPinID(hex: $0) }
    }
}

extension AuthenticationService {
    /// Redeems the one-time password of a login of `user`. True once for each password, until it expires; five wrong
    /// tries void it. False also if the operator has revoked the identity since the login. `named`: the user, as operators
    /// name it.
    package func redeemPassword(_ digits: String, user named: String) async throws -> Bool {
        let user = try await devices.user(meantBy: named, at: now)
        guard let id = try await passwords.redeem(digits, of: user, at: now) else { return false }
        return try await !isRevoked(id, as: user)
    }
}
