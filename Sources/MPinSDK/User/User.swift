import MPinHTTP
package import MPinSecrets
import MPinWire

/// An identity: a user id at a backend, and at a customer if the backend has several customers. The getters never wait
/// for an operation that is under way.
package final class User: Sendable {
    private let content: Locked<Content>
    package let id: String
    /// The base URL of the backend, without trailing slash.
    package let backend: String

    /// The user's data in memory.
    struct Content {
        var record: UserRecord
        var lifecycle: UserLifecycle
        var registration: Registration?
        /// The server's message to the person at the start of the registration.
        var notice = ""
        var login: Login?
        /// Whether the user has logged in since this process has loaded the user. If so, the next login needs no
        /// ``SDK/startAuthentication(_:)``.
        var hasLoggedIn = false
        var authData = ""
        /// What is needed to end the session of the last login.
        var logout: Logout?
        /// The PIN that the last login has proved. Nil again after the next operation with a PIN.
        var provenPIN: ProvenPIN?
        /// The factors for the next operation with a PIN.
        var factors: [SecretBytes] = []
        var signingRegistration: SigningRegistration?
        var trustRegistration: TrustRegistration?
        /// The JWT of the last login at a MIRACL Trust project; nil if that login was for another purpose.
        var jwt: SecretText?
    }

    /// The data that a registration collects between its steps; never stored.
    struct Registration {
        /// The shares that have arrived, and the tickets with which the others are fetched. Nil when all shares have
        /// arrived.
        var offer: ShareOffer?
        /// The sum of all shares.
        var clientSecret: SecretBytes?
        /// Whether the server wants a report when the registration is finished.
        var reportsEnd = false
    }

    /// The time permit of a started login, and its date.
    struct Login {
        /// The day of the permit, in days since 1970-01-01 UTC; 0 if the backend uses no time permits.
        var date: Int32 = 0
        var permit: SecretBytes?
    }

    /// The path and the data of the request that ends a login's session.
    struct Logout {
        /// The path at the backend to which `data` is posted.
        let path: String
        let data: JSONValue
    }

    /// The data that the registration of a signing key collects between its steps; never stored.
    struct SigningRegistration {
        let mpinID: String
        /// The public key, a G2 point: 128 bytes in hex.
        let publicKey: String
        let dtas: String
        /// The client secret, 65 bytes: z, the secret number of the key pair, times the sum of the authorities' shares.
        let clientSecret: SecretBytes
    }

    /// A registration at a MIRACL Trust project, of which only the PIN is missing; never stored.
    struct TrustRegistration {
        let key: SigningRegistration
        let pinLength: Int
        let verificationType: String
    }

    init(record: UserRecord, lifecycle: UserLifecycle) {
        content = Locked(Content(record: record, lifecycle: lifecycle))
        id = record.userID
        backend = record.backend
    }

    package var state: UserState { content.withLock { $0.lifecycle.state } }
    /// The M-Pin ID in lower-case hex; empty before the start of the registration.
    package var mpinID: String { content.withLock { $0.record.mpinID ?? "" } }
    package var deviceName: String { content.withLock { $0.record.deviceName ?? "" } }
    /// The server's message to the person at the start of the registration; may be empty.
    package var notice: String { content.withLock { $0.notice } }
    /// The answer of the application to the last login, a JSON text; empty before a login.
    package var authData: String { content.withLock { $0.authData } }

    /// Names of the customer and the application from the server or, before its answer, from the program; may be empty.
    package var customerID: String { content.withLock { $0.record.customerID ?? "" } }
    package var appID: String { content.withLock { $0.record.appID ?? "" } }
    /// The number of digits of the user's PIN; 0 if the server does not say. Of a user without an identity it is that of
    /// the PIN to choose.
    package var pinLength: Int {
        content.withLock { content in
            let stored = content.record.pinLength
            // A registration may replace the identity by one with a longer PIN. Until then, logins need the present PIN.
            let length = content.record.token == nil ? content.trustRegistration?.pinLength ?? stored : stored
            return length ?? 0
        }
    }
    /// The number of digits of the PIN to choose at the end of the registration that is under way; 0 if the server does
    /// not say.
    package var registrationPINLength: Int {
        content.withLock { $0.trustRegistration?.pinLength ?? $0.record.pinLength ?? 0 }
    }
    /// How the server has verified the user id, such as `em` for a mail; empty if it does not say.
    package var verificationType: String {
        let record = record
        return record.verificationType ?? record.mpinID.flatMap(MPinID.verificationType) ?? ""
    }
    package var canSign: Bool {
        content.withLock { $0.record.signing != nil && $0.lifecycle.state == .registered }
    }
    package var canLogout: Bool { content.withLock { $0.logout != nil } }
    /// Whether the registration token is complete. If not, the rest of it comes with the link in the mail.
    package var isRegistrationTokenSet: Bool { content.withLock { $0.record.isRegistrationTokenWhole } }
    package var registrationExpiration: Expiration {
        content.withLock { Expiration(expireTime: $0.record.expireTime ?? 0, nowTime: $0.record.nowTime ?? 0) }
    }

    package var record: UserRecord { content.withLock { $0.record } }
    var key: IdentityKey { record.key }
    var lifecycle: UserLifecycle { content.withLock { $0.lifecycle } }
    var registration: Registration? { content.withLock { $0.registration } }
    var login: Login? { content.withLock { $0.login } }
    var hasLoggedIn: Bool { content.withLock { $0.hasLoggedIn } }
    var factors: [SecretBytes] { content.withLock { $0.factors } }

    var logout: Logout? { content.withLock { $0.logout } }
    var provenPIN: ProvenPIN? { content.withLock { $0.provenPIN } }
    var signingRegistration: SigningRegistration? { content.withLock { $0.signingRegistration } }
    var trustRegistration: TrustRegistration? { content.withLock { $0.trustRegistration } }
    /// The JWT of the last login at a MIRACL Trust project, as UTF-8; nil if that login was for another purpose.
    package var jwt: SecretBytes? { content.withLock { $0.jwt?.secret } }

    /// Changes the content. Only the operation that is under way may do this.
    func update(_ change: (inout Content) -> Void) { content.withLock { change(&$0) } }

    /// Replaces the record by the stored one, which another process may have changed. What belongs to a former M-Pin ID
    /// or a former token is dropped.
    func adopt(_ record: UserRecord, _ lifecycle: UserLifecycle) {
        update { content in
            if content.record.mpinID != record.mpinID {
                content.registration = nil
                content.signingRegistration = nil
            }
            if content.record.token != record.token {
                content.login = nil
                content.provenPIN = nil
            }
            content.record = record
            content.lifecycle = lifecycle
        }
    }

    /// Erases the secrets in memory, because the client core forgets the user. The store keeps the user.
    func forgetSecrets() {
        update { content in
            var record = content.record
            (record.regOTT, record.regOTTRest, record.accessCode) = (nil, nil, nil)
            (record.token, record.permit, record.signing) = (nil, nil, nil)
            content = Content(record: record, lifecycle: content.lifecycle)
        }
    }

    /// Erases everything but user id and backend in memory, because the identity was deleted.
    func erase() {
        update { content in
            let record = UserRecord(userID: content.record.userID, backend: content.record.backend)
            content = Content(record: record, lifecycle: UserLifecycle())
        }
    }
}
