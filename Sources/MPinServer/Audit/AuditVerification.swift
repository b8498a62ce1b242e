import Foundation
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
    /// Texts about files or lines that were not checked.
    package private(set) var unseen: [String] = []
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
    package init(
        _ place: AuditPlace, older: [String] = [], expected: Mark? = nil, lookingFor marks: Set<Mark> = []
    ) throws {
        var isExpectedThere = expected == nil
        let (head, found) = try AuditFiles.find(place, older: older)
        for file in found.packed { unseen.append("\(file) is packed: unpack it and give it as --older") }
        for file in found.files {
            files.append(file.path)
            for (index, text) in file.lines.enumerated() {
                check(text, Finding(file: file.path, line: index + 1, text: ""), isFirst: index == 0, key: place.key)
                if let expected, expected == last { isExpectedThere = true }
                if let last, marks.contains(last) { seen.insert(last) }
            }
            if file.path == place.log { check(head, file.path, lines: file.lines.count) }
        }
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
        } else if let resumption = line.resumes(key: key) {
            good += 1
            let isStart = isFirst && resumption.event == "continued"
            if isStart, last == nil, line.number > 1 {
                // The first file that is present begins with a later line, so the lines before it were not checked.
                unseen.append("lines 1 to \(line.number - 1) are in files that are not here; give them as --older")
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
        last = Mark(number: line.number, tag: Hex.encode(line.tag))
    }

    private mutating func check(_ head: AuditHead, _ file: String, lines: Int) {
        guard number < head.number || (number == head.number && previous != head.tag) else { return }
        findings.append(
            Finding(
                file: file, line: lines + 1,
                text: "the log ends with number \(number), but \(head.number) was written: its end was cut off"))
    }
}
