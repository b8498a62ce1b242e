import Foundation
import MPinServer
import XCTest

/// Tests commands on files that somebody has replaced by a FIFO, a link, a device or a folder: each ends at once, and names
/// the file.
final class StrangeFileTests: XCTestCase {
    private let backend = Backend.onFreePorts()
    private var state: String { backend.stateFolder }
    private var files: FileManager { .default }

    override func tearDown() { try? files.removeItem(atPath: state) }

    private enum Kind: CaseIterable { case fifo, folder, device }

    private func put(_ kind: Kind, at path: String) throws {
        switch kind {
        case .fifo: XCTAssertEqual(mkfifo(path, 0o600), 0)
        case .folder: try makeFolder(path)
        // A device cannot be made without rights; a link leads to one.
        case .device: try files.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
        }
    }

    /// Runs each command while something strange is at `name` in the state folder. A command that waits is ended after half a
    /// minute, and has no exit code then.
    private func tryAll(_ name: String, kinds: [Kind] = [.fifo], _ commands: [String]...) throws {
        let (path, kept) = (state + "/" + name, state + "/kept")
        let isThere = files.fileExists(atPath: path)
        for kind in kinds {
            if isThere { try files.moveItem(atPath: path, toPath: kept) }
            try put(kind, at: path)
            for command in commands {
                let mpind = try Mpind(command)
                let code = mpind.stop(0)
                let text = "\(kind) as \(name): \(command): \(mpind.logText)"
                XCTAssertEqual(code, 1, text)
                XCTAssertTrue(mpind.logText.contains("\(name): not a regular file"), text)
            }
            try files.removeItem(atPath: path)
            if isThere { try files.moveItem(atPath: kept, toPath: path) }
        }
    }

    func testNoCommandWaitsForAFileThatIsNoFile() throws {
        let mpind = try Mpind(backend)
        try mpind.waitUntilReady()
        mpind.stop(SIGTERM)
        let (place, database) = (["--state-dir", state], ["--database", state + "/rps.sqlite"])
        let copy = state + "/copy.sqlite"
        XCTAssertEqual(try Mpind.run(["backup", copy] + database).code, 0)
        let (verify, all) = (["audit", "verify"] + place, ["audit", "verify", "--all"] + place)
        let (compare, rotate) = (["audit", "compare"] + place, ["audit", "rotate"] + place)
        let (ofAll, list) = (["user", "list"] + place, ["user", "list"] + database)
        try tryAll("audit.jsonl.head", kinds: Kind.allCases, verify, ofAll)
        try tryAll("audit.jsonl.head", all, compare, rotate)
        try tryAll("audit/audit.jsonl", kinds: Kind.allCases, ofAll)
        try tryAll("audit/audit.jsonl", verify, all, compare, rotate)
        try tryAll("audit/audit.jsonl.2026", verify)
        try tryAll("older", verify + ["--older", state + "/older"])
        let (doctor, save) = (["doctor"] + database, ["backup", state + "/new.sqlite"] + database)
        let (collect, seal) = (["gc"] + database, ["migrate", "--seal"] + database)
        let restore = ["restore", copy] + database
        try tryAll("rps.sqlite.lock", list, restore)
        try tryAll("rps.sqlite", kinds: Kind.allCases, list)
        try tryAll("rps.sqlite", doctor, collect, seal, save)
        try tryAll("rps.sqlite-journal", list, doctor, save)
        try tryAll("rps.sqlite-wal", list)
        try tryAll("copy.sqlite", restore)
        for command in [verify, ofAll] { XCTAssertEqual(try Mpind.run(command).code, 0) }
    }
}
