package import MPinCrypto
package import MPinWire

/// What the store keeps of an identity.
package struct UserRecord: Codable, Sendable, Equatable {
    package var userID: String
    /// Base URL without trailing slash.
    package var backend: String
    /// Name of a ``UserState``.
    package var state: String
    package var deviceName: String?
    /// Lower-case hex of the M-Pin ID's exact bytes.
    package var mpinID: String?
    /// One-time token of a registration that is not finished.
    package var regOTT: String?
    /// G1 point, 65 bytes: client secret minus PIN times identity.
    package var token: SecretHex?
    /// How the token's PIN became a number.
    package var mapping: PINMapping?
    /// The second time permit share of the last login's day.
    package var permit: CachedPermit?

    /// A second time permit share with its day.
    package struct CachedPermit: Codable, Sendable, Equatable {
        /// Days since 1970-01-01 UTC.
        package var date: Int32
        /// G1 point, 65 bytes.
        package var share: SecretHex

        package init(date: Int32, share: SecretHex) {
            self.date = date
            self.share = share
        }
    }

    package init(userID: String, backend: String, deviceName: String? = nil) {
        self.userID = userID
        self.backend = backend
        self.deviceName = deviceName
        state = UserState.invalid.name
    }

    /// Tells identities apart: the same user id at another backend is another identity (wire section 13).
    package var key: String { Self.key(userID: userID, backend: backend) }

    static func key(userID: String, backend: String) -> String {
        let scheme = ["https://", "http://"].first { backend.hasPrefix($0) } ?? ""
        return "\(userID)@\(backend.dropFirst(scheme.count))"
    }

    /// Nil for a record that contradicts itself: it is set aside as damaged.
    var lifecycle: UserLifecycle? {
        guard let state = UserState(name: state), !userID.isEmpty else { return nil }
        switch state {
        case .startedRegistration, .activated: guard mpinID != nil, regOTT != nil else { return nil }
        case .registered: guard mpinID != nil, token != nil, mapping != nil else { return nil }
        case .invalid, .startedVerification: return nil
        case .blocked: guard mpinID != nil, token == nil else { return nil }
        }
        return UserLifecycle(state: state)
    }
}
