import MPinHTTP
import MPinSecrets
import MPinWire

/// An identity: a user id at a backend, of a customer where the server has several. Its getters never wait for an
/// operation that is under way.
package final class User: Sendable {
    private let content: Locked<Content>
    package let id: String
    /// Base URL without trailing slash.
    package let backend: String

    /// What is known in memory.
    struct Content {
        var record: UserRecord
        var lifecycle: UserLifecycle
        var registration: Registration?
        /// What the server had to say when the registration started.
        var notice = ""
        var login: Login?
        /// Since this process has known the user. Then a finish without a start begins a login by itself.
        var hasLoggedIn = false
        var authData = ""
        /// What the last login needs to be ended.
        var logout: Logout?
        /// The PIN that the last login has proved; only until the next operation with a PIN.
        var provenPIN: ProvenPIN?
        /// Factors for the next operation with a PIN.
        var factors: [SecretBytes] = []
        var signingRegistration: SigningRegistration?
    }

    /// What a registration gathers between its steps; never stored.
    struct Registration {
        /// The shares that came, and tickets for the others, until they are all there.
        var offer: ShareOffer?
        /// All shares added up.
        var clientSecret: SecretBytes?
        /// Whether the server wants to hear of the registration's end.
        var reportsEnd = false
    }

    /// What a login needs beyond the token.
    struct Login {
        /// Days since 1970-01-01 UTC; 0 where the backend uses no time permits.
        var date: Int32 = 0
        var permit: SecretBytes?
    }

    /// Where the session of a login is ended, and what to say there.
    struct Logout {
        /// A path at the backend.
        let path: String
        let data: JSONValue
    }

    /// What the registration of a signing key gathers between its steps; never stored.
    struct SigningRegistration {
        let mpinID: String
        /// 128 bytes in hex.
        let publicKey: String
        let dtas: String
        /// z times the sum of the shares, 65 bytes.
        let clientSecret: SecretBytes
    }

    init(record: UserRecord, lifecycle: UserLifecycle) {
        content = Locked(Content(record: record, lifecycle: lifecycle))
        id = record.userID
        backend = record.backend
    }

    package var state: UserState { content.withLock { $0.lifecycle.state } }
    /// Lower-case hex; empty before the registration has started.
    package var mpinID: String { content.withLock { $0.record.mpinID ?? "" } }
    package var deviceName: String { content.withLock { $0.record.deviceName ?? "" } }
    /// What the server had to say to the person when the registration started; empty where it said nothing.
    package var notice: String { content.withLock { $0.notice } }
    /// The answer of the application to the last login, JSON text; empty before one.
    package var authData: String { content.withLock { $0.authData } }

    /// Names that the server gave at registration or, before, the program; may be empty.
    package var customerID: String { content.withLock { $0.record.customerID ?? "" } }
    package var appID: String { content.withLock { $0.record.appID ?? "" } }
    /// Digits of a PIN; 0 where the server does not say.
    package var pinLength: Int { content.withLock { $0.record.pinLength ?? 0 } }
    /// How the server has verified the user id, such as `em` by mail; empty where it does not say.
    package var verificationType: String {
        let record = record
        return record.verificationType ?? record.mpinID.flatMap(MPinID.verificationType) ?? ""
    }
    package var canSign: Bool {
        content.withLock { $0.record.signing != nil && $0.lifecycle.state == .registered }
    }
    package var canLogout: Bool { content.withLock { $0.logout != nil } }
    /// Whether the registration token is whole: the server keeps no part back until the user opens the link.
    package var isRegistrationTokenSet: Bool { content.withLock { $0.record.isRegistrationTokenWhole } }
    package var registrationExpiration: Expiration {
        content.withLock { Expiration(expireTime: $0.record.expireTime ?? 0, nowTime: $0.record.nowTime ?? 0) }
    }

    var record: UserRecord { content.withLock { $0.record } }
    var key: IdentityKey { record.key }
    var lifecycle: UserLifecycle { content.withLock { $0.lifecycle } }
    var registration: Registration? { content.withLock { $0.registration } }
    var login: Login? { content.withLock { $0.login } }
    var hasLoggedIn: Bool { content.withLock { $0.hasLoggedIn } }
    var factors: [SecretBytes] { content.withLock { $0.factors } }

    var logout: Logout? { content.withLock { $0.logout } }
    var provenPIN: ProvenPIN? { content.withLock { $0.provenPIN } }
    var signingRegistration: SigningRegistration? { content.withLock { $0.signingRegistration } }

    /// Changes the content; only the operation under way does.
    func update(_ change: (inout Content) -> Void) { content.withLock { change(&$0) } }

    /// Takes over what another process has stored.
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

    /// The client core forgets the user, the store does not: nothing secret of it stays in memory.
    func forgetSecrets() {
        update { content in
            var record = content.record
            (record.regOTT, record.regOTTRest, record.accessCode) = (nil, nil, nil)
            (record.token, record.permit, record.signing) = (nil, nil, nil)
            content = Content(record: record, lifecycle: content.lifecycle)
        }
    }

    /// The identity is gone: nothing of it stays in memory.
    func erase() {
        update { content in
            let record = UserRecord(userID: content.record.userID, backend: content.record.backend)
            content = Content(record: record, lifecycle: UserLifecycle())
        }
    }
}
