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
    /// One-time token of a registration that is not finished, and the part of it that came with the link.
    package var regOTT: SecretText?
    package var regOTTRest: SecretText?
    /// The browser's session that the registration belongs to, until it is finished (MIRACL MFA).
    package var accessCode: String?
    /// When the registration ends and what the server's clock showed then, in seconds since 1970.
    package var expireTime: Int64?
    package var nowTime: Int64?
    /// True where the registration was one at a MIRACL MFA server: how ``wire`` is stored.
    private var registeredMFA: Bool?
    /// Names of the customer and the application, as the server gave them or, before, the program.
    package var customerID: String?
    package var appID: String?
    /// Digits of a PIN; nil where the server does not say.
    package var pinLength: Int?
    /// How the user id was verified, if the server said so beside the M-Pin ID.
    package var verificationType: String?
    /// G1 point, 65 bytes: client secret minus PIN times identity.
    package var token: SecretHex?
    /// How the token's PIN became a number.
    package var mapping: PINMapping?
    /// The second time permit share of the last login's day.
    package var permit: CachedPermit?
    /// The day, since 1970-01-01 UTC, of a login whose PIN was judged wrong. It may have been the permit that was wrong, so
    /// the share of that day comes from the second D-TA itself, not from the static storage.
    package var doubtedPermitDate: Int32?
    /// What the user signs with.
    package var signing: Signing?

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

    /// An identity with a key pair.
    package struct Signing: Codable, Sendable, Equatable {
        /// Lower-case hex of the M-Pin ID's exact bytes.
        package var mpinID: String
        /// G2 point, 128 bytes in hex.
        package var publicKey: String
        /// Which D-TAs made the client secret: base64.
        package var dtas: String
        /// G1 point, 65 bytes.
        package var token: SecretHex
        package var mapping: PINMapping

        package init(mpinID: String, publicKey: String, dtas: String, token: SecretHex, mapping: PINMapping) {
            self.mpinID = mpinID
            self.publicKey = publicKey
            self.dtas = dtas
            self.token = token
            self.mapping = mapping
        }
    }

    package init(userID: String, backend: String, deviceName: String? = nil) {
        self.userID = userID
        self.backend = backend
        self.deviceName = deviceName
        state = UserState.invalid.name
    }

    package var key: IdentityKey {
        IdentityKey(userID: userID, backend: backend, customerID: customerID, appID: appID)
    }

    /// Nil for a record that contradicts itself: it is set aside as damaged.
    var lifecycle: UserLifecycle? {
        guard let state = UserState(name: state) else { return nil }
        switch state {
        case .startedRegistration, .activated: guard mpinID != nil, regOTT != nil else { return nil }
        case .registered: guard mpinID != nil, token != nil, mapping != nil else { return nil }
        case .startedVerification: guard mpinID == nil, token == nil else { return nil }
        // One that an old client has blocked has no token any more.
        case .blocked: guard mpinID != nil, (token == nil) == (mapping == nil) else { return nil }
        case .invalid: return nil
        }
        return UserLifecycle(state: state)
    }

    /// The wire that the identity was registered over. Only MFA servers name a customer, and not all of them do.
    var wire: WireName {
        get { registeredMFA == true || customerID?.isEmpty == false ? .mfa : .milagro }
        set { registeredMFA = newValue == .mfa ? true : nil }
    }

    /// Both parts of the registration token.
    var registrationToken: SecretText { (regOTT ?? "") + (regOTTRest ?? "") }

    /// Whether there is a whole registration token: 16 bytes in hex at once, or what came with the link behind the rest.
    var isRegistrationTokenWhole: Bool { regOTTRest != nil || (regOTT?.count ?? 0) >= 32 }

    /// An identity with a key pair logs in and signs with one token.
    mutating func setToken(_ token: SecretHex, _ mapping: PINMapping) {
        self.token = token
        self.mapping = mapping
        guard signing?.mpinID == mpinID else { return }
        signing?.token = token
        signing?.mapping = mapping
    }

    /// The secrets of `former` take the place of those of the identity `mpinID`.
    mutating func takeBack(_ mpinID: String, from former: UserRecord) {
        if signing?.mpinID == mpinID { signing = former.signing }
        guard self.mpinID == mpinID else { return }
        self.mpinID = former.mpinID
        token = former.token
        mapping = former.mapping
        permit = former.permit
        verificationType = former.verificationType
    }

    /// The registration is over, and its one-time token with it.
    func finished(_ state: UserState, _ token: SecretHex, _ mapping: PINMapping) -> UserRecord {
        var record = self
        record.state = state.name
        (record.regOTT, record.regOTTRest, record.accessCode) = (nil, nil, nil)
        (record.token, record.mapping, record.permit) = (token, mapping, nil)
        return record
    }

    /// The last attempt is used up. The token stays: the operator may unblock the identity.
    mutating func block() { state = UserState.blocked.name }

    /// Of a wrong share for the day, that a D-TA or the static storage may have given, every right PIN would be a wrong
    /// one: the next login gets another.
    mutating func forgetPermit(of date: Int32) {
        permit = nil
        if date > 0 { doubtedPermitDate = date }
    }

    /// The server judges PINs again.
    mutating func unblock() { if state == UserState.blocked.name { state = UserState.registered.name } }
}
