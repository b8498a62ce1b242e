import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

extension Session {
    /// Both shares of today's time permit, added up (wire section 12). The first one is fetched for each login, for by
    /// withholding it the server suspends an identity; the second one is kept for its day, or until a login fails.
    func timePermit(_ user: User, _ caller: Caller) throws(SDKError) -> User.Login {
        let url = "\(try currentBackend().timePermitsURL)/\(user.mpinID)"
        let response: RPSTimePermitResponse = try caller.decode(.timePermit, try caller.get(.timePermit, url))
        guard response.date > 0, let first = point(response.timePermit) else {
            throw SDKError(.responseParseError, "\(ServerCall.timePermit.name): no date or no point")
        }
        if let cached = user.record.permit, cached.date == response.date {
            return try login(response.date, first, cached.share.secret)
        }
        let hash = Hex.encode(SHA256.hash(try MPinID.bytes(user.mpinID)))
        if user.record.doubtedPermitDate != response.date, let second = try storedPermit(response.date, hash, caller),
            let login = try? login(response.date, first, second)
        {
            cache(second, response.date, user)
            return login
        }
        let second = try secondPermit(response, hash, caller)
        let login = try login(response.date, first, second)
        cache(second, response.date, user)
        return login
    }

    private func login(_ date: Int32, _ first: SecretBytes, _ second: SecretBytes) throws(SDKError) -> User.Login {
        let permit = SecretBytes(count: MPinSize.g1)
        try cryptoStep("time permit shares") { () throws(MPinError) in
            var sum = permit.mutableSpan
            try Shares.recombineG1(first.span, second.span, into: &sum)
        }
        return User.Login(date: date, permit: permit)
    }

    /// From the static storage: the bare hex of the share. Nil for whatever goes wrong there, but for a cancel: the
    /// second D-TA has it as well, and gets at least half of the time that is left.
    private func storedPermit(_ date: Int32, _ hash: String, _ caller: Caller) throws(SDKError) -> SecretBytes? {
        let backend = try currentBackend()
        guard !backend.timePermitsStorageURL.isEmpty else { return nil }
        let url = "\(backend.timePermitsStorageURL)/\(percentEncoded(backend.appID))/\(date)/\(hash)"
        let half = UInt32(clamping: min(caller.deadline.remainingMilliseconds() / 2, 5000))
        do throws(SDKError) {
            return point(try caller.get(.permitStorage, url, until: .after(milliseconds: half)))
        } catch {
            if error.status == .canceled { throw error }
            return nil
        }
    }

    private func secondPermit(
        _ response: RPSTimePermitResponse, _ hash: String, _ caller: Caller
    ) throws(SDKError) -> SecretBytes {
        let backend = try currentBackend()
        let query = percentEncodedQuery([
            ("hash_mpin_id", hash), ("app_id", backend.appID), ("mobile", "1"), ("signature", response.signature),
        ])
        let answer = try caller.get(.secondTimePermit, "\(backend.certivoxURL)timePermit?\(query)")
        let share: TimePermitResponse = try caller.decode(.secondTimePermit, answer)
        guard let second = point(share.timePermit) else {
            throw SDKError(.responseParseError, "\(ServerCall.secondTimePermit.name): no point")
        }
        return second
    }

    /// Only a cache: a login goes on without it.
    private func cache(_ share: SecretBytes, _ date: Int32, _ user: User) {
        let mpinID = user.mpinID
        try? save(user) { record throws(SDKError) in
            guard record?.mpinID == mpinID else { return }
            record?.permit = UserRecord.CachedPermit(date: date, share: SecretHex(share))
        }
    }

    private func point(_ text: String) -> SecretBytes? { point(SecretBytes(copying: Array(text.utf8).span)) }

    /// The octets that `text` spells, without regard to white space around them.
    private func point(_ text: SecretBytes) -> SecretBytes? {
        let digits = text.span
        var (start, end) = (0, digits.count)
        while start < end, digits[start] <= 32 { start += 1 }
        while end > start, digits[end - 1] <= 32 { end -= 1 }
        guard end - start == 2 * MPinSize.g1 else { return nil }
        return SecretBytes(hex: digits.extracting(start..<end))
    }
}
