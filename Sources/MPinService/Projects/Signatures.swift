import MPinCrypto
import MPinSecrets
import MPinStore

/// A one-pass signature of a device (TRUST wire section 1.9).
package struct DocumentSignature: Sendable {
    package let id: MPinID
    /// The commitment U, a G1 point of 65 bytes.
    let u: [UInt8]
    /// The proof V, a G1 point of 65 bytes.
    let v: [UInt8]
    /// The public key that the device names, 128 bytes.
    let publicKey: [UInt8]
    /// What was signed: 1 to 256 bytes, normally the hash of a document.
    package let hash: [UInt8]
    /// When it was signed, in seconds since 1970.
    package let time: Int64

    package static let hashBytes = 1...256

    /// Reads the members of a signature, all in hex but the time. Throws ``ProjectFault/badMember(_:)`` with the name of
    /// one that is not allowed. A time in milliseconds is larger than the largest one, 2^32 - 1.
    package init(
        mpinId: String, u: String, v: String, publicKey: String, hash: String, timestamp: Int64
    ) throws(ProjectFault) {
        guard let id = MPinID(hex: mpinId) else { throw .badMember("mpinId") }
        guard let u = Hex.decode(u), Server.isPoint(u.span) else { throw .badMember("u") }
        guard let v = Hex.decode(v), Server.isPoint(v.span) else { throw .badMember("v") }
        guard let key = Hex.decode(publicKey), key.count == MPinSize.g2 else { throw .badMember("publicKey") }
        guard let hash = Self.document(hash) else { throw .badMember("hash") }
        guard (1...Int64(UInt32.max)).contains(timestamp) else { throw .badMember("timestamp") }
        (self.id, self.u, self.v, self.publicKey, self.hash, time) = (id, u, v, key, hash, timestamp)
    }

    /// Reads what is to be signed from hex. Nil if it has no bytes or too many.
    package static func document(_ hex: String) -> [UInt8]? {
        Hex.decode(hex).flatMap { hashBytes.contains($0.count) ? $0 : nil }
    }
}

extension ProjectService {
    /// Seconds before now in which a signature must be made, and after now, for devices whose clock is fast.
    private static let signatureSeconds: (past: Int64, future: Int64) = (600, 60)

    /// Judges a signature for a project. A wrong one counts as a wrong PIN, because otherwise the holder of a stolen
    /// token could try all PINs by signing. A right one does not forget wrong PINs, because anybody can send it again.
    package func judge(_ signature: DocumentSignature, project: String) async throws -> Verdict {
        let age = now.seconds - signature.time
        guard signature.id.projectID == project, age <= Self.signatureSeconds.past, -age <= Self.signatureSeconds.future
        else { throw ProjectFault.wrongSignature }
        return try await service.judge(signature)
    }

    /// Ends a session with the signature that it waits for. `text` is what its page gets. Throws
    /// ``ServiceError/noWaitingBrowser`` if no session waits under the name `wid` for a signature, and
    /// ``ServiceError/unjudged(_:)`` with the verdict if the signature is not right.
    package func sign(_ wid: String, _ signature: DocumentSignature, text: String) async throws {
        guard let session = try await session(wid: wid), !session.hash.isEmpty, session.signature == nil,
            try await service.browsers.isWaiting(wid, at: now)
        else { throw ServiceError.noWaitingBrowser }
        guard let user = try await service.identity(signature.id.key)?.user.userID,
            session.admits(signature.id.hex, user: user), Hex.encode(signature.hash) == session.hash
        else { throw ProjectFault.wrongSignature }
        let verdict = try await judge(signature, project: session.projectID)
        guard verdict == .right else { throw ServiceError.unjudged(verdict) }
        let made = LoginSession.Signature(text: text, userID: user)
        guard try await sessions.sign(wid, made, at: now) else { throw ServiceError.noWaitingBrowser }
        _ = try await service.report("signed", of: user, to: wid)
    }
}

extension AuthenticationService {
    /// Judges a signature in the same steps as a proof of pass 2, for known and unknown IDs alike.
    fileprivate func judge(_ signature: DocumentSignature) async throws -> Verdict {
        let (id, now) = (signature.id, now)
        let attempt = try await reserve(id)
        let judged: (isRight: Bool, isRetired: Bool)
        do { judged = try await compute(signature, attempt) } catch {
            try await giveBack(attempt, at: now)
            throw error
        }
        let verdict = try await settle(attempt, of: id, judged, at: now)
        let isAllowed = verdict == .right ? try await permission?(id) == nil : true
        let final = isAllowed ? verdict : .revoked
        observer(.signature(id, user: attempt.isKnown ? attempt.record.user.text : "", final))
        if final != .right { try await identities.sync(id.key, isKnown: attempt.isKnown, at: now) }
        return final
    }

    private func compute(
        _ signature: DocumentSignature, _ attempt: Attempt
    ) async throws -> (isRight: Bool, isRetired: Bool) {
        let (id, keys) = (signature.id, keys)
        let context = try await keyRing.context(attempt.isKnown ? attempt.record.keyID : keys.currentID)
        guard let usable = try context ?? keys.context(keys.currentID) else { throw ServiceError.rotatedMeanwhile }
        var y = [UInt8](repeating: 0, count: MPinSize.scalar)
        var span = y.mutableSpan
        try OnePass.y(time: signature.time, u: signature.u.span, message: signature.hash.span, into: &span)
        let challenge = Challenge(id: id.key, u: signature.u, y: y, expires: now, publicKey: signature.publicKey)
        let judge = Judge(
            context: usable, checks: checks, id: id, dates: [0], publicKeyHash: attempt.record.publicKeyHash)
        let start = ContinuousClock.now
        let answered = try await judge.answered([challenge], by: signature.v)
        observer(.judged(since: start))
        return (answered != nil && attempt.isKnown, attempt.isKnown && context == nil)
    }

    /// Ends the attempt. A right signature leaves the counts as they are.
    private func settle(
        _ attempt: Attempt, of id: MPinID, _ judged: (isRight: Bool, isRetired: Bool), at now: Moment
    ) async throws -> Verdict {
        if case .refused(let verdict) = attempt.reservation {
            _ = try await identities.settle(attempt, .refused, at: now)
            return verdict
        }
        let isCounted = !judged.isRight && !judged.isRetired
        let (verdict, block) = try await identities.settle(attempt, isCounted ? .wrong : .notJudged, at: now)
        if attempt.isKnown { reportBlock(block, id, attempt.record) }
        return judged.isRetired ? .retired : judged.isRight ? .right : verdict
    }
}
