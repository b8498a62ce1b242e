import MPinSecrets
package import MPinWire

/// Verification, registration and what changes a token. PINs and factors are ASCII.
extension SDK {
    /// Asks the server to mail a code that verifies the user id. INVALID -> STARTED_VERIFICATION.
    package func startVerification(_ user: User, clientID: String, accessCode: String? = nil) throws(SDKError) {
        try perform { session, caller throws(SDKError) in
            try session.startVerification(user, clientID: clientID, accessCode: accessCode, caller)
        }
    }

    /// Proves the code of the mail. STARTED_VERIFICATION, unchanged.
    package func finishVerification(_ user: User, code: String) throws(SDKError) -> Verification {
        try perform { session, caller throws(SDKError) in
            try session.finishVerification(user, code: code, caller)
        }
    }

    /// Asks for a registration. INVALID -> STARTED_REGISTRATION, or ACTIVATED.
    package func startRegistration(
        _ user: User, activateCode: String? = nil, userData: String? = nil
    ) throws(SDKError) {
        try perform { session, caller throws(SDKError) in
            try session.startRegistration(user, activateCode: activateCode, userData: userData, caller)
        }
    }

    /// The same at a MIRACL MFA server. INVALID or STARTED_VERIFICATION -> STARTED_REGISTRATION, or ACTIVATED.
    package func startRegistrationMFA(
        _ user: User, accessCode: String? = nil, activateCode: String? = nil, pushID: String? = nil
    ) throws(SDKError) {
        try perform { session, caller throws(SDKError) in
            try session.startRegistrationMFA(
                user, accessCode: accessCode, activateCode: activateCode, pushID: pushID, caller)
        }
    }

    /// Completes the registration token by the part that the link carries. STARTED_REGISTRATION, unchanged.
    package func setRegistrationToken(_ user: User, token: SecretText) throws(SDKError) {
        try perform { session, _ throws(SDKError) in try session.setRegistrationToken(user, token: token) }
    }

    /// Asks for the confirmation mail again. STARTED_REGISTRATION -> STARTED_REGISTRATION or ACTIVATED.
    package func restartRegistration(_ user: User, userData: String? = nil) throws(SDKError) {
        try perform { session, caller throws(SDKError) in
            try session.restartRegistration(user, userData: userData, caller)
        }
    }

    /// Fetches the client secret's shares. STARTED_REGISTRATION or ACTIVATED, unchanged.
    package func confirmRegistration(_ user: User, pushID: String? = nil) throws(SDKError) {
        try perform { session, caller throws(SDKError) in
            try session.confirmRegistration(user, pushID: pushID, caller)
        }
    }

    /// Makes and stores the token, and lets a server know that wants to. STARTED_REGISTRATION or ACTIVATED -> REGISTERED.
    package func finishRegistration(_ user: User, pin: Span<UInt8>) throws(SDKError) {
        let pin = SecretBytes(copying: pin)
        try perform(withPINOf: user) { session, caller throws(SDKError) in
            try session.finishRegistration(user, pin: pin, caller)
        }
    }

    /// Gives a further factor, 4 to 6 digits, for the next call of this user that takes a PIN.
    package func addFactor(_ user: User, factor: Span<UInt8>) throws(SDKError) {
        let factor = SecretBytes(copying: factor)
        try perform { session, _ throws(SDKError) in try session.addFactor(user, factor) }
    }

    /// Replaces the PIN without the server, straight after a login with the old one. REGISTERED, unchanged. After a wrong
    /// old PIN there must be another login first.
    package func changePIN(_ user: User, old: Span<UInt8>, new: Span<UInt8>) throws(SDKError) {
        let (old, new) = (SecretBytes(copying: old), SecretBytes(copying: new))
        try perform(withPINOf: user) { session, _ throws(SDKError) in try session.changePIN(user, old: old, new: new) }
    }
}
