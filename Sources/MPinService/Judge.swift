import MPinCrypto

/// Computes whether a proof answers a challenge.
struct Judge: Sendable {
    let context: ServerContext
    let id: MPinID
    /// Days since 1970-01-01 that the proof may be made for; 0 without time permits.
    let dates: [Int32]

    /// The challenge that `v` answers; nil for a wrong PIN. Without `v` the same work is done, and nothing is judged.
    ///
    /// All challenges are tried with all dates, whatever comes out: the time tells nothing. Several challenges live
    /// only when somebody else sent a pass 1 for the same identity; together they cost one attempt.
    func answered(_ challenges: [Challenge], by v: [UInt8]?) throws -> Challenge? {
        var answered: Challenge?
        for challenge in challenges {
            // Any point does for work whose result nobody looks at.
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
