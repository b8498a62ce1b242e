import Glibc
import MPinSDK
import MPinSecrets
import Synchronization

/// A number in a file that all processes of a session have mapped. It changes with every change of the session, so each
/// process sees without a system call whether what it keeps in memory is still stored.
///
/// The number is odd while somebody writes. If a process dies then, it stays odd, and all processes read the file until
/// somebody writes again.
final class GenerationWord: @unchecked Sendable {
    private let word: UnsafeMutablePointer<Atomic<UInt64>>
    private static let size = 8

    /// Maps the file at `path`, which is made if there is none; nil: memory of this process.
    init(_ path: String?) throws(SDKError) {
        guard let path else {
            word = try Self.map(-1, MAP_PRIVATE | MAP_ANONYMOUS, "memory")
            return
        }
        let (file, status): (Int32, stat)
        do { (file, status) = try PlainFile.open(path, O_RDWR | O_CREAT) } catch {
            throw SDKError(.storageError, "cannot open \(error)")
        }
        defer { close(file) }
        guard status.st_size >= Self.size || ftruncate(file, Self.size) == 0 else { throw Self.failure(path) }
        word = try Self.map(file, MAP_SHARED, path)
    }

    private static func map(
        _ file: Int32, _ flags: Int32, _ name: String
    ) throws(SDKError) -> UnsafeMutablePointer<Atomic<UInt64>> {
        guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, flags, file, 0), memory != MAP_FAILED else {
            throw failure(name)
        }
        return memory.bindMemory(to: Atomic<UInt64>.self, capacity: 1)
    }

    private static func failure(_ name: String) -> SDKError {
        SDKError(.storageError, "cannot map \(name): \(String(cString: strerror(errno)))")
    }

    deinit { munmap(word, Self.size) }

    /// The number if nobody writes; nil if somebody does.
    var settled: UInt64? {
        let value = word.pointee.load(ordering: .acquiring)
        return value & 1 == 0 ? value : nil
    }

    /// Marks the beginning of a change. Only the process with the lock of the file may call this.
    func begin() {
        let value = word.pointee.load(ordering: .relaxed)
        word.pointee.store(value | 1, ordering: .sequentiallyConsistent)
    }

    /// Marks the end of a change.
    func end() {
        let value = word.pointee.load(ordering: .relaxed)
        word.pointee.store((value | 1) &+ 1, ordering: .sequentiallyConsistent)
    }
}
