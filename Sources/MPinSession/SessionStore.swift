import Glibc
import MPinHTTP
import MPinSDK
import MPinSecrets
import MPinWire

/// The stored session, and a copy of it in memory.
final class SessionStore: Sendable {
    private let place: any TextPlace
    private let word: GenerationWord
    private let log: Log?
    /// What was read last, and the number of ``GenerationWord`` at that time.
    private let copy = Locked<(generation: UInt64, content: SessionContent)?>(nil)

    init(_ parts: SessionParts) throws(SDKError) {
        place = parts.place
        log = parts.log
        word = try GenerationWord(parts.place.path.map { $0 + ".generation" })
    }

    /// The stored content. Makes no system call unless somebody has changed it.
    func content() throws(SDKError) -> SessionContent {
        let generation = word.settled
        if let generation, let copy = copy.withLock({ $0 }), copy.generation == generation { return copy.content }
        // The number was read before the file. If somebody writes in between, it differs at the next call.
        let content = try decode(place.read())
        if let generation { copy.withLock { $0 = (generation, content) } }
        return content
    }

    /// Changes the stored content. When this returns, the change is on disk if the session is.
    func update<Result>(
        within limits: CallLimits?, _ change: (inout SessionContent) throws(SDKError) -> Result
    ) throws(SDKError) -> Result {
        var result: Result?
        var hasBegun = false
        // After a failure the number also moves on, so that everybody reads what is stored.
        let end = { if hasBegun { self.word.end() } }
        try place.update(within: limits, afterwards: end) { text throws(SDKError) in
            var content = try decode(text)
            result = try change(&content)
            guard let text = try? JSON.encode(content) else { throw SDKError(.storageError, "cannot write a session") }
            word.begin()
            hasBegun = true
            return text
        }
        guard let result else { throw SDKError(.storageError, "cannot write a session") }
        return result
    }

    /// Runs `renew` while no other process or thread renews the session. The lock is that of another file than the
    /// session's, so a logout need not wait for a provider's answer.
    func alone<Result>(within limits: CallLimits, _ renew: () throws(SDKError) -> Result) throws(SDKError) -> Result {
        // Nobody else has a session that is in memory.
        guard let path = place.path else { return try renew() }
        let lock: Int32
        do { lock = try PlainFile.open(path + ".renewal", O_RDWR | O_CREAT).file } catch {
            throw SDKError(.storageError, "cannot open \(error)")
        }
        // Closing the file releases the lock; the system does the same at the end of the process.
        defer { close(lock) }
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw SDKError(.storageError, "cannot lock a session: \(String(cString: strerror(errno)))")
            }
            guard !limits.isCancelled() else { throw SDKError(.canceled, "another process renews the session") }
            guard limits.deadline.remainingMilliseconds() > 0 else {
                throw SDKError(.timedOut, "another process renews the session")
            }
            limits.deadline.sleep(atMost: 5)
        }
        return try renew()
    }

    private func decode(_ text: SecretBytes?) throws(SDKError) -> SessionContent {
        guard let text else { return SessionContent() }
        do { return try JSON.decode(SessionContent.self, from: text.span) } catch {
            log?(.warning, "the stored session is damaged: \(error)")
            return SessionContent()
        }
    }
}
