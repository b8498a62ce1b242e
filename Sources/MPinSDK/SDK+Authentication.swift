import MPinSecrets

/// Logins. PINs are ASCII.
extension SDK {
    /// Gets today's time permit. REGISTERED, unchanged.
    package func startAuthentication(_ user: User) throws(SDKError) {
        try perform { session, caller throws(SDKError) in try session.startAuthentication(user, caller) }
    }

    /// Proves PIN and token. REGISTERED, or BLOCKED after the last attempt. Returns the answer of the application, JSON
    /// text.
    package func finishAuthentication(_ user: User, pin: Span<UInt8>) throws(SDKError) -> String {
        let pin = SecretBytes(copying: pin)
        return try perform(withPINOf: user) { session, caller throws(SDKError) in
            try session.logIn(user, pin: pin, .plain, caller).text
        }
    }

    /// As ``startAuthentication(_:)``, for a browser's session, which is told the user first.
    package func startAuthenticationMFA(_ user: User, accessCode: String) throws(SDKError) {
        try perform { session, caller throws(SDKError) in
            try session.startAuthenticationMFA(user, accessCode: accessCode, caller)
        }
    }

    /// Checks the digits of an access number as the backend's settings ask; sends nothing.
    package func checkAccessNumber(_ number: String) throws(SDKError) {
        try perform { session, _ throws(SDKError) in try session.checkAccessNumber(number) }
    }

    /// Logs a browser in that shows an access number or a QR code.
    package func finishAuthenticationAN(
        _ user: User, pin: Span<UInt8>, accessNumber: String
    ) throws(SDKError) {
        let pin = SecretBytes(copying: pin)
        try perform(withPINOf: user) { session, caller throws(SDKError) in
            _ = try session.logIn(user, pin: pin, .browser(accessNumber), caller)
        }
    }

    /// Logs in, here or in a browser, and gets an authorization code.
    package func finishAuthenticationMFA(
        _ user: User, pin: Span<UInt8>, accessCode: String? = nil
    ) throws(SDKError) -> String {
        let pin = SecretBytes(copying: pin)
        return try perform(withPINOf: user) { session, caller throws(SDKError) in
            try session.finishAuthenticationMFA(user, pin: pin, accessCode: accessCode, caller)
        }
    }

    /// As ``startAuthentication(_:)``, for a one-time password.
    package func startAuthenticationOTP(_ user: User) throws(SDKError) { try startAuthentication(user) }

    /// Logs in and gets a one-time password.
    package func finishAuthenticationOTP(_ user: User, pin: Span<UInt8>) throws(SDKError) -> OTP {
        let pin = SecretBytes(copying: pin)
        return try perform(withPINOf: user) { session, caller throws(SDKError) in
            try session.finishAuthenticationOTP(user, pin: pin, caller)
        }
    }

    /// As ``startAuthentication(_:)``, for a registration code.
    package func startAuthenticationRegCode(_ user: User) throws(SDKError) {
        try perform { session, caller throws(SDKError) in
            try session.checkRegistrationCodes(user)
            try session.startAuthentication(user, caller)
        }
    }

    /// Logs in and gets a code that registers another device of the same user.
    package func finishAuthenticationRegCode(_ user: User, pin: Span<UInt8>) throws(SDKError) -> OTP {
        let pin = SecretBytes(copying: pin)
        return try perform(withPINOf: user) { session, caller throws(SDKError) in
            try session.finishAuthenticationRegCode(user, pin: pin, caller)
        }
    }

    /// Ends the session that the last login began; once. Whether there is one: ``User/canLogout``.
    package func logout(_ user: User) throws(SDKError) {
        try perform { session, caller throws(SDKError) in try session.logout(user, caller) }
    }

    /// Asks who shows this code; the page learns that it was read.
    package func sessionDetails(_ accessCode: String) throws(SDKError) -> SessionDetails {
        try perform { session, caller throws(SDKError) in try session.sessionDetails(accessCode, caller) }
    }

    /// Tells the page that the user declined.
    package func abortSession(_ accessCode: String) throws(SDKError) {
        try perform { session, caller throws(SDKError) in try session.abortSession(accessCode, caller) }
    }

    /// Opens a session at an authorization endpoint, for a login on this device.
    package func accessCode(authorizeURL: String) throws(SDKError) -> String {
        try perform { session, caller throws(SDKError) in
            try session.accessCode(authorizeURL: authorizeURL, caller)
        }
    }
}
