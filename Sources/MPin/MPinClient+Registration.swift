import MPinSDK

/// Registration, and changes of a token.
extension MPinClient {
    /// Asks for a registration. The server then mails a link to the user.
    public func startRegistration(
        _ user: User, activateCode: String? = nil, userData: String? = nil
    ) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in
            try sdk.startRegistration(user.core, activateCode: activateCode, userData: userData)
        }
    }

    /// Asks the server to mail the link again, for the same registration.
    public func restartRegistration(_ user: User, userData: String? = nil) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.restartRegistration(user.core, userData: userData) }
    }

    /// Fetches the shares of the client secret. The error is ``MPinError/Code/identityNotVerified`` until the user has
    /// opened the link.
    public func confirmRegistration(_ user: User, pushID: String? = nil) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in try sdk.confirmRegistration(user.core, pushID: pushID) }
    }

    /// Makes the token with the PIN that the user chose, and stores it. If the server wants to know that the
    /// registration is finished, reports it.
    public func finishRegistration(_ user: User, pin: PIN, factors: [PIN] = []) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in
            try sdk.add(factors, to: user)
            try sdk.finishRegistration(user.core, pin: pin.bytes.span)
        }
    }

    /// Replaces the PIN without the server. It is only possible directly after a login with the old PIN.
    public func changePIN(_ user: User, from old: PIN, to new: PIN) async throws(MPinError) {
        try await perform { sdk throws(SDKError) in
            try sdk.changePIN(user.core, old: old.bytes.span, new: new.bytes.span)
        }
    }
}

extension SDK {
    /// Adds factors for the next call that takes a PIN. If one of the factors is refused, none is used.
    func add(_ factors: [PIN], to user: User) throws(SDKError) {
        do throws(SDKError) {
            for factor in factors { try addFactor(user.core, factor: factor.bytes.span) }
        } catch {
            user.core.forgetFactors()
            throw error
        }
    }
}
