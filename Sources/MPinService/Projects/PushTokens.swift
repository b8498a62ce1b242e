package import MPinStore

/// The tokens by which a push reaches the apps of a user's devices (TRUST wire section 4.3).
extension Devices {
    /// The longest push token in bytes.
    package static let maxPushToken = 1024

    /// Whether a client may register with a push token. Without one it gets no pushes.
    package static func isPushToken(_ text: String?) -> Bool { text.map { $0.utf8.count <= maxPushToken } ?? true }
}

extension ProjectService {
    /// Returns the push token of a new device. A client that renews its secret does not repeat it, so the new identity
    /// then has that of the old one.
    func pushToken(_ given: String?, for activation: Activation, at now: Moment) async throws -> String? {
        guard given == nil, let old = activation.replaced else { return given }
        return try await service.devices.pushToken(of: old, user: activation.user, at: now)
    }
}

extension AuthenticationService {
    /// Returns the push token of the users' device that was registered last, among those that have one, can log in and
    /// are meant. Nil if there is none.
    package func pushToken(of users: [UserKey], isMeant: (MPinID) -> Bool) async throws -> String? {
        let now = now
        var newest: (token: String, registered: Moment)?
        for user in users {
            for (identity, token) in try await devices.pushTokens(of: user, at: now) {
                guard let record = try await identities.find(key: identity, at: now), record.user == user,
                    !record.isBarred, let id = MPinID(hex: record.mpinID), isMeant(id),
                    newest.map({ $0.registered < record.registered }) ?? true
                else { continue }
                newest = (token, record.registered)
            }
        }
        return newest?.token
    }
}
