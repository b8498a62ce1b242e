import Foundation
import Glibc
import MPinSecrets
import MPinService

/// All files of one audit log: the current one, to which the server appends, and earlier ones, which are found by their
/// names or given by path.
struct AuditFiles {
    struct File {
        let path: String
        let lines: [Data]

        /// The number of the file's first valid line. Files are ordered by it.
        var start: Int { lines.lazy.compactMap { AuditLine($0)?.number }.first ?? 0 }
    }

    /// The files, oldest first.
    private(set) var files: [File] = []
    /// Files in the log's folder that a rotation tool has compressed.
    private(set) var packed: [String] = []

    static let packers = [".gz", ".xz", ".bz2", ".zst", ".lz4"]

    /// Reads the head of the log and all files of the log. The head stays locked until all files are open, so that no
    /// new file can be begun in between.
    static func find(_ place: AuditPlace, older: [String]) throws -> (AuditHead, AuditFiles) {
        let file = try AuditPlace.open(place.head, O_RDONLY)
        defer { close(file) }
        flock(file, LOCK_SH)
        let head = try AuditHead(file: file, path: place.head)
        var found = AuditFiles()
        let beside = try namesBeside(place)
        found.packed = beside.filter { name in packers.contains { name.hasSuffix($0) } }
        // A file that has two names is read once, under the first of them. So the name of the current file comes first:
        // the file may have a second name beside the log, because a crash during a rotation leaves one, and anybody can
        // make one.
        let opened = try open([place.log] + older + beside.filter { !found.packed.contains($0) })
        flock(file, LOCK_UN)
        let all = try opened.map { path, handle in File(path: path, lines: try lines(path, handle)) }
        // The current file comes last, whatever its first line is.
        found.files = all.dropFirst().sorted { ($0.start, $0.path) < ($1.start, $1.path) } + all.prefix(1)
        return (head, found)
    }

    /// Opens the files at `paths`. A file that has several of these names is opened once, under the first of them.
    private static func open(_ paths: [String]) throws -> [(path: String, handle: FileHandle)] {
        var known: Set<[UInt64]> = []
        return try paths.compactMap { path in
            let (file, status) = try PlainFile.open(path)
            let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
            return known.insert([UInt64(status.st_dev), UInt64(status.st_ino)]).inserted ? (path, handle) : nil
        }
    }

    static func namesBeside(_ place: AuditPlace) throws -> [String] {
        let folder = folder(of: place.log)
        let start = URL(fileURLWithPath: place.log).lastPathComponent + "."
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            throw StartError("\(folder): cannot be read")
        }
        return names.filter { $0.hasPrefix(start) }.sorted().map { "\(folder)/\($0)" }
    }

    private static func lines(_ path: String, _ handle: FileHandle) throws -> [Data] {
        let bytes: Data
        do { bytes = try handle.readToEnd() ?? Data() } catch { throw StartError("\(path): cannot be read") }
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty ?? false { lines.removeLast() }
        return lines
    }
}
