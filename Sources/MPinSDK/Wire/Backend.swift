import MPinHTTP
import MPinSecrets
import MPinWire

/// A server and the protocols that it may use (``Wire``).
struct Backend: Sendable {
    /// The base URL of the server, without trailing slash.
    let url: String
    /// The networks to which the URLs in the server's answers may lead: the Internet, and the network of the server
    /// itself. So a server cannot direct requests to hosts that only its clients can reach.
    var reach: Set<AddressClass> = [.global]
    /// The settings of a server of Milagro's or MIRACL's MFA wire; nil for a project of MIRACL Trust.
    private let settings: WireSettings?
    /// The project of MIRACL Trust; nil if the backend is none.
    let project: TrustWire?

    /// The client settings of Milagro's servers and of MIRACL's MFA servers look alike. The registration of each user
    /// decides which of the two protocols is used.
    init(url: String, settings: JSONValue) throws(SDKError) {
        self.url = url
        self.settings = try WireSettings(url: url, settings: settings)
        project = nil
    }

    init(project: TrustWire) {
        url = project.url
        settings = nil
        self.project = project
    }

    /// The protocol with that name, for a user who was registered over it.
    func wire(_ name: WireName) throws(SDKError) -> any Wire {
        guard let settings else { throw Self.needsTrust }
        return switch name {
        case .milagro: MilagroWire(settings: settings, isMFA: false)
        case .mfa: MilagroWire(settings: settings, isMFA: true)
        case .trust: throw Self.needsTrust
        }
    }

    /// The protocol for requests without a user, which are the same in all protocols but that of MIRACL Trust.
    var wire: any Wire { get throws(SDKError) { try wire(.milagro) } }

    /// Whether the user of the record is one of this backend or project.
    func has(_ record: UserRecord) -> Bool {
        guard IdentityKey.site(record.backend) == IdentityKey.site(url) else { return false }
        guard let project else { return record.wire != .trust }
        return record.wire == .trust && record.customerID == project.id
    }

    /// The member `name` of the settings as text. A path becomes an absolute URL, another string stays as it is, and
    /// other values become JSON texts. Empty if there is no such member.
    func parameter(_ name: String) throws(SDKError) -> String {
        guard let settings else { throw Self.needsTrust }
        return settings.parameter(name)
    }

    private static var needsTrust: SDKError {
        SDKError(.flowError, "users of a MIRACL Trust project need the functions for MIRACL Trust")
    }

    /// A base URL without the slashes at its end.
    static func base(_ url: String) -> String {
        var base = Substring(url)
        while base.hasSuffix("/") { base.removeLast() }
        return String(base)
    }
}

/// The client settings (wire section 6.1): the URLs of a server and its features.
struct WireSettings: Sendable {
    let registerURL: String
    let signatureURL: String
    let certivoxURL: String
    /// Empty if the backend uses no time permits.
    let timePermitsURL: String
    /// Empty if there is no permit storage.
    let timePermitsStorageURL: String
    let mpinAuthServerURL: String
    let authenticateURL: String
    /// The URL that completes a login for a browser; empty if there is none.
    let mobileAuthenticateURL: String
    /// The URL for reports about a browser's session; empty if there is none.
    let codeStatusURL: String
    /// The URL for reports of finished registrations; empty if there is none.
    let setupDoneURL: String
    let verificationURL: String
    let signingRegisterURL: String
    let appID: String
    let usesPermits: Bool
    /// Whether a Milagro server gives codes that register another device.
    let givesRegistrationCodes: Bool
    /// Whether access numbers of 7 digits end in a check digit.
    let checksAccessNumbers: Bool
    /// The number of digits of a PIN; nil if the server does not say.
    let pinLength: Int?
    /// The base URL of the backend, without trailing slash.
    let base: String
    private let members: [String: JSONValue]

    /// Reads the settings. The members that a login on this device needs must be there; the others may be missing or
    /// have any type. MIRACL's servers use no time permits and leave the members for them empty (TRUST wire section
    /// 7.2).
    init(url: String, settings: JSONValue) throws(SDKError) {
        guard case .object(let members) = settings else { throw Self.missing("") }
        func text(_ name: String) throws(SDKError) -> String {
            guard case .string(let value) = members[name], !value.isEmpty else { throw Self.missing(name) }
            return Self.absolute(value, base: url)
        }
        base = url
        registerURL = try text("registerURL")
        signatureURL = try text("signatureURL")
        certivoxURL = try text("certivoxURL")
        mpinAuthServerURL = try text("mpinAuthServerURL")
        authenticateURL = try text("authenticateURL")
        timePermitsStorageURL = (try? text("timePermitsStorageURL")) ?? ""
        mobileAuthenticateURL = (try? text("mobileAuthenticateURL")) ?? ""
        codeStatusURL = (try? text("codeStatusURL")) ?? ""
        setupDoneURL = (try? text("setupDoneURL")) ?? ""
        verificationURL = (try? text("verificationURL")) ?? "\(url)/verification"
        signingRegisterURL = (try? text("dvsRegisterURL")) ?? "\(mpinAuthServerURL)/dvsregister"
        givesRegistrationCodes = members["registrationCodes"] == .bool(true)
        usesPermits = members["usePermits"] != .bool(false)
        timePermitsURL = usesPermits ? try text("timePermitsURL") : ""
        appID = usesPermits ? try text("appID") : ""
        let hasCheckDigits = members["accessNumberUseCheckSum"] != .bool(false)
        checksAccessNumbers = hasCheckDigits && ![nil, .null, .int(0), .bool(false)].contains(members["cSum"])
        pinLength = Self.pinLength(members["pinLength"])
        self.members = members
    }

    /// The member `name` as text. A path becomes an absolute URL, another string stays as it is, and other values
    /// become JSON texts. Empty if there is no such member.
    func parameter(_ name: String) -> String {
        switch members[name] {
        case nil, .null: return ""
        case .string(let text): return Self.absolute(text, base: base)
        case let value?:
            guard let json = try? JSON.encode(value) else { return "" }
            return json.plainText
        }
    }

    /// Reads the number of digits of a PIN. Nil if it is missing or no PIN can have it.
    private static func pinLength(_ value: JSONValue?) -> Int? {
        guard case .int(let digits) = value, PINDigits.lengths.contains(digits) else { return nil }
        return digits
    }

    /// Adds the base URL to a path, and replaces the scheme of a web socket URL by the matching http scheme.
    private static func absolute(_ text: String, base: String) -> String {
        if text.hasPrefix("/") { return base + text }
        if text.hasPrefix("ws://") || text.hasPrefix("wss://") { return "http" + text.dropFirst(2) }
        return text
    }

    private static func missing(_ name: String) -> SDKError {
        let what = name.isEmpty ? "no JSON object" : "member \(name) is missing, empty or no text"
        return SDKError(.responseParseError, "client settings: \(what)")
    }
}
