// The results of the operations of ``SDK``. The public ones belong to the public API of the module MPin.

/// A service that a web page offers to clients.
public struct Service: Sendable, Equatable {
    /// The name of the service, to show to the user.
    public let name: String
    /// The base URL of the backend to set, together with ``prefix``.
    public let backend: String
    /// The prefix of the service's paths under the base URL.
    public let prefix: String
    /// The URL of the service's logo.
    public let logoURL: String
}

/// The browser session that asks for a login. Texts that the server does not send are empty.
public struct Session: Sendable, Equatable {
    /// Whether the session is for registration only.
    public internal(set) var isRegistrationOnly = false
    /// The user id that the page suggests.
    public internal(set) var proposedUserID = ""
    /// The name of the application that shows the code.
    public internal(set) var applicationName = ""
    /// The URL of the icon of the application that shows the code.
    public internal(set) var applicationIconURL = ""
    package internal(set) var customerID = ""
    package internal(set) var customerName = ""
    package internal(set) var customerIconURL = ""
    package internal(set) var clientID = ""
    package internal(set) var redirectURI = ""
    /// Where the screen is that shows the code.
    public internal(set) var place = SessionPlace()
}

/// Where the screen is that shows a session's code, as the server saw it. Texts that the server does not know, or does not
/// send, are empty.
public struct SessionPlace: Sendable, Equatable {
    /// The IP address of the screen.
    public private(set) var screenAddress = ""
    /// The browser that the screen says to be, and its system.
    public private(set) var screenProgram = ""
    /// The IP address of the server or program that has opened the session in the place of the screen, whose own address
    /// is then not known.
    public private(set) var siteAddress = ""

    /// Whether the server saw the screen. If not, it may be anybody's: let the user confirm once more before the PIN.
    public var isScreenKnown: Bool { !screenAddress.isEmpty }

    /// More bytes than an address has.
    private static let maxAddress = 63

    init() {}

    /// Takes an address that is none for one that is missing.
    init(screenAddress: String, screenProgram: String, siteAddress: String) {
        func address(_ text: String) -> String { text.utf8.count > Self.maxAddress ? "" : text }
        self.screenAddress = address(screenAddress)
        self.screenProgram = screenProgram
        self.siteAddress = address(siteAddress)
    }
}

/// The server's answer to the code with which the user has proved to own the user id.
package struct Verification: Sendable, Equatable {
    /// When the activation token expires, in seconds since 1970; 0 if the server does not say.
    package var expireTime: Int64
    package var accessID: String
    /// The activate code for ``SDK/startRegistrationMFA(_:accessCode:activateCode:pushID:)``.
    package var activationToken: String
}

/// When a registration expires. Both times are seconds since 1970 of the server's clock, and 0 if the server does not
/// say.
package struct Expiration: Sendable, Equatable {
    package var expireTime: Int64
    /// The time of the server's clock when it answered.
    package var nowTime: Int64
}

/// A one-time password or a registration code, which is valid for a short time.
package struct OTP: Sendable, Equatable {
    /// ``Status/ok``; ``Status/responseParseError`` if one of the times is missing (it is 0 then); ``Status/flowError``
    /// if the server issued no code.
    package var status: Status
    package var code = ""
    /// When the code expires, in seconds since 1970 on the server's clock.
    package var expireTime: Int64 = 0
    /// The time of the server's clock when it answered, in seconds since 1970.
    package var nowTime: Int64 = 0
    /// How long the code is valid, in seconds.
    package var ttlSeconds: Int32 = 0
}

/// A signature for a designated verifier: one server, which alone can check it. It contains all values that the
/// verifier needs besides the hash that was signed.
public struct Signature: Sendable, Equatable {
    /// The time that was signed, in seconds since 1970.
    public package(set) var timestamp: Int64
    /// The commitment U: a G1 point, 65 bytes.
    public package(set) var u: [UInt8]
    /// The proof V: a G1 point, 65 bytes.
    public package(set) var v: [UInt8]
    /// The signer's public key: a G2 point, 128 bytes.
    public package(set) var publicKey: [UInt8]
    /// The signer's M-Pin ID in hex.
    public package(set) var mpinID: String
    /// The names of the D-TAs that made the key, in base64.
    public package(set) var dtas: String
}
