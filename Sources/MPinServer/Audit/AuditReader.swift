import Glibc
import MPinSecrets

/// Reads lines of an audit log by their numbers. It does not check them; ``AuditVerification`` does.
struct AuditReader: Sendable {
    struct Page: Sendable {
        /// The lines in the order of their numbers, without their newlines.
        let lines: [[UInt8]]
        /// The number of the line after the last one of this page.
        let next: Int
        /// The number of the log's last line; 0 if it has none.
        let last: Int
    }

    private let place: AuditPlace

    init(_ place: AuditPlace) { self.place = place }

    /// Reads at most `limit` lines, beginning with the number `first`. Nil: the last lines of the log. Files that a
    /// rotation tool has compressed are not read.
    func lines(from first: Int?, limit: Int) throws -> Page {
        let (last, files) = try open()
        let first = first ?? max(1, last - limit + 1)
        var found: [(number: Int, text: [UInt8])] = []
        for (index, file) in files.enumerated() where found.count < limit {
            if index + 1 < files.count, files[index + 1].start <= first { continue }
            try file.read(from: first) { number, text in
                guard number <= last, found.count < limit else { return false }
                found.append((number, text))
                return true
            }
        }
        return Page(lines: found.map(\.text), next: (found.last?.number).map { $0 + 1 } ?? first, last: last)
    }

    /// Opens all files of the log, oldest first. Returns them and the number of the last line. The head is locked
    /// meanwhile, so that no new file can be begun.
    private func open() throws -> (last: Int, files: [NumberedFile]) {
        let head = try AuditPlace.open(place.head, O_RDONLY)
        defer { close(head) }
        flock(head, LOCK_SH)
        let last = try AuditHead(file: head, path: place.head).number
        let names = try AuditFiles.namesBeside(place).filter { name in
            !AuditFiles.packers.contains { name.hasSuffix($0) }
        }
        let files = try (names + [place.log]).map { try NumberedFile($0) }
        flock(head, LOCK_UN)
        return (last, files.filter { $0.start > 0 }.sorted { $0.start < $1.start })
    }
}

/// An open file of lines that begin with their numbers.
private final class NumberedFile {
    /// The number of the first line. 0 if the file has none.
    private(set) var start = 0
    private let path: String
    private let file: Int32
    private let size: Int

    /// Longer than any line.
    private static let piece = 1 << 17

    init(_ path: String) throws {
        self.path = path
        let (file, status) = try PlainFile.open(path)
        (self.file, size) = (file, Int(status.st_size))
        start = try firstNumber(at: 0) ?? 0
    }

    deinit { close(file) }

    /// Passes all lines whose number is at least `first` to `body`, until that returns false.
    func read(from first: Int, _ body: (Int, [UInt8]) -> Bool) throws {
        var offset = try offset(before: first)
        var rest: [UInt8] = []
        while offset < size {
            let bytes = try bytes(at: offset)
            guard !bytes.isEmpty else { return }
            offset += bytes.count
            rest += bytes
            var line = rest[...]
            while let end = line.firstIndex(of: UInt8(ascii: "\n")) {
                let text = line[..<end]
                line = line[(end + 1)...]
                guard let number = Self.number(text), number >= first else { continue }
                guard body(number, Array(text)) else { return }
            }
            rest = Array(line)
        }
    }

    /// Finds an offset from which a piece or less has to be read until the line `first`, by bisection.
    private func offset(before first: Int) throws -> Int {
        var (low, high) = (0, size)
        while high - low > Self.piece {
            let middle = low + (high - low) / 2
            if let number = try firstNumber(at: middle), number < first { low = middle } else { high = middle }
        }
        return low
    }

    /// The number of the first line that has one in the piece at `offset`. The first line of a piece in the middle of
    /// the file is not whole, so it has none.
    private func firstNumber(at offset: Int) throws -> Int? {
        try bytes(at: offset).split(separator: UInt8(ascii: "\n")).lazy.compactMap(Self.number).first
    }

    private func bytes(at offset: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: min(Self.piece, max(0, size - offset)))
        let count = pread(file, &bytes, bytes.count, off_t(offset))
        guard count >= 0 else { throw AuditError.system(path, errno) }
        return Array(bytes.prefix(count))
    }

    private static let beginning = Array("{\"n\":".utf8)

    /// The number at the beginning of a line. Nil for any other text.
    private static func number(_ line: ArraySlice<UInt8>) -> Int? {
        guard line.starts(with: beginning) else { return nil }
        let digits = line.dropFirst(beginning.count).prefix { (0x30...0x39).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
