import MPinSecrets

extension Session {
    /// For the next operation of this user that takes a PIN.
    func addFactor(_ user: User, _ factor: SecretBytes) throws(SDKError) {
        guard factor.count > 0 else { throw SDKError(.pinInvalid, "the factor is empty") }
        try PINDigits.check(factor, length: nil)
        guard user.factors.count < PINDigits.maxFactors else {
            throw SDKError(.flowError, "\(PINDigits.maxFactors) factors are there")
        }
        user.update { $0.factors.append(factor) }
    }
}

extension User {
    /// Forgets the factors with the operation that begins, however it ends.
    func takeFactors() -> [SecretBytes] {
        let factors = factors
        forgetFactors()
        return factors
    }

    /// For a call that gave some of them and could not go on.
    package func forgetFactors() { update { $0.factors = [] } }
}
