import Glibc
import MPinHTTP
import MPinSDK
import MPinSecrets
import MPinWire

/// The stored session, and a copy of it in memory.
final class SessionStore: Sendable {
    private let place: any TextPlace
    private let log: Log?
    /// What was read last, and the version of the text at that time.
    private let copy = Locked<(version: UInt64, content: SessionContent)?>(nil)

    /// Throws if the folder of the file is not there.
    init(_ parts: SessionParts) throws(SDKError) {
        place = parts.place
        log = parts.log
        guard let path = place.path, let slash = path.lastIndex(of: "/") else { return }
        guard access(String(path[...slash]), F_OK) == 0 else {
            throw SDKError(.storageError, "cannot open \(path): \(String(cString: strerror(errno)))")
        }
    }

    /// The stored content. Makes one system call, `stat` of the file, unless somebody has changed it; none if it is in
    /// memory.
    func content() throws(SDKError) -> SessionContent {
        let version = place.version()
        if let copy = copy.withLock({ $0 }), copy.version == version { return copy.content }
        // The version was read before the text. If somebody writes in between, it differs at the next call.
        let content = try decode(place.read())
        copy.withLock { $0 = (version, content) }
        return content
    }

    /// Changes the stored content. When this returns, the change is on disk if the session is.
    func update<Result>(
        within limits: CallLimits?, _ change: (inout SessionContent) throws(SDKError) -> Result
    ) throws(SDKError) -> Result {
        var result: Result?
        let tell = { if let path = self.place.path { GenerationFile.advance(path + ".generation") } }
        try place.update(within: limits, afterwards: tell) { text throws(SDKError) in
            var content = try decode(text)
            result = try change(&content)
            guard let text = try? JSON.encode(content) else { throw SDKError(.storageError, "cannot write a session") }
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
        do { lock = try PlainFile.open(path + ".renewal", O_RDWR | O_CREAT | O_NOFOLLOW).file } catch {
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
