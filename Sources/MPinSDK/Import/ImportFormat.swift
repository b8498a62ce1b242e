import MPinCrypto
package import MPinSecrets
import MPinWire

/// The format of another client's storage. The numbers are those of the C header.
package enum ImportFormat: Int32, Sendable, CaseIterable {
    /// Milagro core: two JSON objects (wire section 13).
    case milagro = 1
    /// MIRACL MFA core: the same two objects, but the first is wrapped in an object with a version.
    case mfa = 2
    /// client-js: the list that it stores under the key `mfa`.
    case clientJS = 3
}

/// The texts that another client has stored.
package struct ImportSource: Sendable {
    package var format: ImportFormat
    /// The users; with client-js also their tokens.
    package var users: SecretBytes
    /// The tokens; nil with client-js.
    package var secure: SecretBytes?

    package init(format: ImportFormat, users: SecretBytes, secure: SecretBytes? = nil) {
        self.format = format
        self.users = users
        self.secure = secure
    }

    /// The users as records of this client. Damaged users and users without an M-Pin ID are left out. `currentBackend`
    /// is called for users that name no backend. If `project` is not nil, it is the current project of MIRACL Trust, and
    /// the users of client-js log in over that wire.
    func records(
        project: String? = nil, _ currentBackend: () throws(SDKError) -> String
    ) throws(SDKError) -> [UserRecord] {
        var result: [UserRecord] = []
        for entry in try entries(project: project) {
            let backend: String
            if let own = entry.backend { backend = own } else { backend = try currentBackend() }
            guard var record = entry.record(backend: Backend.base(backend)) else { continue }
            switch format {
            case .mfa: record.wire = .mfa
            case .clientJS where project != nil: record.wire = .trust
            default: break
            }
            result.append(record)
        }
        return result
    }

    private func entries(project: String?) throws(SDKError) -> [ImportedUser] {
        switch format {
        case .milagro: return try MilagroStore(users: decode(users)).entries(try secrets())
        case .mfa: return try MFAStore.users(decode(users)).entries(try secrets())
        case .clientJS:
            let list: [Lenient<ClientJSUser>] = try decode(users)
            return list.compactMap { $0.value?.entry(project: project) }
        }
    }

    private func secrets() throws(SDKError) -> MilagroSecrets {
        guard let secure else { throw SDKError(.invalidArgument, "the secure text is missing") }
        return MilagroSecrets(try decode(secure))
    }

    private func decode<Value: Decodable>(_ text: SecretBytes) throws(SDKError) -> Value {
        do { return try JSON.decode(from: text.span) } catch { throw SDKError(.storageError, "import: \(error)") }
    }
}

/// A user in a common form for all formats.
struct ImportedUser {
    /// The user id; nil if only the M-Pin ID contains it.
    var userID: String?
    var mpinID: String
    /// The URL of the backend; nil means the current backend.
    var backend: String?
    var state: UserState?
    var mapping: PINMapping
    var token: SecretHex?
    var regOTT: SecretText?
    var deviceName: String?
    var customerID: String?
    var appID: String?
    var pinLength: Int?
    var verificationType: String?
    /// The public key, 128 bytes in hex; nil without a key pair.
    var publicKey: String?
    var dtas: String?

    /// The user as a record of this client. Nil if the values contradict each other.
    func record(backend: String) -> UserRecord? {
        guard let id = Hex.decode(mpinID), !id.isEmpty, let state, let userID = checkedUserID(id), !backend.isEmpty
        else { return nil }
        var record = UserRecord(userID: userID, backend: backend, deviceName: deviceName)
        record.state = state.name
        record.mpinID = Hex.encode(id)
        record.customerID = customerID
        record.appID = appID
        record.verificationType = verificationType
        if let pinLength, (4...6).contains(pinLength) { record.pinLength = pinLength }
        switch state {
        case .startedRegistration, .activated:
            guard token == nil else { return nil }
            record.regOTT = regOTT
        case .registered:
            guard regOTT == nil, let token, Server.isPoint(token.secret.span), addToken(token, to: &record) else {
                return nil
            }
        case .revoked:
            if let token { guard Server.isPoint(token.secret.span), addToken(token, to: &record) else { return nil } }
        case .invalid, .startedVerification, .blocked: break
        }
        return record.lifecycle == nil || state == .invalid ? nil : record
    }

    /// Adds token, mapping and, if there is one, the key pair to the record. False if there is a public key without
    /// `dtas`, or if the key has a wrong length.
    private func addToken(_ token: SecretHex, to record: inout UserRecord) -> Bool {
        record.token = token
        record.mapping = mapping
        guard let publicKey else { return true }
        guard let dtas, let key = Hex.decode(publicKey), key.count == MPinSize.g2, let mpinID = record.mpinID else {
            return false
        }
        record.signing = UserRecord.Signing(
            mpinID: mpinID, publicKey: Hex.encode(key), dtas: dtas, token: token, mapping: mapping)
        return true
    }

    /// The user id; nil if the M-Pin ID contains another one.
    private func checkedUserID(_ id: [UInt8]) -> String? {
        guard let content = try? JSON.decode(JSONValue.self, from: id.span),
            case .string(let named)? = content["userID"]
        else { return userID }
        return userID == nil || userID == named ? named : nil
    }
}

/// A value that is nil if it cannot be decoded, so that its neighbours can still be read.
struct Lenient<Value: Decodable>: Decodable {
    let value: Value?

    init(from decoder: any Decoder) { value = try? Value(from: decoder) }
}
