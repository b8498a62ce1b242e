import Foundation
import Glibc
import MPinSecrets

/// The result of verifying an audit log.
package struct AuditVerification: Sendable, Equatable {
    package struct Finding: Sendable, Equatable, Encodable {
        package let file: String
        /// The number of the line in the file, from 1. If lines are missing at the end, it is the line after the last.
        package let line: Int
        package let text: String
    }

    /// The number of lines that are unchanged and in their place.
    package private(set) var good = 0
    package private(set) var findings: [Finding] = []
    /// The last line that was read. An operator can write it down elsewhere and give it to a later verification as
    /// `expected`.
    package private(set) var last: Mark?

    /// A line of the log by its number and tag: `NUMBER:TAG`.
    package struct Mark: Sendable, Hashable, CustomStringConvertible {
        package let number: Int
        package let tag: String

        package init?(_ text: String) {
            let parts = text.split(separator: ":")
            guard parts.count == 2, let number = Int(parts[0]), Hex.decode(String(parts[1]))?.count == 32 else {
                return nil
            }
            self.init(number: number, tag: parts[1].lowercased())
        }

        init(number: Int, tag: String) {
            self.number = number
            self.tag = tag
        }

        package var description: String { "\(number):\(tag)" }
    }

    /// Those of the marks to look for that are lines of the log.
    package private(set) var seen: Set<Mark> = []
    /// Texts about files or lines that were not checked. If there are any, the log is not shown to be whole.
    package private(set) var unseen: [String] = []
    /// The first line that was read, if its place in the chain is right.
    package private(set) var first: Mark?
    /// Whether the head does not know the log's first line, because an older version has begun the log.
    package private(set) var isFirstUnknown = false
    /// The files that were read, oldest first.
    package private(set) var files: [String] = []

    private var previous = AuditLine.noTag
    private var number = 0

    /// Reads and checks all files of a log: the current one, earlier ones in its folder, which are found by their
    /// names, and the files `older`.
    ///
    /// The head, which is stored beside the key, reveals whether lines were cut off at the end. Somebody may have put
    /// back an old head together with an old log; only `expected`, a mark that was written down elsewhere, reveals
    /// that. `marks`: other marks to look for, of which each may be one of another log (``seen``).
    ///
    /// `start`: the number of the first line that must be there. Lines before it may be in files that were archived.
    package init(
        _ place: AuditPlace, older: [String] = [], from start: Int = 1, expected: Mark? = nil,
        lookingFor marks: Set<Mark> = []
    ) throws {
        var isExpectedThere = expected == nil
        let (head, found) = try AuditFiles.find(place, older: older)
        for file in found.files {
            files.append(file.path)
            for (index, text) in file.lines.enumerated() {
                check(text, Finding(file: file.path, line: index + 1, text: ""), isFirst: index == 0, key: place.key)
                if let expected, expected == last { isExpectedThere = true }
                if let last, marks.contains(last) { seen.insert(last) }
            }
            if file.path == place.log { check(head, file.path, lines: file.lines.count) }
        }
        checkBeginning(head, place, from: start, packed: found.packed)
        if !isExpectedThere, let expected {
            findings.append(
                Finding(file: place.log, line: 0, text: "line \(expected.number), noted before, is not there"))
        }
    }

    private mutating func check(_ text: Data, _ place: Finding, isFirst: Bool, key: SecretBytes) {
        func finding(_ text: String) -> Finding { Finding(file: place.file, line: place.line, text: text) }
        guard let line = AuditLine(text) else {
            return findings.append(finding("not a line of an audit log"))
        }
        let expected = number + 1
        if line.number == expected, line.follows(previous, key: key) {
            good += 1
            if last == nil { first = line.mark }
        } else if let resumption = line.resumes(key: key) {
            good += 1
            let isStart = isFirst && resumption.event == "continued"
            if isStart, last == nil, line.number > 1 {
                // The first file that is present begins with a later line: ``checkBeginning(_:_:from:packed:)``.
                first = line.mark
            } else if isStart, line.number > expected {
                findings.append(
                    finding("lines \(expected) to \(line.number - 1) are missing: a file of the log is not here"))
            } else if !(isStart && line.number == expected && Hex.decode(resumption.previous) == previous) {
                findings.append(
                    finding("lines before number \(line.number) were lost; the server noticed it when it went on"))
            }
        } else if line.number == expected {
            findings.append(finding("altered, or not the line that was written here"))
        } else {
            findings.append(
                finding("number \(line.number) where \(expected) should be: lines were removed, inserted or moved"))
        }
        (number, previous) = (line.number, line.tag)
        last = line.mark
    }

    /// Says what was not seen before the first line, and whether that line is the one that the head knows.
    private mutating func checkBeginning(_ head: AuditHead, _ place: AuditPlace, from start: Int, packed: [String]) {
        isFirstUnknown = head.first == nil
        if let known = head.first, let first, known.number == first.number, known != first {
            findings.append(Finding(file: place.log, line: 1, text: "the first line is not the one that was written"))
        }
        guard let first else { return unseen.append("no line that begins the log") }
        guard first.number > start else { return }
        unseen += packed.map { "\($0) is packed: unpack it and give it as --older" }
        unseen.append(
            """
            lines \(start) to \(first.number - 1) are in files that are not here; give them as --older, or --from \
            \(first.number) if they were archived
            """)
    }

    /// Lets the head of a log that an older version has begun know its first line from now on. Does nothing if the head knows
    /// one, or the log is not good. Returns the number of the line that was noted.
    package func noteFirst(_ place: AuditPlace) throws -> Int? {
        guard isFirstUnknown, findings.isEmpty, let first else { return nil }
        let file = try AuditPlace.open(place.head, O_RDWR)
        defer { close(file) }
        guard flock(file, LOCK_EX) == 0 else { throw AuditError.system(place.head, errno) }
        var head = try AuditHead(file: file, path: place.head)
        guard head.first == nil, !head.isEmpty else { return nil }
        try head.note(first: first, file, path: place.head)
        fdatasync(file)
        return first.number
    }

    private mutating func check(_ head: AuditHead, _ file: String, lines: Int) {
        if head.isEmpty, last != nil {
            findings.append(
                Finding(file: file, line: lines + 1, text: "the head is empty, so the end of the log may be cut off"))
        }
        guard number < head.number || (number == head.number && previous != head.tag) else { return }
        findings.append(
            Finding(
                file: file, line: lines + 1,
                text: "the log ends with number \(number), but \(head.number) was written: its end was cut off"))
    }
}
