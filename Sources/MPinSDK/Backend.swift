import MPinSecrets
import MPinWire

/// A server as its client settings describe it (wire section 6.1).
struct Backend: Sendable {
    /// Base URL without trailing slash.
    let url: String
    let registerURL: String
    let signatureURL: String
    let certivoxURL: String
    let timePermitsURL: String
    /// Empty where there is no permit storage.
    let timePermitsStorageURL: String
    let mpinAuthServerURL: String
    let authenticateURL: String
    let appID: String
    let usesPermits: Bool
    private let settings: [String: JSONValue]

    /// Takes the members that a login on this device needs; every other one may be missing or of any type.
    init(url: String, settings: JSONValue) throws(SDKError) {
        guard case .object(let members) = settings else { throw Self.missing("") }
        func text(_ name: String) throws(SDKError) -> String {
            guard case .string(let value) = members[name], !value.isEmpty else { throw Self.missing(name) }
            return Self.absolute(value, base: url)
        }
        self.url = url
        registerURL = try text("registerURL")
        signatureURL = try text("signatureURL")
        certivoxURL = try text("certivoxURL")
        timePermitsURL = try text("timePermitsURL")
        mpinAuthServerURL = try text("mpinAuthServerURL")
        authenticateURL = try text("authenticateURL")
        appID = try text("appID")
        timePermitsStorageURL = (try? text("timePermitsStorageURL")) ?? ""
        usesPermits = members["usePermits"] != .bool(false)
        self.settings = members
    }

    /// A member as text: strings made absolute, others as JSON, none as an empty text.
    func parameter(_ name: String) -> String {
        switch settings[name] {
        case nil, .null: return ""
        case .string(let text): return Self.absolute(text, base: url)
        case let value?:
            guard let json = try? JSON.encode(value) else { return "" }
            return json.plainText
        }
    }

    /// A base URL as it was given, without the slashes at its end.
    static func base(_ url: String) -> String {
        var base = Substring(url)
        while base.hasSuffix("/") { base.removeLast() }
        return String(base)
    }

    /// Paths belong to the base URL; web socket URLs name the same server as http ones.
    private static func absolute(_ text: String, base: String) -> String {
        if text.hasPrefix("/") { return base + text }
        if text.hasPrefix("ws://") || text.hasPrefix("wss://") { return "http" + text.dropFirst(2) }
        return text
    }

    private static func missing(_ name: String) -> SDKError {
        SDKError(.responseParseError, "client settings: member \(name) is missing or no text")
    }
}

/// `text` as a part of a path or query: everything but unreserved characters (RFC 3986 section 2.3) is escaped.
func percentEncoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            result.unicodeScalars.append(Unicode.Scalar(byte))
        default: result += "%" + Hex.encode([byte]).uppercased()
        }
    }
    return result
}
