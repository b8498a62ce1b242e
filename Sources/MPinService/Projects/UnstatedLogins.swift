import MPinSecrets
import MPinStore

/// Logins of the first generation of clients, which tell only with their last requests what a login is for (TRUST wire
/// section 7.2): a waiting browser, or digits that the user types elsewhere.
extension ProjectService {
    /// Pass 1. `scope` is that of a login for signatures or for a code that registers a device; nil for all others.
    /// `publicKey` is 128 bytes in hex, or empty.
    package func unstatedChallenge(
        _ id: MPinID, u: String, publicKey: String, scope: String?
    ) async throws -> String {
        switch scope.flatMap(LoginScope.init(rawValue:)) {
        case .signing, .signingRegistration: try await challenge(id, u: u, publicKey: publicKey, scope: scope)
        case let purpose:
            try await challenge(
                id, u: u, publicKey: publicKey, scope: .unstated, registersDevice: purpose == .quickCode)
        }
    }

    /// Whether a browser waits under this name, which the project's clients may log in.
    package func isOpen(_ wid: String, project: String) async throws -> Bool {
        guard try await service.browsers.contains(wid, at: now) else { return false }
        return try await session(wid: wid).map { $0.projectID == project } ?? true
    }

    /// Keeps the digits that the client of a right login shows: as a one-time password, or as a QuickCode. Returns for
    /// how many seconds they are good; nil if there are none.
    func keepDigits(_ token: AuthToken, _ record: IdentityRecord) async throws -> Int? {
        let now = now
        guard !token.otp.isEmpty, let id = MPinID(hex: token.mpinID) else { return nil }
        guard token.registersDevice else {
            let seconds = service.limits.tokenSeconds
            try await service.passwords.issue(token, until: now.adding(seconds: seconds), at: now)
            return seconds
        }
        guard let named = id.projectID else { throw ProjectFault.quickCodeForbidden }
        let project = try await project(named)
        return try await keepQuickCode(token.otp, of: id, user: record.userID, project: project).seconds
    }
}
