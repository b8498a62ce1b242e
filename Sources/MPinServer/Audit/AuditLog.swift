import Foundation
import Glibc
import MPinSecrets
package import MPinStore
import Synchronization

/// Appends lines to an audit log. Several processes may do so at the same time, because each line is written while its
/// process holds the lock of the head.
///
/// When `append` returns, the system has the line, so the end of the process does not lose it. A durable event is also
/// on the disk.
package final class AuditLog: Sendable {
    package let place: AuditPlace
    /// Bytes at which the current file is renamed and a new one is begun; nil: never.
    private let fileBytes: Int?
    private let clock: Clock
    private let files: Mutex<Files>
    /// The entries that ``appendSoon(_:part:origin:failed:)`` has accepted but that are not written yet.
    private let waiting = Mutex<[Entry]>([])
    private let queue = DispatchQueue(label: "audit log")

    private struct Files {
        var head: Int32
        var log: Int32
        /// The head that this process has seen or written last. Another process may have written another one since.
        var lastHead: AuditHead?
        /// The size in bytes at which the log tries again to begin a new file; nil if its last try did not fail.
        var nextTry: Int?
    }

    private struct Entry {
        let members: [(String, String)]
        let isDurable: Bool
    }

    package init(_ place: AuditPlace, fileBytes: Int? = nil, clock: @escaping Clock = Moment.now) throws {
        self.place = place
        self.fileBytes = fileBytes
        self.clock = clock
        let head = try Self.open(place.head, O_RDWR)
        do {
            files = Mutex(Files(head: head, log: try Self.open(place.log, O_RDWR | O_APPEND)))
        } catch {
            close(head)
            throw error
        }
        // Checks the log and the head now, so that an unusable log is reported at the start and not at the first event.
        try locked { _, _ in }
    }

    deinit {
        files.withLock { files in
            close(files.head)
            close(files.log)
        }
    }

    /// Writes an event. `part`: the part of the server that reports it. `origin`: the sender of the request that caused
    /// it.
    package func append(_ event: AuditEvent, part: String, origin: String? = nil) throws {
        try append(entry(event, part: part, origin: origin))
    }

    /// Puts an event into a queue and returns before it is written, so that the time of an answer does not reveal
    /// whether a line is written. Events that are recorded later come after this one in the log. If the event cannot be
    /// written, `failed` is called with the error.
    func appendSoon(
        _ event: AuditEvent, part: String, origin: String?, failed: @escaping @Sendable (any Error) -> Void
    ) {
        let entry = entry(event, part: part, origin: origin)
        waiting.withLock { $0.append(entry) }
        queue.async { [self] in
            do { try append(nil) } catch { failed(error) }
        }
    }

    /// The last line of the log, in this file or an earlier one. Nil if there is none.
    func mark() throws -> AuditVerification.Mark? {
        var last = AuditHead()
        try locked { _, head in last = head }
        return last.number > 0 ? AuditVerification.Mark(number: last.number, tag: Hex.encode(last.tag)) : nil
    }

    /// Writes the waiting entries, and then `entry`.
    private func append(_ entry: Entry?) throws {
        try locked { files, head in
            // An entry that cannot be written stays in the queue. The lock keeps other threads from taking it at the
            // same time.
            while let first = waiting.withLock({ $0.first }) {
                try write(first.members, &head, files, isDurable: first.isDurable)
                waiting.withLock { _ = $0.removeFirst() }
            }
            if let entry { try write(entry.members, &head, files, isDurable: entry.isDurable) }
            try rotateIfFull(&files, &head)
        }
    }

    /// Begins a new file if the current one is full. If that fails, it is tried again each time the file has grown by
    /// an eighth of its limit, because the cause will hardly disappear soon. Only the first failure is reported.
    private func rotateIfFull(_ files: inout Files, _ head: inout AuditHead) throws {
        guard let fileBytes, head.size >= max(fileBytes, files.nextTry ?? 0) else { return }
        let isFirstTry = files.nextTry == nil
        do {
            try rotate(&files, &head, suffix: clock().isoWithMicroseconds)
        } catch {
            files.nextTry = head.size + max(fileBytes / 8, 1)
            guard isFirstTry else { return }
            throw AuditError.notRotated("\(error)")
        }
    }

    private func entry(_ event: AuditEvent, part: String, origin: String?) -> Entry {
        var members = [("time", clock().isoWithMicroseconds + "Z"), ("part", part), ("event", event.name)]
        if let subject = event.subject {
            members.append(("identity", subject.identity))
            let name = subject.user.isEmpty ? "" : place.name(subject.user)
            if !name.isEmpty { members.append(("user", name)) }
        }
        if let origin { members.append(("from", origin)) }
        return Entry(members: members + event.details, isDurable: event.isDurable)
    }

    /// Begins a new file. The old one is renamed: `suffix` is added to its name.
    package func rotate(suffix: String) throws {
        try locked { files, head in try rotate(&files, &head, suffix: suffix) }
    }

    private func rotate(_ files: inout Files, _ head: inout AuditHead, suffix: String) throws {
        let old = "\(place.log).\(suffix)"
        guard link(place.log, old) == 0 else { throw AuditError.system(old, errno) }
        guard unlink(place.log) == 0 else {
            let code = errno
            unlink(old)
            throw AuditError.system(place.log, code)
        }
        try reopen(&files)
        head.size = 0
        try head.save(files.head, path: place.head)
        let previous = Hex.encode(head.tag)
        try write(mark("continued", previous, []), &head, files, isDurable: true)
    }

    private static func open(_ path: String, _ flags: Int32) throws -> Int32 {
        let file = try AuditPlace.open(path, flags | O_CREAT)
        var found = stat()
        if fstat(file, &found) == 0, found.st_size == 0 { giveToFolderOwner(file, path) }
        return file
    }
}

extension AuditLog {
    /// Runs `body` with the current head, while no other thread or process can write into the log.
    private func locked(_ body: (inout Files, inout AuditHead) throws -> Void) throws {
        try files.withLock { files in
            guard flock(files.head, LOCK_EX) == 0 else { throw AuditError.system(place.head, errno) }
            defer { flock(files.head, LOCK_UN) }
            let size = try followRotation(&files)
            var head = try AuditHead(file: files.head, path: place.head, known: files.lastHead)
            files.lastHead = nil
            try catchUp(&head, files, size: size)
            try body(&files, &head)
            files.lastHead = head
        }
    }

    /// Opens the new file if another process has begun one. Returns the size of the current file in bytes.
    private func followRotation(_ files: inout Files) throws -> Int {
        var (here, there) = (stat(), stat())
        guard fstat(files.log, &here) == 0 else { throw AuditError.system(place.log, errno) }
        if stat(place.log, &there) == 0, here.st_ino == there.st_ino, here.st_dev == there.st_dev {
            return Int(here.st_size)
        }
        try reopen(&files)
        return try size(files.log)
    }

    private func reopen(_ files: inout Files) throws {
        let file = try Self.open(place.log, O_RDWR | O_APPEND)
        close(files.log)
        (files.log, files.nextTry) = (file, nil)
    }

    private func size(_ file: Int32) throws -> Int {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw AuditError.system(place.log, errno) }
        return Int(status.st_size)
    }

    private func write(
        _ members: [(String, String)], _ head: inout AuditHead, _ files: Files, isDurable: Bool
    ) throws {
        let line = AuditLine(members, number: head.number + 1, previous: head.tag, key: place.key)
        let (text, start) = (line.text, head.size)
        guard Glibc.write(files.log, text, text.count) == text.count else {
            let code = errno
            // If only a part of the line could be written, it is cut off again, because it would look like a
            // manipulation.
            ftruncate(files.log, off_t(start))
            throw AuditError.system(place.log, code == 0 ? ENOSPC : code)
        }
        if isDurable { fdatasync(files.log) }
        (head.number, head.tag, head.size) = (line.number, line.tag, start + text.count)
        try head.save(files.head, path: place.head)
        if line.number == 1 { try head.note(first: line.mark, files.head, path: place.head) }
        if isDurable { fdatasync(files.head) }
    }

    /// Makes the head and the log match again, which a crash of the machine between two writes may prevent. Lines after
    /// the head's last one are accepted if their tags are right. For any other difference a `gap` line is written,
    /// which verification will always report. So it is if the head is empty and the log is not: nobody knows its end.
    private func catchUp(_ head: inout AuditHead, _ files: Files, size: Int) throws {
        guard size != head.size else { return }
        let isHeadLost = head.isEmpty
        var lost = size < head.size
        if !lost {
            for line in try lines(files.log, from: head.size, to: size) {
                guard let line = AuditLine(line), line.number == head.number + 1,
                    line.follows(head.tag, key: place.key)
                else {
                    lost = true
                    break
                }
                (head.number, head.tag) = (line.number, line.tag)
            }
        }
        head.size = size
        // A number is left out, so that the verification finds that lines may be missing.
        if isHeadLost { head.number += 1 }
        guard lost || isHeadLost else { return try head.save(files.head, path: place.head) }
        try endTornLine(&head, files)
        let found = [("log_bytes", String(size)), ("time", clock().isoWithMicroseconds + "Z")]
        try write(mark("gap", Hex.encode(head.tag), found), &head, files, isDurable: true)
    }

    private func mark(_ event: String, _ previous: String, _ more: [(String, String)]) -> [(String, String)] {
        [("event", event), ("previous", previous)] + more
    }

    private func endTornLine(_ head: inout AuditHead, _ files: Files) throws {
        guard head.size > 0 else { return }
        var last: UInt8 = 0
        guard pread(files.log, &last, 1, off_t(head.size - 1)) == 1 else { throw AuditError.system(place.log, errno) }
        guard last != UInt8(ascii: "\n") else { return }
        guard Glibc.write(files.log, "\n", 1) == 1 else { throw AuditError.system(place.log, errno) }
        head.size += 1
    }

    /// Reads the lines from the byte `start` to the byte `end`. The last one may be incomplete.
    private func lines(_ file: Int32, from start: Int, to end: Int) throws -> [ArraySlice<UInt8>] {
        var bytes = [UInt8](repeating: 0, count: end - start)
        guard pread(file, &bytes, bytes.count, off_t(start)) == bytes.count else {
            throw AuditError.system(place.log, errno)
        }
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty ?? false { lines.removeLast() }
        return lines
    }
}
