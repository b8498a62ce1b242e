// What the operations of ``SDK`` answer with. What is public is so as part of the module MPin.

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
    /// The URL of the application's icon.
    public internal(set) var applicationIconURL = ""
    package internal(set) var customerID = ""
    package internal(set) var customerName = ""
    package internal(set) var customerIconURL = ""
    package internal(set) var clientID = ""
    package internal(set) var redirectURI = ""
}

/// What a verification gives.
package struct Verification: Sendable, Equatable {
    /// Seconds since 1970; 0 where the server does not say.
    package var expireTime: Int64
    package var accessID: String
    /// For ``SDK/startRegistrationMFA(_:accessCode:activateCode:pushID:)``, as its activate code.
    package var activationToken: String
}

/// When a registration ends, in seconds since 1970 of the server's clock; both 0 where the server does not say.
package struct Expiration: Sendable, Equatable {
    package var expireTime: Int64
    /// The server's clock at the answer.
    package var nowTime: Int64
}

/// A code that is good for a short time.
package struct OTP: Sendable, Equatable {
    /// ``Status/ok``; ``Status/responseParseError`` where one of its times is missing, which is 0 then;
    /// ``Status/flowError`` where the server issued none.
    package var status: Status
    package var code = ""
    /// Seconds since 1970 of the server's clock.
    package var expireTime: Int64 = 0
    package var nowTime: Int64 = 0
    /// Seconds.
    package var ttlSeconds: Int32 = 0
}

/// A signature for a designated verifier, with what the verifier needs in addition to the hash.
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
