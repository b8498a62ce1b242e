import MPinCrypto

/// Checks whether a proof answers a challenge.
struct Judge: Sendable {
    let context: ServerContext
    let id: MPinID
    /// The dates for which the proof may be made, as days since 1970-01-01; 0 without time permits.
    let dates: [Int32]

    /// Returns the challenge that the proof `v` answers; nil for a wrong PIN. Without `v` it does the same work and
    /// returns nil.
    ///
    /// All challenges are tried with all dates, so that the time does not depend on the result. There is more than one
    /// challenge only if several pass 1 requests have come for the identity, for example one from somebody else;
    /// together they cost one attempt.
    func answered(_ challenges: [Challenge], by v: [UInt8]?) throws -> Challenge? {
        var answered: Challenge?
        for challenge in challenges {
            // Without `v` any point can be used, because the result does not count.
            let point = v ?? challenge.u
            for date in dates {
                let isRight = try context.verify(
                    id: id.bytes.span, date: date, u: challenge.u.span, y: challenge.y.span, v: point.span)
                if isRight, v != nil { answered = challenge }
            }
        }
        return answered
    }
}
