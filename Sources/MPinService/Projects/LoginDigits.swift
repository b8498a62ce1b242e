import MPinStore

/// The digits with which a login of the clients before client-js 8.3 may end (TRUST wire sections 4.8 and 7.2).
extension ProjectService {
    /// What the client of a right login shows, for its user to type it in elsewhere.
    package struct Digits: Sendable {
        /// Six digits.
        package let text: String
        /// For how many seconds they are good.
        package let seconds: Int

        package init(text: String, seconds: Int) {
            self.text = text
            self.seconds = seconds
        }
    }

    /// Keeps the digits of a right login: those of pass 2, as a one-time password or as a QuickCode, or for the scope
    /// `otp` new ones. Nil if there are none.
    func keepDigits(
        _ token: AuthToken, _ scope: LoginScope, of id: MPinID, user: UserKey
    ) async throws -> Digits? {
        switch scope {
        case .oneTimePassword: return try await keepPassword(try randomDigits(6), token)
        case .unstated where token.otp.isEmpty: return nil
        case .unstated where !token.registersDevice: return try await keepPassword(token.otp, token)
        case .unstated:
            guard let named = id.projectID else { throw ProjectFault.quickCodeForbidden }
            let made = try await keepQuickCode(token.otp, of: id, user: user, project: try await project(named))
            return Digits(text: made.code, seconds: made.seconds)
        case .oidc, .jwt, .signing, .quickCode, .authorizationCode, .signingRegistration: return nil
        }
    }

    private func keepPassword(_ text: String, _ token: AuthToken) async throws -> Digits {
        let (now, seconds) = (now, service.limits.tokenSeconds)
        try await service.passwords.issue(text, of: token, until: now.adding(seconds: seconds), at: now)
        return Digits(text: text, seconds: seconds)
    }
}
