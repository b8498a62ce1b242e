import Foundation
import MPinSecrets
import MPinServer
import StoreEngines
import XCTest

/// Tests `mpind audit verify --all`: the audit logs of servers that share a PostgreSQL database, of real servers and
/// commands.
final class AuditLogsTests: XCTestCase {
    private let backend = Backend.onFreePorts()
    private var database = ""
    private var state: String { backend.stateFolder }
    /// The folder of the second server's log, in the form of a state folder.
    private var other: String { state + "/other" }

    override func setUpWithError() throws {
        database = try PostgresServer.shared.get().newDatabase()
        try makeFolder(state)
        try makeFolder(other + "/audit")
        _ = try KeyFile.create(other + "/audit.key")
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: state) }

    /// Starts a server and stops it. Each has the same keys and database, but an audit log of its own.
    private func serve(_ more: [String] = []) throws {
        let mpind = try Mpind(backend, ["--database", database] + more)
        try mpind.waitUntilReady()
        XCTAssertEqual(mpind.stop(SIGTERM), 0, mpind.logText)
    }

    private func serveOther() throws {
        try serve(["--audit-log", other + "/audit/audit.jsonl", "--audit-key-file", other + "/audit.key"])
    }

    /// Runs a command of `mpind audit`, and returns its exit code and output.
    private func audit(_ words: [String]) throws -> (status: Int32, output: String) {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: Mpind.path)
        process.arguments = ["audit"] + words + ["--database", database]
        process.standardOutput = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output)
    }

    private func verifyAll(_ more: [String] = []) throws -> (status: Int32, output: String) {
        try audit(["verify", "--all", "--server", state, "--server", other] + more)
    }

    func testAllLogsAreVerifiedAndMerged() throws {
        for _ in 0..<2 {
            try serve()
            try serveOther()
        }
        let merged = state + "/merged.jsonl"
        let found = try verifyAll(["--merged", merged])
        XCTAssertEqual(found.status, 0, found.output)
        XCTAssertFalse(found.output.contains("not seen"), found.output)
        let lines = try String(contentsOfFile: merged, encoding: .utf8).split(separator: "\n").map {
            try XCTUnwrap(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let (first, second) = (state, other)
        XCTAssertEqual(
            lines.filter { $0["event"] as? String == "started" }.map { $0["server"] as? String },
            [first, second, first, second])
        let written = try [state, other].map {
            try String(contentsOfFile: $0 + "/audit/audit.jsonl", encoding: .utf8).split(separator: "\n").count
        }
        XCTAssertEqual(lines.count, written.reduce(0, +))
        XCTAssertEqual(try verifyAll(["--merged", merged]).status, 1, "a file that exists is not replaced")
    }

    func testALogThatIsNotGivenIsMissingUntilItIsForgotten() throws {
        try serve()
        try serveOther()
        let found = try audit(["verify", "--all", "--server", state])
        XCTAssertEqual(found.status, 2, found.output)
        let log = try AuditPlace(stateDir: other).name(on: ProcessInfo.processInfo.hostName)
        XCTAssertTrue(found.output.contains("mpind audit forget \(log)"), found.output)
        XCTAssertEqual(try audit(["forget", log]).status, 0)
        XCTAssertEqual(try audit(["forget", log]).status, 2, "it is forgotten already")
        XCTAssertEqual(try audit(["verify", "--all", "--server", state]).status, 0)
    }

    /// Servers whose machines were set up with one key.
    func testLogsWithTheSameKeyAreKeptApart() throws {
        try FileManager.default.copyItem(atPath: other + "/audit.key", toPath: state + "/audit.key")
        try serve()
        try serveOther()
        let whole = try verifyAll()
        XCTAssertEqual(whole.status, 0, whole.output)
        XCTAssertFalse(whole.output.contains("not seen"), whole.output)
        for folder in [state, other] {
            let found = try audit(["verify", "--all", "--server", folder])
            XCTAssertEqual(found.status, 2, found.output)
        }
    }

    /// Whoever puts back the log and the head of yesterday is found out by the database alone.
    func testALogThatWasPutBackIsFound() throws {
        try serve()
        let old = state + "/old"
        try makeFolder(old)
        let files = ["audit/audit.jsonl", "audit.jsonl.head"]
        for (index, file) in files.enumerated() {
            try FileManager.default.copyItem(atPath: "\(state)/\(file)", toPath: "\(old)/\(index)")
        }
        try serve()
        XCTAssertEqual(try audit(["verify", "--all", "--server", state]).status, 0)
        for (index, file) in files.enumerated() {
            try FileManager.default.removeItem(atPath: "\(state)/\(file)")
            try FileManager.default.copyItem(atPath: "\(old)/\(index)", toPath: "\(state)/\(file)")
        }
        let alone = try AuditVerification(AuditPlace(stateDir: state))
        XCTAssertEqual(alone.findings, [], "the log alone does not show it")
        let found = try audit(["verify", "--all", "--server", state])
        XCTAssertEqual(found.status, 2, found.output)
        XCTAssertTrue(found.output.contains("missing: line"), found.output)
    }

    func testALogThatTheDatabaseDoesNotKnowIsNamed() throws {
        try serve()
        try AuditLog(AuditPlace(stateDir: other)).append(.command("test"), part: "dta")
        let found = try verifyAll()
        XCTAssertEqual(found.status, 0, found.output)
        XCTAssertTrue(found.output.contains("not seen: \(other): the database does not know this log"), found.output)
    }
}
