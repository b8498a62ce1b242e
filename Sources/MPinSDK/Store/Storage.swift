import Glibc
import MPinHTTP
import MPinSecrets

/// Stores one block of bytes. The functions throw ``Status/storageError`` if they fail.
package protocol Storage: Sendable {
    /// The stored bytes; nil if nothing was saved yet.
    func read() throws(SDKError) -> [UInt8]?
    /// Replaces the stored bytes by the result of `change`. No other process or thread changes them at the same time.
    /// After a crash at any moment either the old or the new bytes are stored. If `change` throws, nothing is stored.
    /// Waits for other processes and threads within `limits`, the limits of the operation that is under way.
    func update(within limits: CallLimits?, _ change: ([UInt8]?) throws(SDKError) -> [UInt8]) throws(SDKError)
    /// Whether the program may empty the storage while the client core uses it. If not, a storage that has become empty
    /// is an error.
    var mayBeEmptied: Bool { get }
    /// Copies damaged bytes to another place, for a person to look at.
    func setAside() throws(SDKError)
    /// A number that differs after every change; 0 if nothing is stored.
    func version() -> UInt64
}

/// Stores the bytes in a file of mode 0600, with a lock file beside it. A change does write, fsync, rename, and fsync
/// of the directory.
package final class FileStorage: Storage {
    /// The absolute path of the file.
    let path: String
    /// How long to wait for the lock while the stored bytes do not change.
    private static let lockMilliseconds: UInt32 = 10_000
    /// How long to wait for the lock in all if the call has no deadline.
    private static let longestWait = 60_000
    /// How long to wait for the lock after a call's deadline has passed. At that time the server has usually done its
    /// part, and its result should be stored.
    private static let lateMilliseconds = 500
    package let mayBeEmptied = false
    /// The maximum size of a store; larger files are refused.
    private static let maxBytes = 64 << 20

    /// Resolves a relative path, so that later changes of the working directory have no effect.
    package init(path: String) {
        let directory = path.hasPrefix("/") ? nil : getcwd(nil, 0)
        defer { free(directory) }
        self.path = directory.map { String(cString: $0) + "/" + path } ?? path
    }

    package func read() throws(SDKError) -> [UInt8]? {
        let (file, status): (Int32, stat)
        do { (file, status) = try PlainFile.open(path) } catch {
            if case .system(_, ENOENT) = error { return nil }
            throw SDKError(.storageError, "cannot open \(error)")
        }
        defer { close(file) }
        guard status.st_size <= Self.maxBytes else { throw SDKError(.storageError, "\(path): not a store") }
        return try readAll(file)
    }

    package func update(
        within limits: CallLimits? = nil, _ change: ([UInt8]?) throws(SDKError) -> [UInt8]
    ) throws(SDKError) {
        try update(within: limits, afterwards: {}, change)
    }

    /// Changes the file as ``update(within:_:)`` does. Calls `afterwards` before it releases the lock, also if the
    /// change has failed.
    func update(
        within limits: CallLimits?, afterwards: () -> Void, _ change: ([UInt8]?) throws(SDKError) -> [UInt8]
    ) throws(SDKError) {
        let lock = try takeLock(limits)
        // Closing the file releases the lock; the system does the same at the end of the process.
        defer { close(lock) }
        defer { afterwards() }
        try replace(by: change(read()))
    }

    package func setAside() throws(SDKError) {
        // A hard link keeps the damaged file when a new file replaces it.
        for number in 1...99 where link(path, "\(path).damaged-\(number)") == 0 { return }
        throw failure("link")
    }

    package func version() -> UInt64 {
        var status = stat()
        guard stat(path, &status) == 0 else { return 0 }
        var hasher = Hasher()
        hasher.combine(status.st_dev)
        hasher.combine(status.st_ino)
        hasher.combine(status.st_size)
        for time in [status.st_ctim, status.st_mtim] {
            hasher.combine(time.tv_sec)
            hasher.combine(time.tv_nsec)
        }
        return UInt64(bitPattern: Int64(hasher.finalize())) | 1
    }

    private func readAll(_ file: Int32) throws(SDKError) -> [UInt8] {
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(file, &chunk, chunk.count)
            if count == 0 { return content }
            guard count > 0 || errno == EINTR else { throw failure("read") }
            if count > 0 { content += chunk.prefix(count) }
        }
    }

    /// Waits for the lock and returns its open file. A free lock is taken even after the deadline or a cancel.
    private func takeLock(_ limits: CallLimits?) throws(SDKError) -> Int32 {
        let lock = try openLock()
        let left = limits.map { $0.deadline.remainingMilliseconds() &+ Self.lateMilliseconds } ?? Self.longestWait
        var wait = LockWait(milliseconds: UInt32(clamping: left), unchanged: Self.lockMilliseconds)
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            let error = errno
            guard error == EWOULDBLOCK || error == EINTR, wait.goesOn(version()) else {
                defer { close(lock) }
                errno = error
                throw failure("lock")
            }
            guard limits?.isCancelled() != true else {
                close(lock)
                throw SDKError(.canceled, "another process holds the lock of \(path)")
            }
            usleep(wait.pause())
        }
        return lock
    }

    private func openLock() throws(SDKError) -> Int32 {
        do { return try PlainFile.open("\(path).lock", O_RDWR | O_CREAT | O_NOFOLLOW).file } catch {
            throw SDKError(.storageError, "cannot open \(error)")
        }
    }

    /// Replaces the file. The lock must be held, so that no other process uses the draft's name.
    private func replace(by content: [UInt8]) throws(SDKError) {
        let draft = "\(path).new"
        do throws(SDKError) {
            try write(content, to: draft)
            guard untilDone({ rename(draft, path) }) == 0 else { throw failure("rename") }
        } catch {
            unlink(draft)
            throw error
        }
        try syncDirectory()
    }

    private func write(_ content: [UInt8], to draft: String) throws(SDKError) {
        // Removes a draft that a crash may have left.
        unlink(draft)
        let file = untilDone { open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        guard file >= 0 else { throw failure("create") }
        var isOpen = true
        defer { if isOpen { close(file) } }
        var written = 0
        while written < content.count {
            let count = content.withUnsafeBytes { bytes in
                Glibc.write(file, bytes.baseAddress.map { $0 + written }, bytes.count - written)
            }
            guard count > 0 || (count < 0 && errno == EINTR) else { throw failure("write") }
            written += max(count, 0)
        }
        date(file)
        guard untilDone({ fsync(file) }) == 0 else { throw failure("sync") }
        isOpen = false
        // EINTR is no failure, because a close that a signal interrupts has closed the file.
        guard close(file) == 0 || errno == EINTR else { throw failure("close") }
    }

    /// Makes the draft younger than the file that it replaces, so that no two versions are equal: after two changes
    /// within one tick of the system's clock, the file can have its former number and time again.
    private func date(_ draft: Int32) {
        var (former, own) = (stat(), stat())
        guard stat(path, &former) == 0, fstat(draft, &own) == 0 else { return }
        let (last, now) = (former.st_mtim, own.st_mtim)
        guard (now.tv_sec, now.tv_nsec) <= (last.tv_sec, last.tv_nsec) else { return }
        let carries = last.tv_nsec >= 999_999_999
        let next = timespec(
            tv_sec: last.tv_sec &+ (carries ? 1 : 0), tv_nsec: carries ? 0 : last.tv_nsec &+ 1)
        // A failure is none of the change: not every file system can set a time.
        _ = futimens(draft, [own.st_atim, next])
    }

    private func syncDirectory() throws(SDKError) {
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let file = untilDone { open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard file >= 0 else { throw failure("open the directory of") }
        defer { close(file) }
        guard untilDone({ fsync(file) }) == 0 else { throw failure("sync the directory of") }
    }

    private func failure(_ action: String) -> SDKError {
        SDKError(.storageError, "cannot \(action) \(path): \(String(cString: strerror(errno)))")
    }
}

/// The wait of one call for the lock of a store.
///
/// The system does not queue those who wait, so each asks again after a pause. The pause becomes shorter the longer the
/// call has waited. So the lock goes to the call that has waited longest, and not to a process that has just released it.
/// On a busy machine a change can take a second; the wait goes on as long as others change the store.
package struct LockWait {
    private let began: UInt64
    private let end: Deadline
    private let unchangedMilliseconds: UInt32
    private var unchangedEnd: Deadline
    private var version: UInt64?

    /// The wait ends after `milliseconds`, or earlier if the stored bytes have not changed for `unchanged` milliseconds.
    package init(milliseconds: UInt32, unchanged: UInt32, now: UInt64 = monotonicNanoseconds()) {
        began = now
        end = .after(milliseconds: milliseconds, now: now)
        unchangedMilliseconds = unchanged
        unchangedEnd = .after(milliseconds: unchanged, now: now)
    }

    /// Whether to ask again. `found` is the present version of the stored bytes.
    package mutating func goesOn(_ found: UInt64, now: UInt64 = monotonicNanoseconds()) -> Bool {
        if let version, version != found { unchangedEnd = .after(milliseconds: unchangedMilliseconds, now: now) }
        version = found
        return end.remainingMilliseconds(now: now) > 0 && unchangedEnd.remainingMilliseconds(now: now) > 0
    }

    /// The pause before the next question, in microseconds: 5,000 at first, 833 after a second, at least 100.
    package func pause(now: UInt64 = monotonicNanoseconds()) -> UInt32 {
        max(100, UInt32(clamping: 1_000_000 / (200 &+ (now &- began) / 1_000_000)))
    }
}

/// Repeats the call as long as signals interrupt it.
private func untilDone(_ call: () -> Int32) -> Int32 {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}
