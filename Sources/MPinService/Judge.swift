import MPinCrypto
import MPinSecrets

/// Checks whether a proof answers a challenge.
struct Judge: Sendable {
    let context: ServerContext
    let checks: JointChecks
    let id: MPinID
    /// The dates for which the proof may be made, as days since 1970-01-01; 0 without time permits.
    let dates: [Int32]

    /// ``IdentityRecord/publicKeyHash`` of the identity.
    let publicKeyHash: [UInt8]
    /// The key with which the device renews its secret, and its master secret. Nil if there is none.
    var renewal: (publicKeyHash: [UInt8], context: ServerContext)?

    /// Returns the challenge that the proof `v` answers; nil for a wrong PIN. Without `v` it does the same work and
    /// returns nil.
    ///
    /// All challenges are tried with all dates, so that the time does not depend on the result. There is more than one
    /// challenge only if several pass 1 requests have come for the identity, for example one from somebody else;
    /// together they cost one attempt. A challenge with another public key than the registered one, or that of a
    /// renewal, is never answered.
    func answered(_ challenges: [Challenge], by v: [UInt8]?) async throws -> Challenge? {
        var answered: Challenge?
        let isOnly = challenges.count == 1 && dates.count == 1
        for challenge in challenges {
            // Without `v` any point can be used, because the result does not count.
            let point = v ?? challenge.u
            let named = challenge.publicKeyHash
            let isRenewal = isOfRenewal(challenge)
            let isOwnKey = constantTimeEqual(named.span, publicKeyHash.span) || isRenewal
            let context = isRenewal ? renewal?.context ?? context : context
            for date in dates {
                let isRight = try await isRight(point, challenge, date, context, isOnly: isOnly)
                if isRight, isOwnKey, v != nil { answered = challenge }
            }
        }
        return answered
    }

    /// Whether the client has named the key with which the device renews its secret.
    func isOfRenewal(_ challenge: Challenge) -> Bool {
        let named = challenge.publicKeyHash
        return renewal.map { constantTimeEqual(named.span, $0.publicKeyHash.span) } ?? false
    }

    /// `isOnly` tells whether nothing else is tried for this login. Of several tries at most one can be right, so they
    /// are not checked together with others.
    private func isRight(
        _ v: [UInt8], _ challenge: Challenge, _ date: Int32, _ context: ServerContext, isOnly: Bool
    ) async throws -> Bool {
        let proof = LoginProof(
            id: id.bytes + challenge.publicKey, date: date, u: challenge.u, y: challenge.y, v: v,
            publicKey: challenge.publicKey)
        do { return try await isOnly ? checks.isRight(proof, context) : checks.isRightAlone(proof, context) } catch {
            // Pass 1 takes any 128 bytes. If they are no key, they are not the registered one, whose order was checked.
            guard challenge.publicKey.isEmpty else { return false }
            throw error
        }
    }
}

extension Challenge {
    /// The form of ``IdentityRecord/publicKeyHash`` for the key that the client has named.
    var publicKeyHash: [UInt8] {
        publicKey.isEmpty ? IdentityRecord.noPublicKey : SHA256.hash(publicKey)
    }
}
