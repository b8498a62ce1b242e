import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

extension Core {
    /// Gets today's time permit: the sum of the shares of all authorities (wire section 12). The server is asked again
    /// for every login, so that it can suspend an identity by withholding its share. The share of another authority is
    /// cached if there is only one other authority. It is kept until the end of its day or until a login with a wrong
    /// PIN.
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

    /// Gets the other authorities' shares from the static storage, a web server with the shares of each day. Nil after
    /// every failure except a cancel, because the authorities can then be asked themselves. At least half of the
    /// remaining time is left for that.
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

    /// Caches the other authorities' shares if there is exactly one. A failure is ignored, because the login does not
    /// need the cache.
    private func keep(_ shares: [Share], _ date: Int32, _ user: User) {
        guard shares.count == 1, let share = shares.first?.octets else { return }
        let mpinID = user.mpinID
        try? save(user) { record throws(SDKError) in
            guard record?.mpinID == mpinID else { return }
            record?.permit = UserRecord.CachedPermit(date: date, share: SecretHex(share))
        }
    }
}
