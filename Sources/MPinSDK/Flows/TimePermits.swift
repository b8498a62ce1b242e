import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

extension Core {
    /// All shares of today's time permit, added up (wire section 12). Those that come with the server's answer are
    /// fetched for each login, for by withholding them the server suspends an identity; a single other one is kept for its
    /// day, or until a login fails.
    func timePermit(_ user: User, _ wire: any Wire, _ caller: Caller) throws(SDKError) -> User.Login {
        let (date, offer) = try wire.timePermit(user.mpinID, caller)
        let known = offer.shares
        let ticket = offer.tickets.count == 1 ? offer.tickets.first : nil
        if let cached = user.record.permit, cached.date == date, let ticket {
            return try login(date, known + [Share(index: ticket.index, cached.share.secret)])
        }
        if user.record.doubtedPermitDate != date, let stored = try storedShares(offer.tickets, wire, caller),
            let login = try? login(date, known + stored)
        {
            keep(stored, date, user)
            return login
        }
        let all = try offer.redeemed(over: wire, caller)
        let login = try login(date, all)
        keep(Array(all.dropFirst(known.count)), date, user)
        return login
    }

    private func login(_ date: Int32, _ shares: [Share]) throws(SDKError) -> User.Login {
        User.Login(date: date, permit: try assemble(shares, "time permit shares"))
    }

    /// Nil for whatever goes wrong at the static storage, but for a cancel: the authorities have the shares as well, and
    /// get at least half of the time that is left.
    private func storedShares(
        _ tickets: [Ticket], _ wire: any Wire, _ caller: Caller
    ) throws(SDKError) -> [Share]? {
        let half = UInt32(clamping: min(caller.deadline.remainingMilliseconds() / 2, 5000))
        let deadline = Deadline.after(milliseconds: half)
        do throws(SDKError) {
            var shares: [Share] = []
            for ticket in tickets {
                guard let share = try wire.storedShare(ticket, until: deadline, caller) else { return nil }
                shares.append(share)
            }
            return shares
        } catch {
            if error.status == .canceled { throw error }
            return nil
        }
    }

    /// Only a cache, of one share: a login goes on without it.
    private func keep(_ shares: [Share], _ date: Int32, _ user: User) {
        guard shares.count == 1, let share = shares.first?.octets else { return }
        let mpinID = user.mpinID
        try? save(user) { record throws(SDKError) in
            guard record?.mpinID == mpinID else { return }
            record?.permit = UserRecord.CachedPermit(date: date, share: SecretHex(share))
        }
    }
}
