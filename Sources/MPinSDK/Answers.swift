/// What the operations of ``SDK`` answer with.

/// A service that a web page offers.
package struct ServiceDetails: Sendable, Equatable {
    package var name: String
    /// For ``SDK/setBackend(_:prefix:)``.
    package var backendURL: String
    package var rpsPrefix: String
    package var logoURL: String
}

/// Who asks for a login; what the server does not say is empty.
package struct SessionDetails: Sendable, Equatable {
    /// The session is for registration only.
    package var registerOnly = false
    /// The user id that the page proposes.
    package var prerollID = ""
    package var appName = ""
    package var appIconURL = ""
    package var customerID = ""
    package var customerName = ""
    package var customerIconURL = ""
    package var clientID = ""
    package var redirectURI = ""
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

/// A signature and what its verifier needs beside the hash.
package struct Signature: Sendable, Equatable {
    /// Seconds since 1970, as signed.
    package var timestamp: Int64
    /// G1 points, 65 bytes each.
    package var u: [UInt8]
    package var v: [UInt8]
    /// G2 point, 128 bytes.
    package var publicKey: [UInt8]
    /// Hex.
    package var mpinID: String
    /// Which D-TAs made the key: base64.
    package var dtas: String
}
