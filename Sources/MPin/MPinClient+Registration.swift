import MPinSDK

/// Registration, and what changes a token.
extension MPinClient {
    /// Asks for a registration; the server then mails the user a link.
    public func startRegistration(
        _ user: User, activateCode: String? = nil, userData: String? = nil
    ) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in
            try sdk.startRegistration(user.core, activateCode: activateCode, userData: userData)
        }
    }

    /// Asks for the mail again, for the same registration.
    public func restartRegistration(_ user: User, userData: String? = nil) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.restartRegistration(user.core, userData: userData) }
    }

    /// Fetches the client secret's shares; ``MPinError/Code/identityNotVerified`` until the user has opened the link.
    public func confirmRegistration(_ user: User, pushID: String? = nil) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.confirmRegistration(user.core, pushID: pushID) }
    }

    /// Makes the token with a PIN of the user's choice and stores it; a server that wants to know that is told.
    public func finishRegistration(_ user: User, pin: PIN, factors: [PIN] = []) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in
            try sdk.add(factors, to: user)
            try sdk.finishRegistration(user.core, pin: pin.bytes.span)
        }
    }

    /// Replaces the PIN without the server, straight after a login with the old one.
    public func changePIN(_ user: User, from old: PIN, to new: PIN) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in
            try sdk.changePIN(user.core, old: old.bytes.span, new: new.bytes.span)
        }
    }
}

extension SDK {
    /// Gives the factors beside the PIN of the next call: all of them or none.
    func add(_ factors: [PIN], to user: User) throws(SDKError) {
        do throws(SDKError) {
            for factor in factors { try addFactor(user.core, factor: factor.bytes.span) }
        } catch {
            user.core.forgetFactors()
            throw error
        }
    }
}
