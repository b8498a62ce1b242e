import MPinStore

/// Logins of the first generation of clients, which tell only with their last requests what a login is for (TRUST wire
/// section 7.2): a waiting browser, or digits that the user types elsewhere.
extension ProjectService {
    /// Pass 1. `scope` is that of a login for signatures or for a code that registers a device; nil for all others.
    /// `publicKey` is 128 bytes in hex, or empty.
    package func unstatedChallenge(
        _ id: MPinID, u: String, ut: String, publicKey: String, scope: String?
    ) async throws -> String {
        switch scope.flatMap(LoginScope.init(rawValue:)) {
        case .signing, .signingRegistration:
            try await challenge(id, u: u, ut: ut, publicKey: publicKey, scope: scope)
        case let purpose:
            try await challenge(
                id, u: u, ut: ut, publicKey: publicKey, scope: .unstated, registersDevice: purpose == .quickCode)
        }
    }

    /// Whether a browser waits under this name, which the project's clients may log in.
    package func isOpen(_ wid: String, project: String) async throws -> Bool {
        guard try await service.browsers.contains(wid, at: now) else { return false }
        return try await session(wid: wid).map { $0.projectID == project } ?? true
    }
}
