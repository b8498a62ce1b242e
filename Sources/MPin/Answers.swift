import MPinSDK

/// A code that is good for a short time.
public struct OneTimeCode: Sendable, Equatable {
    /// The digits.
    public let code: String
    /// Seconds since 1970 of the server's clock; 0, as the others, where the server does not say.
    public let expireTime: Int64
    /// The server's clock at the answer.
    public let nowTime: Int64
    /// Seconds from the one to the other.
    public let secondsToLive: Int32

    /// Nil where the server issued no code.
    init?(_ otp: OTP) {
        guard !otp.code.isEmpty else { return nil }
        code = otp.code
        expireTime = otp.expireTime
        nowTime = otp.nowTime
        secondsToLive = otp.ttlSeconds
    }
}

/// Who asks for a login; what the server does not say is empty.
public struct Session: Sendable, Equatable {
    /// The user id that the page proposes.
    public let proposedUserID: String
    /// The application that shows the code.
    public let applicationName: String
    /// Its icon.
    public let applicationIconURL: String
    /// Whether the session is for registration only.
    public let isRegistrationOnly: Bool

    init(_ details: SessionDetails) {
        proposedUserID = details.prerollID
        applicationName = details.appName
        applicationIconURL = details.appIconURL
        isRegistrationOnly = details.registerOnly
    }
}

/// A service that a web page offers to clients.
public struct Service: Sendable, Equatable {
    /// For a person.
    public let name: String
    /// For ``MPinClient/setBackend(_:prefix:)``, with ``prefix``.
    public let backend: String
    /// Prefix of the service under the base URL.
    public let prefix: String
    /// Its logo.
    public let logoURL: String

    init(_ details: ServiceDetails) {
        name = details.name
        backend = details.backendURL
        prefix = details.rpsPrefix
        logoURL = details.logoURL
    }
}

/// A signature for a designated verifier, with what the verifier needs beside the hash.
public struct Signature: Sendable, Equatable {
    /// Seconds since 1970, as signed.
    public let timestamp: Int64
    /// G1 point, 65 bytes.
    public let u: [UInt8]
    /// G1 point, 65 bytes.
    public let v: [UInt8]
    /// G2 point, 128 bytes.
    public let publicKey: [UInt8]
    /// Hex.
    public let mpinID: String
    /// Which D-TAs made the key: base64.
    public let dtas: String

    init(_ signature: MPinSDK.Signature) {
        timestamp = signature.timestamp
        u = signature.u
        v = signature.v
        publicKey = signature.publicKey
        mpinID = signature.mpinID
        dtas = signature.dtas
    }
}
