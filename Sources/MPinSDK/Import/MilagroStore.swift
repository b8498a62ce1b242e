import MPinWire

/// The users of the Milagro core, by M-Pin ID in hex. Some versions keep one such object for each backend.
struct MilagroStore {
    var users: [String: Lenient<Entry>]

    /// The value of one member of the object: a user, if the member's name is an M-Pin ID, or all users of a backend, if
    /// the name is the URL of a backend.
    enum Entry: Decodable {
        case user(User)
        case backend([String: Lenient<User>])

        init(from decoder: any Decoder) throws {
            if let user = try? User(from: decoder) {
                self = .user(user)
            } else {
                self = .backend(try [String: Lenient<User>](from: decoder))
            }
        }
    }

    struct User: Decodable {
        var state: String
        /// Only the MFA core stores user id and backend here.
        var id: String?
        var backend: String?
        var customerId: String?
        var appId: String?
        var deviceName: String?
    }

    func entries(_ secrets: MilagroSecrets) -> [ImportedUser] {
        users.flatMap { name, entry -> [ImportedUser] in
            switch entry.value {
            case nil: []
            case .user(let user): [Self.entry(name, user, backend: user.backend, secrets)]
            case .backend(let users):
                users.compactMap { id, user in
                    user.value.map { Self.entry(id, $0, backend: $0.backend ?? name, secrets) }
                }
            }
        }
    }

    private static func entry(
        _ mpinID: String, _ user: User, backend: String?, _ secrets: MilagroSecrets
    ) -> ImportedUser {
        let secret = secrets[mpinID]
        return ImportedUser(
            userID: filled(user.id), mpinID: mpinID, backend: filled(backend), state: UserState(name: user.state),
            mapping: .legacyHash, token: secret?.token, regOTT: filled(secret?.regOTT),
            deviceName: filled(user.deviceName), customerID: filled(user.customerId), appID: filled(user.appId))
    }
}

/// The secrets of the Milagro and MFA cores, by M-Pin ID in hex: the token of a registered user, or the one-time token
/// of a registration.
struct MilagroSecrets {
    private let byID: [String: Secret]

    struct Secret: Decodable {
        /// The login token, a G1 point of 65 bytes.
        var token: SecretHex?
        var regOTT: SecretText?
    }

    init(_ secrets: [String: Lenient<Secret>]) {
        byID = Dictionary(
            secrets.map { ($0.lowercased(), $1.value) }.compactMap { id, secret in secret.map { (id, $0) } },
            uniquingKeysWith: { first, _ in first })
    }

    subscript(mpinID: String) -> Secret? { byID[mpinID.lowercased()] }
}

/// The users of the MIRACL MFA core.
struct MFAStore: Decodable {
    private let version: Int
    private let data: [String: Lenient<MilagroStore.Entry>]?
    private static let knownVersion = 1

    /// The users in `store`. Throws if its version is newer than this library knows, or if version or users are
    /// missing.
    static func users(_ store: MFAStore) throws(SDKError) -> MilagroStore {
        guard store.version <= knownVersion else {
            throw SDKError(.unsupportedFormat, "import: version \(store.version), this library knows \(knownVersion)")
        }
        guard store.version == knownVersion, let data = store.data else {
            throw SDKError(.storageError, "import: no users, or no version")
        }
        return MilagroStore(users: data)
    }
}

/// Returns `text`, or nil if it is empty, because old clients write an empty text if there is no value.
private func filled(_ text: SecretText?) -> SecretText? { text.flatMap { $0.count > 0 ? $0 : nil } }
private func filled(_ text: String?) -> String? { text?.isEmpty == false ? text : nil }
