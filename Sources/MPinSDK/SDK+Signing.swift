import MPinSecrets

/// Signatures for a designated verifier. PINs are ASCII.
extension SDK {
    /// Logs in with the login PIN and gets a signing key registered. REGISTERED, unchanged.
    package func startRegistrationDVS(_ user: User, pin: Span<UInt8>) throws(SDKError) {
        let pin = SecretBytes(copying: pin)
        try perform(withPINOf: user) { session, caller throws(SDKError) in
            try session.startRegistrationDVS(user, pin: pin, caller)
        }
    }

    /// Makes the signing token with the signing PIN and stores it; sends nothing.
    package func finishRegistrationDVS(_ user: User, pin: Span<UInt8>) throws(SDKError) {
        let pin = SecretBytes(copying: pin)
        try perform(withPINOf: user) { session, _ throws(SDKError) in
            try session.finishRegistrationDVS(user, pin: pin)
        }
    }

    /// Signs a hash of 1 to 256 bytes with the signing PIN, which the server checks first. `epochTime` is in seconds since
    /// 1970, below 2^32; 0: now. `authzToken`: the leave of the application's server.
    package func sign(
        _ user: User, hash: Span<UInt8>, pin: Span<UInt8>, epochTime: Int64 = 0, authzToken: String? = nil
    ) throws(SDKError) -> Signature {
        let pin = SecretBytes(copying: pin)
        let hash = hash.withUnsafeBufferPointer { Array($0) }
        return try perform(withPINOf: user) { session, caller throws(SDKError) in
            try session.sign(user, hash: hash, pin: pin, epochTime: epochTime, authzToken: authzToken, caller)
        }
    }

    /// SHA-256 of a document, 32 bytes.
    package static func hashDocument(_ document: Span<UInt8>) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: SHA256.size)
        var octets = hash.mutableSpan
        SHA256.hash(document, into: &octets)
        return hash
    }

    /// Whether `hash` is the document's; in constant time.
    package static func verifyDocument(_ document: Span<UInt8>, hash: Span<UInt8>) -> Bool {
        let found = hashDocument(document)
        return constantTimeEqual(found.span, hash)
    }
}
