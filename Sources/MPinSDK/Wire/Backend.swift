import MPinHTTP
import MPinSecrets
import MPinWire

/// A server, and the wires that it may speak.
struct Backend: Sendable {
    /// Base URL without trailing slash.
    let url: String
    /// Where the URLs that it names may lead: to the Internet, and to the kind of network that it is in itself. So it
    /// cannot make its clients ask what only they can reach.
    var reach: Set<AddressClass> = [.global]
    private let settings: WireSettings
    private let milagro: MilagroWire
    private let mfa: MilagroWire

    /// The client settings of Milagro's servers and of MIRACL's MFA servers look alike: which of them it is only the
    /// registrations of its users tell.
    init(url: String, settings: JSONValue) throws(SDKError) {
        self.url = url
        self.settings = try WireSettings(url: url, settings: settings)
        milagro = MilagroWire(settings: self.settings, dialect: .milagro)
        mfa = MilagroWire(settings: self.settings, dialect: .mfa)
    }

    /// That of an identity which was registered over it.
    func wire(_ name: WireName) -> any Wire {
        switch name {
        case .milagro: milagro
        case .mfa: mfa
        }
    }

    /// For what is asked without a user, where the wires do not differ.
    var wire: any Wire { milagro }

    /// A member of the settings as text: strings made absolute, others as JSON, none as an empty text.
    func parameter(_ name: String) -> String { settings.parameter(name) }

    /// A base URL as it was given, without the slashes at its end.
    static func base(_ url: String) -> String {
        var base = Substring(url)
        while base.hasSuffix("/") { base.removeLast() }
        return String(base)
    }
}

/// What client settings say (wire section 6.1): the URLs of a server and what it offers.
struct WireSettings: Sendable {
    let registerURL: String
    let signatureURL: String
    let certivoxURL: String
    /// Empty where the backend uses no time permits.
    let timePermitsURL: String
    /// Empty where there is no permit storage.
    let timePermitsStorageURL: String
    let mpinAuthServerURL: String
    let authenticateURL: String
    /// Where a login for a browser is redeemed; empty where there is none.
    let mobileAuthenticateURL: String
    /// Where the fate of a browser's session is reported; empty where there is no such thing.
    let codeStatusURL: String
    /// Where the end of a registration is reported; empty where there is no such thing.
    let setupDoneURL: String
    let verificationURL: String
    let signingRegisterURL: String
    let appID: String
    let usesPermits: Bool
    /// Whether a Milagro server gives codes that register another device.
    let givesRegistrationCodes: Bool
    /// Whether access numbers of 7 digits end in a check digit.
    let checksAccessNumbers: Bool
    /// Digits of a PIN; nil where the server does not say.
    let pinLength: Int?
    /// Of the backend, without trailing slash.
    let base: String
    private let members: [String: JSONValue]

    /// Takes the members that a login on this device needs; every other one may be missing or of any type. MIRACL's
    /// servers use no time permits and leave empty what belongs to them (TRUST wire section 7.2).
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

    /// A member as text: strings made absolute, others as JSON, none as an empty text.
    func parameter(_ name: String) -> String {
        switch members[name] {
        case nil, .null: return ""
        case .string(let text): return Self.absolute(text, base: base)
        case let value?:
            guard let json = try? JSON.encode(value) else { return "" }
            return json.plainText
        }
    }

    /// Lengths that no PIN can have are taken for none.
    private static func pinLength(_ value: JSONValue?) -> Int? {
        guard case .int(let digits) = value, PINDigits.lengths.contains(digits) else { return nil }
        return digits
    }

    /// Paths belong to the base URL; web socket URLs name the same server as http ones.
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
