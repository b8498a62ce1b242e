import Foundation
import MPinSecrets
import MPinServer
import MPinStore
import Synchronization
import XCTest

/// Tests what the audit log contains, and which changes of it a verification detects.
final class AuditTests: XCTestCase {
    private var folder = ""
    private var log: String { folder + "/log/audit.jsonl" }

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "mpind-audit-" + UUID().uuidString
        try makeFolder(folder + "/log")
        _ = try KeyFile.create(folder + "/audit.key")
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private func place(_ users: AuditPlace.Users = .plain) throws -> AuditPlace {
        try AuditPlace(log: log, keyFile: folder + "/audit.key", users: users)
    }

    private func write(_ count: Int) throws {
        let audit = try AuditLog(place())
        for number in 0..<count { try audit.append(.command("test \(number)"), part: "test") }
    }

    private func lines() throws -> [String] {
        try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private func save(_ lines: [String]) throws {
        try (lines.joined(separator: "\n") + "\n").write(toFile: log, atomically: false, encoding: .utf8)
    }

    private func findings() throws -> [AuditVerification.Finding] { try AuditVerification(place()).findings }

    func testTheKeyMustLieOutsideTheLogsFolder() throws {
        try makeFolder(folder + "/log/keys")
        for path in [folder + "/log/audit.key", folder + "/log/keys/audit.key", folder + "/link/audit.key"] {
            symlink(folder + "/log", folder + "/link")
            try? FileManager.default.removeItem(atPath: path)
            _ = try KeyFile.create(path)
            XCTAssertThrowsError(try AuditPlace(log: log, keyFile: path), path) { error in
                XCTAssertEqual(error as? AuditError, .keyBesideLog(path))
            }
        }
        XCTAssertNoThrow(try place())
    }

    func testAnUntouchedLogIsGoodAcrossRestarts() throws {
        for _ in 0..<3 { try write(4) }
        let found = try AuditVerification(place())
        XCTAssertEqual(found.findings, [])
        XCTAssertEqual(found.good, 12)
        XCTAssertEqual(found.last?.number, 12)
        for file in [log, folder + "/audit.jsonl.head"] {
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            XCTAssertEqual(mode, 0o600, file)
        }
    }

    func testEveryFlippedByteIsFound() throws {
        try write(1)
        try AuditLog(place()).append(.command("\"\\\u{0}\n\u{2028}é😀"), part: "test")
        XCTAssertEqual(try lines().count, 2)
        XCTAssertEqual(try findings(), [])
        let good = try Data(contentsOf: URL(fileURLWithPath: log))
        // Leaves out the last byte, a newline, because it belongs to no line.
        for index in good.indices.dropLast() {
            var bad = good
            bad[index] ^= 1
            try bad.write(to: URL(fileURLWithPath: log))
            XCTAssertFalse(try findings().isEmpty, "byte \(index)")
        }
    }

    func testALineThatIsRemovedInsertedRepeatedOrMovedIsFound() throws {
        try write(5)
        let good = try lines()
        var cases: [String: [String]] = [:]
        for index in good.indices {
            cases["without \(index)"] = good.enumerated().filter { $0.offset != index }.map(\.element)
            cases["twice \(index)"] = Array(good[...index]) + Array(good[index...])
        }
        cases["swapped"] = [good[0], good[2], good[1], good[3], good[4]]
        cases["another line"] = Array(good[..<2]) + ["{\"n\":3,\"event\":\"login\"}"] + Array(good[2...])
        cases["an empty line"] = Array(good[..<2]) + [""] + Array(good[2...])
        cases["nothing"] = []
        for (name, bad) in cases {
            try save(bad)
            XCTAssertFalse(try findings().isEmpty, name)
        }
        try save(good)
        XCTAssertEqual(try findings(), [])
    }

    /// Makes two logs with the same key. If a line of the first log, or the whole first log, is replaced by that of the
    /// second one, a verification of the first log must report it.
    func testALineOfAnotherLogIsFound() throws {
        try write(3)
        let other = try AuditPlace(log: folder + "/log/other.jsonl", keyFile: folder + "/audit.key")
        let audit = try AuditLog(other)
        for number in 0..<3 { try audit.append(.command("other \(number)"), part: "test") }
        let foreign = try String(contentsOfFile: other.log, encoding: .utf8).split(separator: "\n").map(String.init)
        let good = try lines()
        try save([good[0], foreign[1], good[2]])
        XCTAssertFalse(try findings().isEmpty)
        try save(foreign)
        XCTAssertFalse(try findings().isEmpty)
    }

    func testACutEndIsSeenByTheHeadAndByAMarkThatWasWrittenDown() throws {
        try write(3)
        let head = folder + "/audit.jsonl.head"
        let old = try Data(contentsOf: URL(fileURLWithPath: head))
        let short = try lines()
        try write(2)
        let mark = try AuditVerification(place()).last
        try save(short)
        XCTAssertEqual(try findings().map(\.line), [4])
        XCTAssertTrue(try findings().allSatisfy { $0.text.contains("cut off") })
        // Also restores the old head file. Then only the mark that somebody wrote down (the last line's number and tag)
        // shows that the end was cut off.
        try old.write(to: URL(fileURLWithPath: head))
        XCTAssertEqual(try findings(), [])
        XCTAssertFalse(try AuditVerification(place(), expected: mark).findings.isEmpty)
    }

    func testACutLogGoesOnAndShowsTheGapForEver() throws {
        try write(5)
        try save(Array(try lines()[..<3]))
        try write(2)
        let found = try AuditVerification(place())
        XCTAssertEqual(found.findings.map(\.line), [4])
        XCTAssertTrue(found.findings.allSatisfy { $0.text.contains("lost") })
        XCTAssertEqual(found.last?.number, 8, "5, the gap, and two more")
        try FileManager.default.removeItem(atPath: log)
        try write(1)
        XCTAssertEqual(try findings().map(\.line), [1])
    }

    /// Tests what a power failure may leave in the log: lines after the last one that the head file knows, which must
    /// be accepted, and half a line, which must be reported.
    func testATornLineIsShownAndALineBeforeTheHeadIsTakenOver() throws {
        try write(2)
        let head = try Data(contentsOf: URL(fileURLWithPath: folder + "/audit.jsonl.head"))
        try write(2)
        try head.write(to: URL(fileURLWithPath: folder + "/audit.jsonl.head"))
        try write(1)
        XCTAssertEqual(try findings(), [])
        XCTAssertEqual(try lines().count, 5)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        try file.seekToEnd()
        try file.write(contentsOf: Data("{\"n\":6,\"time\":\"2026".utf8))
        try write(1)
        XCTAssertEqual(try findings().map(\.line), [6])
        XCTAssertEqual(try lines().count, 8)
    }

    func testSeveralWritersAtTheSameTimeMakeOneChain() throws {
        let writers = try (0..<4).map { _ in try AuditLog(place()) }
        let written = parallel(8) { index in
            for number in 0..<50 { try writers[index % 4].append(.command("\(index) \(number)"), part: "test") }
            return index
        }
        XCTAssertEqual(Set(written), Set(0..<8))
        let found = try AuditVerification(place())
        XCTAssertEqual(found.findings, [])
        XCTAssertEqual(found.good, 400)
    }

    func testANewFileGoesOnWithTheChainAlsoForWhoHasTheOldOneOpen() throws {
        let audit = try AuditLog(place())
        try audit.append(.command("first"), part: "test")
        try AuditLog(place()).rotate(suffix: "1")
        try audit.append(.command("second"), part: "test")
        try AuditLog(place()).rotate(suffix: "2")
        XCTAssertThrowsError(try AuditLog(place()).rotate(suffix: "2"), "nothing is replaced")
        let files = [log + ".1", log + ".2"]
        let found = try AuditVerification(place())
        XCTAssertEqual(found.findings, [])
        XCTAssertEqual(found.files, files + [log])
        XCTAssertEqual([found.good, found.unseen.count], [4, 0], "two lines, two beginnings")
        let given = try AuditVerification(place(), older: files.reversed())
        XCTAssertEqual([given.good, given.findings.count], [4, 0], "each is read once")
    }

    /// Who goes on with the log has written nothing since, and the log is as long as it was then.
    func testALineOfAnotherProcessThatIsCutOffIsFound() throws {
        let (audit, other) = (try AuditLog(place()), try AuditLog(place()))
        try audit.append(.command("first"), part: "test")
        let short = try lines()
        try other.append(.command("cut off"), part: "test")
        try save(short)
        try audit.append(.command("next"), part: "test")
        XCTAssertEqual(try findings().map(\.line), [2])
    }

    /// A new file may have the size of the old one.
    func testANewFileOfTheSameSizeIsNotTakenForTheOldOne() throws {
        let (audit, other) = (try AuditLog(place()), try AuditLog(place()))
        func size() throws -> Int { try Data(contentsOf: URL(fileURLWithPath: log)).count }
        try audit.rotate(suffix: "1")
        try audit.append(.command("same"), part: "test")
        let old = try size()
        try other.rotate(suffix: "2")
        try other.append(.command("same"), part: "test")
        XCTAssertEqual(try size(), old)
        try audit.append(.command("next"), part: "test")
        let found = try AuditVerification(place())
        XCTAssertEqual(found.findings, [])
        XCTAssertEqual(found.good, 5, "two beginnings, three lines")
    }

    /// A verification must find the rotated files by itself, and say which lines it could not check.
    func testAVerificationFindsTheFilesThatWerePutAsideAndSaysWhatItDidNotSee() throws {
        let elsewhere = folder + "/elsewhere"
        try makeFolder(elsewhere)
        for file in ["1", "2", "3"] {
            try write(3)
            try AuditLog(place()).rotate(suffix: file)
        }
        // Changes line 3 of the second file.
        let second = try String(contentsOfFile: log + ".2", encoding: .utf8)
        try second.replacing("test 1", with: "test 9").write(toFile: log + ".2", atomically: true, encoding: .utf8)
        XCTAssertEqual(try findings().map { [$0.file, "\($0.line)"] }, [[log + ".2", "3"]], "altered")
        try FileManager.default.removeItem(atPath: log + ".2")
        XCTAssertEqual(
            try findings().map(\.text), ["lines 4 to 7 are missing: a file of the log is not here"], "a hole")
        try second.write(toFile: log + ".2", atomically: true, encoding: .utf8)
        XCTAssertEqual(try findings(), [])
        try FileManager.default.moveItem(atPath: log + ".1", toPath: elsewhere + "/first")
        let partial = try AuditVerification(place())
        XCTAssertEqual(partial.findings, [])
        let missing =
            "lines 1 to 3 are in files that are not here; give them as --older, or --from 4 if they were archived"
        XCTAssertEqual(partial.unseen, [missing])
        let whole = try AuditVerification(place(), older: [elsewhere + "/first"])
        XCTAssertEqual([whole.findings.count, whole.unseen.count, whole.files.count], [0, 0, 4])
        try Data([0x1F, 0x8B]).write(to: URL(fileURLWithPath: log + ".0.gz"))
        XCTAssertEqual(
            try AuditVerification(place()).unseen,
            ["\(log).0.gz is packed: unpack it and give it as --older", missing])
        XCTAssertEqual(try AuditVerification(place(), older: [elsewhere + "/first"]).unseen, [])
        XCTAssertEqual(try verify(), 3)
        XCTAssertEqual(try verify(["--older", elsewhere + "/first"]), 0)
    }

    /// The exit code of `mpind audit verify`.
    private func verify(_ options: [String] = []) throws -> Int32 {
        try command(options).status
    }

    private func command(_ options: [String]) throws -> (status: Int32, output: String) {
        let place = ["--audit-log", log, "--audit-key-file", folder + "/audit.key"]
        let done = try Mpind.run(["audit", "verify"] + place + options)
        return (done.code, done.output)
    }

    /// What was not seen is no proof: whoever takes away the older files, or puts an empty one in their place, does not get
    /// the exit code of a whole log.
    func testWhatWasNotSeenHasAnExitCodeOfItsOwn() throws {
        for file in ["1", "2"] {
            try write(3)
            try AuditLog(place()).rotate(suffix: file)
        }
        XCTAssertEqual(try verify(), 0)
        let first = try Data(contentsOf: URL(fileURLWithPath: log + ".1"))
        try Data().write(to: URL(fileURLWithPath: log + ".1"))
        XCTAssertEqual(try verify(), 3, "the oldest is empty")
        try FileManager.default.removeItem(atPath: log + ".1")
        XCTAssertEqual(try verify(), 3, "the oldest is gone")
        XCTAssertEqual([try verify(["--from", "4"]), try verify(["--from", "3"])], [0, 3])
        try FileManager.default.removeItem(atPath: log + ".2")
        XCTAssertEqual([try verify(), try verify(["--from", "4"]), try verify(["--from", "8"])], [3, 3, 0])
        XCTAssertEqual(try verify(["--from", "0"]), 64)
        try first.write(to: URL(fileURLWithPath: log + ".1"))
        XCTAssertEqual(try verify(["--from", "8"]), 2, "a hole is more than what was not seen")
    }

    /// An empty head knows no end. Neither a verification nor a server that goes on takes the log for a whole one.
    func testAnEmptyHeadHidesNoCutEnd() throws {
        let head = folder + "/audit.jsonl.head"
        try write(5)
        try Data().write(to: URL(fileURLWithPath: head))
        XCTAssertEqual(try verify(), 2, "the head alone")
        try save(Array(try lines()[..<3]))
        XCTAssertEqual(try verify(), 2, "and the end")
        try write(2)
        let found = try AuditVerification(place())
        XCTAssertEqual(found.findings.map(\.line), [4])
        XCTAssertEqual(found.last?.number, 7, "three lines, a number that is left out, the gap, and two more")
        try Data().write(to: URL(fileURLWithPath: log))
        try Data().write(to: URL(fileURLWithPath: head))
        XCTAssertEqual(try verify(), 3, "all that is left is what a new log has")
    }

    /// A head of before has only its first part. The first verification lets it know its first line, and says so once.
    func testAHeadOfBeforeGetsItsFirstLine() throws {
        let head = folder + "/audit.jsonl.head"
        func cut() throws {
            let old = try Data(contentsOf: URL(fileURLWithPath: head)).prefix(128)
            XCTAssertEqual(String(decoding: old, as: UTF8.self).split(whereSeparator: \.isWhitespace).count, 3)
            try old.write(to: URL(fileURLWithPath: head))
        }
        for file in ["1", "2"] {
            try write(3)
            try AuditLog(place()).rotate(suffix: file)
        }
        let whole = try Data(contentsOf: URL(fileURLWithPath: head))
        XCTAssertEqual(whole.count, 256)
        try cut()
        try write(1)
        let told = try command(["--json"])
        XCTAssertEqual(told.status, 0)
        XCTAssertTrue(told.output.contains("\"first\":1"), told.output)
        XCTAssertEqual(try Data(contentsOf: URL(fileURLWithPath: head)).suffix(128), whole.suffix(128))
        XCTAssertFalse(try command(["--json"]).output.contains("\"first\""))
        try write(1)
        XCTAssertEqual(try verify(), 0, "the next lines leave it")
        // The operator has archived the first file.
        try cut()
        try FileManager.default.removeItem(atPath: log + ".1")
        XCTAssertTrue(try command(["--json"]).output.contains("\"first\":4"))
        XCTAssertEqual([try verify(), try verify(["--from", "4"])], [3, 0])
        // The first line that the head knows is another one.
        var other = try Data(contentsOf: URL(fileURLWithPath: head))
        other[130] = UInt8(ascii: other[130] == UInt8(ascii: "0") ? "1" : "0")
        try other.write(to: URL(fileURLWithPath: head))
        XCTAssertEqual(try verify(["--from", "4"]), 2)
    }

    /// A hard or symbolic link to the log may stay beside it, from an operator or from an interrupted rotation. It must
    /// not be taken for a rotated file, which would hide that the log was cut off.
    func testAnotherNameOfTheLogBesideItHidesNoCutEnd() throws {
        for (name, make) in [("hard", link), ("symbolic", symlink)] {
            try write(3)
            XCTAssertEqual(make(log, log + "." + name), 0)
            let whole = try lines()
            let found = try AuditVerification(place())
            XCTAssertEqual([found.files.count, found.findings.count], [1, 0], name)
            try save(whole.dropLast())
            XCTAssertEqual(try findings().map(\.file), [log], name)
            XCTAssertTrue(try findings().allSatisfy { $0.text.contains("cut off") }, name)
            try save(whole)
            XCTAssertEqual(unlink(log + "." + name), 0)
        }
    }

    func testANewFileThatCannotBeBegunIsTriedAgainWhenTheLogHasGrownAndSaidOnce() throws {
        let start = try XCTUnwrap(Moment("2026-01-01T00:00:00Z"))
        let now = Mutex(start)
        let audit = try AuditLog(place(), fileBytes: 16_384) { now.withLock { $0 } }
        let inTheWay = log + "." + start.isoWithMicroseconds
        try Data().write(to: URL(fileURLWithPath: inTheWay))
        var said = 0
        func append() throws -> Int {
            do { try audit.append(.command("test"), part: "test") } catch AuditError.notRotated { said += 1 }
            return try Data(contentsOf: URL(fileURLWithPath: log)).count
        }
        var size = 0
        while said == 0, size < 20_000 { size = try append() }
        XCTAssertEqual(said, 1)
        let full = size
        // From now on a new file is possible, but the log tries again only after it has grown by an eighth of its limit
        // (2,048 bytes), not at every line.
        now.withLock { $0 = start.adding(seconds: 1) }
        var last = full
        while size >= last, size < 40_000 {
            last = size
            size = try append()
        }
        XCTAssertTrue((full + 2048 - 512...full + 2048).contains(last), "\(full) \(last)")
        XCTAssertEqual(said, 1)
        XCTAssertEqual(unlink(inTheWay), 0)
        let found = try AuditVerification(place())
        XCTAssertEqual([found.files.count, found.findings.count], [2, 0])
    }

    func testANewFileThatCannotBeBegunAgainAndAgainIsSaidOnce() throws {
        let time = try XCTUnwrap(Moment("2026-01-01T00:00:00Z"))
        let audit = try AuditLog(place(), fileBytes: 4096) { time }
        try Data().write(to: URL(fileURLWithPath: log + "." + time.isoWithMicroseconds))
        var said = 0
        for _ in 0..<100 {
            do { try audit.append(.command("test"), part: "test") } catch AuditError.notRotated { said += 1 }
        }
        XCTAssertEqual(said, 1)
        XCTAssertEqual(try lines().count, 100, "every line is written")
    }

    func testALogThatHasGrownIsPutAsideByItselfAndStaysOneChain() throws {
        let writers = try (0..<2).map { _ in try AuditLog(place(), fileBytes: 4096) }
        for number in 0..<200 { try writers[number % 2].append(.command("test \(number)"), part: "test") }
        let found = try AuditVerification(place())
        XCTAssertEqual(found.findings, [])
        XCTAssertEqual(found.unseen, [])
        XCTAssertGreaterThan(found.files.count, 5)
        XCTAssertEqual(found.good, 200 + found.files.count - 1, "each new file has a line that begins it")
        for file in found.files {
            let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
            XCTAssertLessThan(size ?? 0, 4096 + 1024, file)
        }
    }

    /// Tests the option --audit-file-bytes of the program, and that a verification while the server writes misses
    /// nothing.
    func testTheServerPutsItsLogAsideAndVerificationGoesOnMeanwhile() throws {
        let backend = Backend.onFreePorts()
        defer { try? FileManager.default.removeItem(atPath: backend.stateFolder) }
        let mpind = try Mpind(backend, ["--audit-file-bytes", "4096", "--force-activate"])
        try mpind.waitUntilReady()
        let state = backend.stateFolder
        let place = try AuditPlace(log: state + "/audit/audit.jsonl", keyFile: state + "/audit.key")
        let verified = Mutex(0)
        let users = parallel(2) { index -> Int in
            for number in 0..<12 {
                if index == 0 {
                    _ = try TestClient(backend: backend).register("u\(number)@example.com", pin: "1234")
                } else {
                    let found = try AuditVerification(place)
                    XCTAssertEqual(found.findings, [])
                    verified.withLock { $0 += 1 }
                }
            }
            return index
        }
        XCTAssertEqual(Set(users), [0, 1])
        XCTAssertEqual(verified.withLock { $0 }, 12)
        let found = try AuditVerification(place)
        XCTAssertGreaterThan(found.files.count, 2)
        XCTAssertEqual([found.findings.count, found.unseen.count], [0, 0])
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    /// Anybody can request permits, also repeatedly and for IDs that are not registered. All these requests together
    /// may add only one line to the audit log in five minutes, with their number.
    func testPermitsOfStrangersAndRepeatedOnesAreOneLineInAnInterval() throws {
        let server = try InProcess { $0.delivery = .forceActivate }.keep(in: self)
        let client = TestClient(backend: server.backend)
        let log = server.backend.stateFolder + "/audit/audit.jsonl"
        func lines(_ event: String) throws -> [[String: Any]] {
            try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").compactMap {
                let line = try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
                return line?["event"] as? String == event ? line : nil
            }
        }
        func waitForLines(_ event: String, _ count: Int) throws -> [[String: Any]] {
            let end = Date(timeIntervalSinceNow: 60)
            while try lines(event).count < count, Date() < end { usleep(10_000) }
            return try lines(event)
        }
        let alice = try client.register("alice@example.com", pin: "1234")
        for _ in 0..<20 { _ = try client.timePermit(TestClient.User.invented(token: alice.token)) }
        for _ in 0..<5 { _ = try client.timePermit(alice) }
        XCTAssertEqual(try waitForLines("permit", 1).map { $0["user"] as? String }, ["alice@example.com"])
        XCTAssertEqual(try lines("permits").count, 0, "the interval is not over")
        server.advance(seconds: 301)
        _ = try client.timePermit(alice)
        let sums = try waitForLines("permits", 1)
        XCTAssertEqual(sums.map { $0["strangers"] as? String }, ["20"])
        XCTAssertEqual(sums.map { $0["repeated"] as? String }, ["4"])
        XCTAssertNil(sums[0]["from"], "of nobody in particular")
        XCTAssertEqual(try waitForLines("permit", 2).count, 2, "a line in each interval")
        _ = try client.timePermit(TestClient.User.invented(token: alice.token))
        let state = server.backend.stateFolder
        let place = try AuditPlace(log: log, keyFile: state + "/audit.key")
        XCTAssertEqual(try AuditVerification(place).findings, [])
    }

    func testTheEndOfTheServerSumsUpWhatIsLeft() throws {
        let backend = Backend.onFreePorts()
        defer { try? FileManager.default.removeItem(atPath: backend.stateFolder) }
        let mpind = try Mpind(backend, ["--force-activate"])
        try mpind.waitUntilReady()
        let client = TestClient(backend: backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        _ = try client.timePermit(TestClient.User.invented(token: alice.token))
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
        let text = try String(contentsOfFile: backend.stateFolder + "/audit/audit.jsonl", encoding: .utf8)
        let events = text.split(separator: "\n").compactMap { $0.firstMatch(of: /"event":"([a-z-]+)"/)?.1 }
        XCTAssertEqual(events.suffix(2), ["permits", "stopped"])
    }

    func testALogThatCannotBeWrittenToSaysSo() throws {
        try write(1)
        let full = try AuditLog(place())
        try withFullDisk { XCTAssertThrowsError(try full.append(.command("x"), part: "test")) }
        XCTAssertEqual(try findings(), [])
        try full.append(.command("x"), part: "test")
        XCTAssertEqual(try AuditVerification(place()).good, 2)
        XCTAssertThrowsError(
            try AuditLog(AuditPlace(log: folder + "/none/audit.jsonl", keyFile: folder + "/audit.key")))
    }

    private static let fileSize = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)

    /// Lets no file of this process grow beyond the present size of the log and half a line.
    private func withFullDisk(_ work: () throws -> Void) throws {
        let size = try XCTUnwrap(FileManager.default.attributesOfItem(atPath: log)[.size] as? Int)
        var before = rlimit()
        XCTAssertEqual(getrlimit(Self.fileSize, &before), 0)
        var full = before
        full.rlim_cur = rlim_t(size + 50)
        let action = signal(SIGXFSZ, SIG_IGN)
        XCTAssertEqual(setrlimit(Self.fileSize, &full), 0)
        defer {
            _ = setrlimit(Self.fileSize, &before)
            signal(SIGXFSZ, action)
        }
        try work()
    }

    func testWhatHappensToAUserStandsInTheLogAndNoSecretDoes() throws {
        let server = try InProcess().keep(in: self)
        let client = TestClient(backend: server.backend)
        let user = "alice@example.com"
        let registration = try client.startRegistration(user)
        try client.confirm(user)
        let alice = try client.finishRegistration(registration, pin: "1234")
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        for _ in 0..<3 { _ = try client.login(alice, pin: "9999") }
        let state = server.backend.stateFolder
        let found = try AuditVerification(
            AuditPlace(log: state + "/audit/audit.jsonl", keyFile: state + "/audit.key"))
        XCTAssertEqual(found.findings, [])
        let text = try String(contentsOfFile: state + "/audit/audit.jsonl", encoding: .utf8)
        let events = try text.split(separator: "\n").map { line in
            try XCTUnwrap(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        XCTAssertEqual(
            events.compactMap { $0["event"] as? String },
            ["share-made", "share-made", "started", "share", "share", "registration-started", "registration-confirmed"]
                + ["share", "registered", "share"]
                + ["permit", "login", "login", "login", "login", "blocked"])
        XCTAssertEqual(
            events.filter { $0["event"] as? String == "login" }.compactMap { $0["status"] as? String },
            ["200", "401", "401", "410"])
        XCTAssertEqual(Set(events.compactMap { $0["user"] as? String }), [user])
        XCTAssertEqual(Set(events.compactMap { $0["identity"] as? String }), [Hex.encode(alice.hash)])
        XCTAssertEqual(Set(events.compactMap { $0["from"] as? String }), ["127.0.0.1"])
        for secret in [registration.regOTT, registration.mpinId, Hex.encode(alice.token), "1234", "9999"] {
            XCTAssertFalse(text.contains("\"\(secret)\""), secret)
        }
        XCTAssertFalse(text.contains(registration.regOTT))
    }

    func testWhatIsRefusedAndWhoUsesTheWebsiteStandsInTheLog() throws {
        let list = folder + "/revoked"
        try Data().write(to: URL(fileURLWithPath: list))
        let server = try InProcess(change: { $0.revokedUsersFile = list }).keep(in: self)
        let client = TestClient(backend: server.backend)
        let log = server.backend.stateFolder + "/audit/audit.jsonl"
        func events(_ work: () throws -> Void) throws -> [String] {
            let before = try String(contentsOfFile: log, encoding: .utf8).count
            try work()
            return try String(contentsOfFile: log, encoding: .utf8).dropFirst(before).split(separator: "\n").map {
                let line = try XCTUnwrap(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
                let status = (line["status"] as? String).map { " " + $0 } ?? ""
                let user = (line["user"] as? String).map { " " + $0 } ?? ""
                return (line["event"] as? String ?? "") + status + user
            }
        }
        let alice = try client.register("alice@example.com", pin: "1234")
        XCTAssertEqual(
            try events { _ = try server.backend.call("PUT", "/rps/user", "{\"userId\":\"a b@c,d\"}") },
            ["registration-started a b@c,d", "registration-refused 403 a b@c,d"])
        let pending = try client.startRegistration("bob@example.com")
        let key = "{\"activateKey\":\"\(String(repeating: "0", count: 64))\"}"
        XCTAssertEqual(
            try events { _ = try server.backend.callPrivate("POST", "/user/" + pending.mpinId, key) },
            ["confirmation-refused bob@example.com"])
        let stranger = try TestClient.User.invented(token: alice.token)
        XCTAssertEqual(try events { _ = try client.timePermit(stranger) }, [], "summed up later")
        let own = ["Origin": "http://127.0.0.1"]
        let cookie = Mutex("")
        let begun = try events {
            let pass2 = try client.pass2(client.pass1(alice, pin: "1234", permit: client.timePermit(alice)))
            let answer = try server.backend.call(
                "POST", "/mpinAuthenticate", "{\"mpinResponse\":\(pass2.text)}", headers: own)
            XCTAssertEqual(answer.status, 200)
            cookie.withLock { $0 = String(answer.headers["set-cookie"]?.split(separator: ";").first ?? "") }
        }
        XCTAssertEqual(
            begun, ["permit 200 alice@example.com", "login 200 alice@example.com", "session-begun alice@example.com"])
        let headers = own.merging(["Cookie": cookie.withLock { $0 }]) { $1 }
        let page = try server.backend.call("GET", "/account", headers: headers).text
        let csrf = try XCTUnwrap(page.firstMatch(of: /name="csrf" value="([0-9a-f]+)"/)).1
        XCTAssertEqual(
            try events { _ = try server.backend.call("POST", "/logout", "csrf=\(csrf)", headers: headers) },
            ["session-ended alice@example.com"])
        try Data("alice@example.com\n".utf8).write(to: URL(fileURLWithPath: list))
        let refused = try events {
            let before = try Data(contentsOf: URL(fileURLWithPath: log)).count
            _ = try server.backend.call("GET", "/rps/timePermit/" + alice.id)
            let end = Date(timeIntervalSinceNow: 60)
            while try Data(contentsOf: URL(fileURLWithPath: log)).count == before, Date() < end { usleep(10_000) }
        }
        XCTAssertEqual(refused, ["permit 410 alice@example.com"])
    }

    func testUsersCanStandInTheLogAsAKeyedHash() throws {
        let server = try InProcess { $0.auditUsers = .hashed }.keep(in: self)
        let client = TestClient(backend: server.backend)
        _ = try client.register("alice@example.com", pin: "1234")
        let state = server.backend.stateFolder
        let place = try AuditPlace(
            log: state + "/audit/audit.jsonl", keyFile: state + "/audit.key", users: .hashed)
        let text = try String(contentsOfFile: place.log, encoding: .utf8)
        XCTAssertFalse(text.contains("alice"))
        XCTAssertTrue(text.contains("\"user\":\"\(place.name("alice@example.com"))\""))
        XCTAssertNotEqual(place.name("alice@example.com"), place.name("bob@example.com"))
    }
}
