package import MPinCrypto
import MPinSecrets
package import MPinWire

/// A mapping is stored by its name. The conformance belongs to the store: MPinCrypto also compiles to WebAssembly, where
/// Swift has no coding.
extension PINMapping: Codable {}

/// The stored data of an identity.
package struct UserRecord: Codable, Sendable, Equatable {
    package var userID: String
    /// The base URL of the backend, without trailing slash.
    package var backend: String
    /// The state: the name of a ``UserState``.
    package var state: String
    package var deviceName: String?
    /// The M-Pin ID, its exact bytes in lower-case hex; nil before the server has made one.
    package var mpinID: String?
    /// The one-time token of an unfinished registration, or the part of it that the server sent.
    package var regOTT: SecretText?
    /// The part of the one-time token that came with the link in the mail; nil if there is none.
    package var regOTTRest: SecretText?
    /// The browser session that the registration belongs to (MIRACL MFA); nil when it is finished.
    package var accessCode: String?
    /// When the registration expires, in seconds since 1970 on the server's clock.
    package var expireTime: Int64?
    /// The time of the server's clock when it sent ``expireTime``, in seconds since 1970.
    package var nowTime: Int64?
    /// True if the registration was at a MIRACL MFA server. This is the stored form of ``wire``.
    private var registeredMFA: Bool?
    /// `trust` if the registration was at a project of MIRACL Trust, else nil. This, too, is a stored form of ``wire``.
    private var wireName: String?
    /// Names of the customer and the application from the server or, before its answer, from the program.
    package var customerID: String?
    package var appID: String?
    /// The number of digits of a PIN; nil if the server does not say.
    package var pinLength: Int?
    /// How the user id was verified, such as `em` for a mail, if the server said so outside the M-Pin ID.
    package var verificationType: String?
    /// The login token, a G1 point of 65 bytes: the client secret minus the PIN's number times the identity's point.
    package var token: SecretHex?
    /// How the PIN was converted to a number when the token was made.
    package var mapping: PINMapping?
    /// The cached second share of a time permit.
    package var permit: CachedPermit?
    /// The day of a login with a wrong PIN, in days since 1970-01-01 UTC. The time permit may have been wrong and not
    /// the PIN, so the second share for this day is fetched from the second D-TA and not from the static storage.
    package var doubtedPermitDate: Int32?
    /// The identity with which the user signs; nil if the user has none.
    package var signing: Signing?

    /// The second share of a time permit and its day.
    package struct CachedPermit: Codable, Sendable, Equatable {
        /// The day of the permit, in days since 1970-01-01 UTC.
        package var date: Int32
        /// The second share of the permit, a G1 point of 65 bytes.
        package var share: SecretHex

        package init(date: Int32, share: SecretHex) {
            self.date = date
            self.share = share
        }
    }

    /// An identity with a key pair.
    package struct Signing: Codable, Sendable, Equatable {
        /// The M-Pin ID that signs, its exact bytes in lower-case hex.
        package let mpinID: String
        /// The public key, a G2 point: 128 bytes in hex.
        package let publicKey: String
        /// The identity's point, a G1 point of 65 bytes in hex: that to which M-Pin ID and public key map. Logins use it,
        /// because mapping takes a tenth of their time. It is never read from anywhere but the sealed record, and always
        /// belongs to the two members above, because none of the three can change. Nil in records of older versions.
        package let point: String?
        /// The names of the D-TAs that made the client secret, in base64.
        package var dtas: String
        /// The signing token, a G1 point of 65 bytes.
        package var token: SecretHex
        package var mapping: PINMapping

        package init(mpinID: String, publicKey: String, dtas: String, token: SecretHex, mapping: PINMapping) {
            self.mpinID = mpinID
            self.publicKey = publicKey
            point = (try? MPinID.point(mpinID, publicKey: publicKey)).map { Hex.encode($0) }
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

    /// The lifecycle in the stored state. Nil if the record contradicts itself; then the record counts as damaged.
    var lifecycle: UserLifecycle? {
        guard let state = UserState(name: state) else { return nil }
        switch state {
        case .startedRegistration, .activated: guard mpinID != nil, regOTT != nil else { return nil }
        case .registered: guard mpinID != nil, token != nil, mapping != nil else { return nil }
        case .startedVerification: guard mpinID == nil, token == nil else { return nil }
        // Old clients delete the token of a blocked identity, so a blocked record may have none.
        case .blocked, .revoked: guard mpinID != nil, (token == nil) == (mapping == nil) else { return nil }
        case .invalid: return nil
        }
        return UserLifecycle(state: state)
    }

    /// The protocol over which the identity was registered. Old records have no `registeredMFA`. Only MFA servers name
    /// a customer, so a record with a customer comes from an MFA server. Some MFA servers name none, so a record
    /// without a customer may come from either kind of server.
    var wire: WireName {
        get {
            if wireName == Self.trustName { return .trust }
            return registeredMFA == true || customerID?.isEmpty == false ? .mfa : .milagro
        }
        set {
            registeredMFA = newValue == .mfa ? true : nil
            wireName = newValue == .trust ? Self.trustName : nil
        }
    }

    private static let trustName = "trust"

    /// The registration token: the part from the server and the part from the link, one after the other.
    var registrationToken: SecretText { (regOTT ?? "") + (regOTTRest ?? "") }

    /// Whether the registration token is complete. Either the server sent all of its 16 bytes (32 hex digits), or the
    /// rest came with the link.
    var isRegistrationTokenWhole: Bool { regOTTRest != nil || (regOTT?.count ?? 0) >= 32 }

    /// Replaces the token. If the login identity has a key pair, the same token is used for signing.
    mutating func setToken(_ token: SecretHex, _ mapping: PINMapping) {
        self.token = token
        self.mapping = mapping
        guard signing?.mpinID == mpinID else { return }
        signing?.token = token
        signing?.mapping = mapping
    }

    /// Replaces the M-Pin ID and the secrets of the identity `mpinID` by those of `former`. The identity `mpinID` is
    /// the login identity, the signing identity or both.
    mutating func restoreSecrets(_ mpinID: String, from former: UserRecord) {
        if signing?.mpinID == mpinID { signing = former.signing }
        guard self.mpinID == mpinID else { return }
        self.mpinID = former.mpinID
        token = former.token
        mapping = former.mapping
        permit = former.permit
        verificationType = former.verificationType
    }

    /// The record after the registration, without its one-time token.
    func finished(_ state: UserState, _ token: SecretHex, _ mapping: PINMapping) -> UserRecord {
        var record = self
        record.state = state.name
        (record.regOTT, record.regOTTRest, record.accessCode) = (nil, nil, nil)
        (record.token, record.mapping, record.permit) = (token, mapping, nil)
        return record
    }

    /// Blocks the identity after its last attempt. The token stays, because the operator may unblock the identity.
    mutating func block() { state = UserState.blocked.name }

    /// Forgets the cached share of the time permit, because it may be wrong, and notes the day `date` of the permit.
    /// With a wrong share every PIN counts as wrong, so the next login fetches the share again.
    mutating func forgetPermit(of date: Int32) {
        permit = nil
        if date > 0 { doubtedPermitDate = date }
    }

    /// Unblocks the identity, because the server has told whether a PIN is right or wrong, which it does not do for an
    /// identity that it blocks.
    mutating func unblock() { if state == UserState.blocked.name { state = UserState.registered.name } }

    /// The record of an identity with a key pair, whose secret is used for logins and signatures.
    mutating func setKeyPair(_ signing: Signing) {
        mpinID = signing.mpinID
        (token, mapping) = (signing.token, signing.mapping)
        self.signing = signing
    }
}
