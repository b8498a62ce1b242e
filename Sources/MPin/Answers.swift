import MPinSDK

/// A one-time code, which is valid for a short time.
public struct OneTimeCode: Sendable, Equatable {
    /// The digits.
    public let code: String
    /// When the code expires, in seconds since 1970 on the server's clock. This and the next two are 0 if the server
    /// does not send them.
    public let expireTime: Int64
    /// The time of the answer on the server's clock, in seconds since 1970.
    public let nowTime: Int64
    /// How long the code is valid, in seconds.
    public let secondsToLive: Int32

    /// Nil if the server issued no code.
    init?(_ otp: OTP) {
        guard !otp.code.isEmpty else { return nil }
        code = otp.code
        expireTime = otp.expireTime
        nowTime = otp.nowTime
        secondsToLive = otp.ttlSeconds
    }
}

/// The browser session that asks for a login. Texts that the server does not send are empty.
public struct Session: Sendable, Equatable {
    /// The user id that the page suggests.
    public let proposedUserID: String
    /// The name of the application that shows the code.
    public let applicationName: String
    /// The URL of the application's icon.
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
    /// The name of the service, to show to the user.
    public let name: String
    /// The base URL for ``MPinClient/setBackend(_:prefix:)``, together with ``prefix``.
    public let backend: String
    /// The prefix of the service's paths under the base URL.
    public let prefix: String
    /// The URL of the service's logo.
    public let logoURL: String

    init(_ details: ServiceDetails) {
        name = details.name
        backend = details.backendURL
        prefix = details.rpsPrefix
        logoURL = details.logoURL
    }
}

/// A signature for a designated verifier, with what the verifier needs in addition to the hash.
public struct Signature: Sendable, Equatable {
    /// The time that was signed, in seconds since 1970.
    public let timestamp: Int64
    /// The commitment U: a G1 point, 65 bytes.
    public let u: [UInt8]
    /// The proof V: a G1 point, 65 bytes.
    public let v: [UInt8]
    /// The signer's public key: a G2 point, 128 bytes.
    public let publicKey: [UInt8]
    /// The signer's M-Pin ID in hex.
    public let mpinID: String
    /// The names of the D-TAs that made the key, in base64.
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
