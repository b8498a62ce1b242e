public import MPinSDK

/// Logins.
extension MPinClient {
    /// Logs in on this device and returns the application's answer, a JSON text. `factors` are the factors that were
    /// used at the registration.
    public func logIn(_ user: User, pin: PIN, factors: [PIN] = []) async throws(MPinError) -> String {
        try await perform { sdk throws(SDKError) in
            try sdk.startAuthentication(user.core)
            try sdk.add(factors, to: user)
            return try sdk.finishAuthentication(user.core, pin: pin.bytes.span)
        }
    }

    /// Logs in a browser that shows an access number or a QR code. `accessCode` is the access number, or the part after
    /// `#` of the URL in the QR code.
    public func logIn(_ user: User, pin: PIN, accessCode: String) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in
            try sdk.checkAccessNumber(accessCode)
            try sdk.startAuthenticationMFA(user.core, accessCode: accessCode)
            try sdk.finishAuthenticationAN(user.core, pin: pin.bytes.span, accessNumber: accessCode)
        }
    }

    /// Logs in and gets a one-time code, which the user types elsewhere. Nil if the server issues none.
    public func oneTimeCode(_ user: User, pin: PIN) async throws(MPinError) -> OneTimeCode? {
        try await perform { sdk throws(SDKError) in
            try sdk.startAuthenticationOTP(user.core)
            return OneTimeCode(try sdk.finishAuthenticationOTP(user.core, pin: pin.bytes.span))
        }
    }

    /// Returns the browser session that shows this code. Its page learns that a device has read the code.
    public func session(_ accessCode: String) async throws(MPinError) -> Session {
        try await perform { sdk throws(SDKError) in try sdk.sessionDetails(accessCode) }
    }

    /// Tells the page that shows this code that the user has declined the login.
    public func declineSession(_ accessCode: String) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.abortSession(accessCode) }
    }

    /// Ends the session that the last login began; see ``User/canLogOut``.
    public func logOut(_ user: User) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.logout(user.core) }
    }

    /// Logs in with the login PIN, then registers a signing key with a signing PIN.
    public func enableSigning(_ user: User, pin: PIN, signingPIN: PIN) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in
            try sdk.startRegistrationDVS(user.core, pin: pin.bytes.span)
            try sdk.finishRegistrationDVS(user.core, pin: signingPIN.bytes.span)
        }
    }

    /// The SHA-256 hash of a document, 32 bytes, to sign.
    public static func hash(ofDocument document: [UInt8]) -> [UInt8] { SDK.hashDocument(document.span) }

    /// Signs a hash of 1 to 256 bytes together with the current time. The server checks the signing PIN first.
    public func sign(_ user: User, hash: [UInt8], signingPIN: PIN) async throws(MPinError) -> Signature {
        try await perform { sdk throws(SDKError) in
            try sdk.sign(user.core, hash: hash.span, pin: signingPIN.bytes.span)
        }
    }
}
