public import MPinSDK

/// A one-time code, which is valid for a short time.
public struct OneTimeCode: Sendable, Equatable {
    /// The digits.
    public let code: String
    /// When the code expires, in seconds since 1970 on the server's clock; 0 if the server does not say.
    public let expireTime: Int64
    /// The time of the answer, in seconds since 1970 on the server's clock; 0 if the server does not say.
    public let nowTime: Int64
    /// How long the code is valid, in seconds; 0 if the server does not say.
    public let secondsToLive: Int32

    /// Converts the one-time code of the client core (`MPinSDK`). Nil if the server issued no code.
    init?(_ otp: OTP) {
        guard !otp.code.isEmpty else { return nil }
        code = otp.code
        expireTime = otp.expireTime
        nowTime = otp.nowTime
        secondsToLive = otp.ttlSeconds
    }
}

/// The browser session that asks for a login.
public typealias Session = MPinSDK.Session

/// Where the screen is that shows a session's code.
public typealias SessionPlace = MPinSDK.SessionPlace

/// A service that a web page offers to clients.
public typealias Service = MPinSDK.Service

/// A signature for a designated verifier: one server, which alone can check it.
public typealias Signature = MPinSDK.Signature
