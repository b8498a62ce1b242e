import Foundation
import MPinCrypto
import MPinHTTP
import MPinSDK
import MPinSecrets
import MPinWire
import XCTest

/// A test case with a new folder for each test.
class FolderTestCase: XCTestCase {
    private(set) var folder = ""
    var path: String { folder + "/store" }

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "mpin-sdk-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    override func tearDownWithError() throws { try FileManager.default.removeItem(atPath: folder) }

    func read(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
    func write(_ bytes: [UInt8], _ path: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }

    /// Runs `body` and returns the status of the error that it throws; nil if it succeeds.
    func failure(_ body: () throws(SDKError) -> Void) -> Status? {
        do throws(SDKError) { try body() } catch { return error.status }
        return nil
    }

    func sorted(_ records: [UserRecord]) -> [UserRecord] { records.sorted { $0.key < $1.key } }

    /// Returns the members of an answer as text, in order.
    func members(_ answer: some Sendable) -> [String] { Mirror(reflecting: answer).children.map { "\($0.value)" } }
}

final class StoreTests: FolderTestCase {
    private func store() throws -> UserStore {
        UserStore(storage: FileStorage(path: path), key: try KeyFile.loadOrCreate(path + ".key"))
    }

    private let mpinID = Hex.encode(Array("the M-Pin ID".utf8))

    private func record(_ id: String, token: UInt8 = 4) -> UserRecord {
        var record = UserRecord(userID: id, backend: "https://example.com", deviceName: "phone")
        record.state = UserState.registered.name
        record.mpinID = mpinID
        let bytes = [UInt8](repeating: token, count: 65)
        record.token = SecretHex(SecretBytes(copying: bytes.span))
        record.mapping = .decimal6
        record.permit = UserRecord.CachedPermit(date: 20778, share: SecretHex(SecretBytes(copying: bytes.span)))
        return record
    }

    @discardableResult
    private func save(_ record: UserRecord) throws -> [UserRecord] {
        try store().update(record.key) { $0 = record }
    }

    private func saveThree() throws -> [UserRecord] {
        let records = ["alice", "bob", "zoë@example.com"].map { record($0) }
        for record in records { try save(record) }
        return records
    }

    func testRecordsSurviveARestart() throws {
        let records = try saveThree()
        let content = try store().load()
        XCTAssertEqual(sorted(content.records), sorted(records))
        XCTAssertEqual(content.damaged, 0)
    }

    func testNoFileIsAnEmptyStore() throws {
        XCTAssertEqual(try store().load().records, [])
        XCTAssertEqual(try store().load().damaged, 0)
    }

    func testARecordIsReplacedAndRemoved() throws {
        try saveThree().forEach { _ in }
        XCTAssertEqual(try save(record("bob", token: 9)).count, 3)
        XCTAssertEqual(try store().load().records.first { $0.userID == "bob" }, record("bob", token: 9))
        let left = try store().update(record("bob").key) { $0 = nil }
        XCTAssertEqual(left.map(\.userID).sorted(), ["alice", "zoë@example.com"])
        XCTAssertEqual(sorted(try store().load().records), sorted(left))
    }

    func testFilesArePrivateAndNoDraftStays() throws {
        _ = try saveThree()
        XCTAssertEqual(
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted(), ["store", "store.key", "store.lock"])
        for name in ["store", "store.key", "store.lock"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            XCTAssertEqual(attributes[.posixPermissions] as? Int, 0o600, name)
        }
    }

    func testNothingOfARecordIsReadableInTheFile() throws {
        _ = try saveThree()
        let text = String(decoding: try read(path), as: UTF8.self)
        let plain = ["alice", "example.com", mpinID, "REGISTERED"]
        let asHex = ["alice@", "REGISTERED"].map { Hex.encode(Array($0.utf8)) }
        for word in plain + asHex + ["040404040404"] {
            XCTAssertFalse(text.contains(word), word)
        }
    }

    func testEveryTruncationIsSeenAndWholeRecordsStayUsable() throws {
        let records = try saveThree()
        let blob = try read(path)
        for count in (0..<blob.count).reversed() {
            XCTAssertEqual(truncate(path, count), 0)
            let store = try store()
            do throws(SDKError) {
                let content = try store.load()
                XCTAssertGreaterThan(content.damaged, 0, "\(count) bytes")
                XCTAssertFalse(content.records.isEmpty, "\(count) bytes")
                for record in content.records { XCTAssertTrue(records.contains(record), "\(count) bytes") }
            } catch { XCTAssertEqual(error.status, .storageError, "\(count) bytes") }
        }
    }

    func testAFlippedBitInAnyByteIsSeenAndOtherRecordsStayUsable() throws {
        let records = try saveThree()
        let blob = try read(path)
        let header = Array("mpin-store 2\n".utf8).count
        let key = try KeyFile.load(path + ".key")
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        let isFull = ProcessInfo.processInfo.environment["FULL"] == "1"
        // Flips every bit of the header and one bit of every other byte; with FULL=1 in the environment every bit.
        for bit in 0..<blob.count * 8 where isFull || bit < header * 8 || bit % 8 == bit / 8 % 8 {
            try file.seek(toOffset: UInt64(bit / 8))
            try file.write(contentsOf: [blob[bit / 8] ^ 1 << (bit % 8)])
            defer {
                try? file.seek(toOffset: UInt64(bit / 8))
                try? file.write(contentsOf: [blob[bit / 8]])
            }
            do throws(SDKError) {
                let content = try UserStore(storage: FileStorage(path: path), key: key).load()
                guard content.damaged > 0, content.records.count >= records.count - 2,
                    content.records.allSatisfy(records.contains)
                else { return XCTFail("bit \(bit): \(content.damaged) damaged, \(content.records.count) left") }
            } catch {
                guard bit < header * 8, error.status == .storageError || error.status == .unsupportedFormat else {
                    return XCTFail("bit \(bit): \(error)")
                }
            }
        }
    }

    func testADamagedFileIsKeptAsideBeforeItIsReplaced() throws {
        let records = try saveThree()
        var blob = try read(path)
        blob[20] ^= 1
        try write(blob, path)
        let left = try save(record("carol"))
        XCTAssertEqual(left.count, records.count)
        XCTAssertEqual(try read(path + ".damaged-1"), blob)
        XCTAssertEqual(try store().load().damaged, 0)
        try save(record("dave"))
        XCTAssertFalse(FileManager.default.fileExists(atPath: path + ".damaged-2"))
    }

    func testARecordMissingFromTheMiddleIsSeen() throws {
        _ = try saveThree()
        var lines = try read(path).split(separator: 10, omittingEmptySubsequences: false)
        lines.remove(at: 2)
        try write(Array(lines.joined(separator: [10])), path)
        let content = try store().load()
        XCTAssertEqual(content.records.count, 2)
        XCTAssertGreaterThan(content.damaged, 0)
    }

    func testRecordsThatAreExchangedOrComeFromAnOldCopyAreSeen() throws {
        let old = try save(record("alice", token: 9))
        let oldLine = try read(path).split(separator: 10)[1]
        let records = try saveThree()
        let lines = try read(path).split(separator: 10)
        var exchanged = lines
        exchanged.swapAt(1, 2)
        try write(Array(exchanged.joined(separator: [10])) + [10], path)
        var content = try store().load()
        XCTAssertEqual(content.damaged, 1)
        // Two swapped lines count as damage, but both records must still be read, each with its own user.
        XCTAssertEqual(sorted(content.records), sorted(records))
        for index in 1...3 {
            var replaced = lines
            replaced[index] = oldLine
            try write(Array(replaced.joined(separator: [10])) + [10], path)
            content = try store().load()
            XCTAssertGreaterThan(content.damaged, 0)
            XCTAssertTrue(content.records.allSatisfy { (records + old).contains($0) })
        }
        try write(Array(lines.joined(separator: [10])) + [10], path)
        XCTAssertEqual(try store().load().damaged, 0)
    }

    func testANewerFormatIsRefusedAndLeftAlone() throws {
        _ = try saveThree()
        let newer = Array("mpin-store 3\n".utf8) + (try read(path)).dropFirst(13)
        try write(newer, path)
        XCTAssertThrowsError(try store().load()) { XCTAssertEqual(($0 as? SDKError)?.status, .unsupportedFormat) }
        XCTAssertThrowsError(try save(record("carol"))) {
            XCTAssertEqual(($0 as? SDKError)?.status, .unsupportedFormat)
        }
        XCTAssertEqual(try read(path), newer)
    }

    func testAnotherKeyIsRefusedAndTheFileLeftAlone() throws {
        _ = try saveThree()
        let blob = try read(path)
        let other = UserStore(storage: FileStorage(path: path), key: try .random(count: 32))
        XCTAssertThrowsError(try other.load()) { XCTAssertEqual(($0 as? SDKError)?.status, .storageError) }
        XCTAssertThrowsError(try other.update(record("x").key) { $0 = nil })
        XCTAssertEqual(try read(path), blob)
    }

    func testAFailedChangeLeavesTheFileAlone() throws {
        _ = try saveThree()
        let blob = try read(path)
        XCTAssertThrowsError(
            try store().update(record("x").key) { _ throws(SDKError) in throw SDKError(.flowError, "no") })
        XCTAssertEqual(try read(path), blob)
    }

    func testAFolderThatIsMissingIsAnError() {
        let lost = FileStorage(path: folder + "/none/store")
        XCTAssertEqual(failure { () throws(SDKError) in try lost.update { _ in [] } }, .storageError)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try FileStorage(path: folder).read() }, .storageError)
    }

    func testAPipeInThePlaceOfTheFileIsAnError() {
        XCTAssertEqual(mkfifo(path, 0o600), 0)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try FileStorage(path: path).read() }, .storageError)
    }

    /// Tests that `initialize` does not wait for ever if there is a pipe in the place of one of the files that it
    /// reads.
    func testNoPipeInThePlaceOfAFileHoldsUpTheStart() throws {
        let files: [(name: String, status: Status)] = [
            ("store", .storageError), ("store.key", .storageError), ("ca.pem", .invalidArgument),
        ]
        for file in files {
            let pipe = "\(folder)/\(file.name)"
            XCTAssertEqual(mkfifo(pipe, 0o600), 0)
            let config = SDKConfig(storagePath: path, caFile: "\(folder)/ca.pem", timeoutMilliseconds: 1000)
            let sdk = SDK()
            XCTAssertEqual(failure { () throws(SDKError) in try sdk.initialize(config) }, file.status, file.name)
            XCTAssertEqual(sdk.lastError?.text.contains("not a regular file"), true, file.name)
            XCTAssertEqual(sdk.lastError?.text.contains(pipe), true, file.name)
            try FileManager.default.removeItem(atPath: pipe)
        }
        XCTAssertEqual(mkfifo("\(path).lock", 0o600), 0)
        XCTAssertEqual(
            failure { () throws(SDKError) in try FileStorage(path: path).update { _ in [] } }, .storageError)
    }

    func testARelativePathStaysWhereItWas() throws {
        let former = FileManager.default.currentDirectoryPath
        defer { XCTAssertTrue(FileManager.default.changeCurrentDirectoryPath(former)) }
        XCTAssertTrue(FileManager.default.changeCurrentDirectoryPath(folder))
        let storage = FileStorage(path: "store")
        XCTAssertTrue(FileManager.default.changeCurrentDirectoryPath("/"))
        try storage.update { _ in [1, 2] }
        XCTAssertEqual(try read(path), [1, 2])
    }

    /// Tests that a wait for the lock goes on for a minute if others change the store, but ends ten seconds after the
    /// last change. Also tests that the pauses between the tries to get the lock become shorter.
    /// Many changes in one tick of the system's clock have different versions, also where the number of a file that is
    /// gone is used again, and if the file says that it is from the future.
    func testNoTwoVersionsAreEqual() throws {
        let (storage, future) = (FileStorage(path: path), timeval(tv_sec: 1 << 32, tv_usec: 0))
        var versions: Set<UInt64> = []
        for number in 0..<300 {
            if number == 100 { XCTAssertEqual(utimes(path, [future, future]), 0) }
            try storage.update { _ in Array("content".utf8) }
            XCTAssertTrue(versions.insert(storage.version()).inserted, "change \(number)")
        }
        try write(Array("CONTENT".utf8), path)
        XCTAssertTrue(versions.insert(storage.version()).inserted)
    }

    func testNoLinkIsFollowedToTheLockOrTheDraft() throws {
        try write([1], folder + "/victim")
        XCTAssertEqual(symlink(folder + "/victim", path + ".new"), 0)
        try FileStorage(path: path).update { _ in [2] }
        XCTAssertEqual(unlink(path + ".lock"), 0)
        XCTAssertEqual(symlink(folder + "/victim", path + ".lock"), 0)
        XCTAssertEqual(
            failure { () throws(SDKError) in try FileStorage(path: path).update { _ in [3] } }, .storageError)
        XCTAssertEqual(try read(folder + "/victim"), [1])
        XCTAssertEqual(try read(path), [2])
    }

    func testAWaitForTheLockGoesOnWhileOthersChangeTheStore() {
        let second: UInt64 = 1_000_000_000
        var wait = LockWait(milliseconds: 60_000, unchanged: 10_000, now: 0)
        for time in 1...59 as ClosedRange<UInt64> { XCTAssertTrue(wait.goesOn(time, now: time * second)) }
        XCTAssertFalse(wait.goesOn(60, now: 60 * second))
        var still = LockWait(milliseconds: 60_000, unchanged: 10_000, now: 0)
        XCTAssertTrue(still.goesOn(1, now: 0))
        XCTAssertTrue(still.goesOn(2, now: 5 * second))
        XCTAssertTrue(still.goesOn(2, now: 14 * second))
        XCTAssertFalse(still.goesOn(2, now: 15 * second))
        XCTAssertEqual([0, 1, 60].map { still.pause(now: $0 * second) }, [5000, 833, 100])
    }

    /// Tests that a call gets the lock although another thread takes it again at once after each change.
    func testACallGetsTheLockOfSomebodyWhoSavesAgainAndAgain() throws {
        let (began, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isDone = Locked(false)
        let path = path
        Thread.detachNewThread {
            let storage = FileStorage(path: path)
            var count: UInt8 = 0
            while !isDone.withLock({ $0 }) {
                try? storage.update { _ in
                    count &+= 1
                    began.signal()
                    usleep(30_000)
                    return [count]
                }
            }
            ended.signal()
        }
        began.wait()
        for _ in 0..<5 {
            XCTAssertNil(failure { () throws(SDKError) in try FileStorage(path: path).update { $0 ?? [] } })
        }
        isDone.withLock { $0 = true }
        ended.wait()
    }

    func testAHeldLockEndsWithItsCallAndAFreeOneIsTakenHoweverLate() throws {
        let storage = FileStorage(path: path)
        func save(_ byte: UInt8, isCancelled: Bool) -> Status? {
            failure { () throws(SDKError) in
                let late = CallLimits(deadline: .after(milliseconds: 0)) { isCancelled }
                try storage.update(within: late) { _ in [byte] }
            }
        }
        XCTAssertNil(save(1, isCancelled: true))
        let lock = open(path + ".lock", O_RDWR)
        XCTAssertEqual(flock(lock, LOCK_EX), 0)
        let start = monotonicNanoseconds()
        XCTAssertEqual(save(2, isCancelled: true), .canceled)
        XCTAssertEqual(save(3, isCancelled: false), .storageError)
        XCTAssertLessThan((monotonicNanoseconds() - start) / 1_000_000, 8000)
        close(lock)
        XCTAssertEqual(try read(path), [1])
        XCTAssertNil(save(4, isCancelled: false))
        XCTAssertEqual(try read(path), [4])
    }

    func testADraftThatACrashLeftIsNoObstacle() throws {
        try write([1, 2, 3], path + ".new")
        XCTAssertEqual(try saveThree().count, 3)
        XCTAssertFalse(FileManager.default.fileExists(atPath: path + ".new"))
    }

    func testAnOldCopyInThePlaceOfTheStoreIsSeenByAProcessThatKnewTheNewOne() throws {
        try save(record("alice"))
        let old = try read(path)
        let running = try store()
        _ = try running.update(record("bob").key) { $0 = record("bob") }
        try write(old, path)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try running.load() }, .storageError)
        XCTAssertEqual(
            failure { () throws(SDKError) in _ = try running.update(record("x").key) { $0 = nil } }, .storageError)
        XCTAssertEqual(try read(path), old)
        // A process that starts only now has never seen the newer store, so it cannot detect the old copy.
        XCTAssertEqual(try store().load().records.count, 1)
    }

    func testAnOldCopyWithoutItsGenerationIsSeen() throws {
        let key = try KeyFile.loadOrCreate(path + ".key")
        try save(record("alice"))
        let old = try read(path)
        let running = try store()
        _ = try running.update(record("bob").key) { $0 = record("bob") }
        let lines = old.split(separator: 10)
        for copy in [
            Array(lines.dropLast().joined(separator: [10])) + [10], Array(old.dropLast(2)),
            try oldStore("mpin-store 1", key, version: 1, ending: []),
        ] {
            try write(copy, path)
            XCTAssertEqual(failure { () throws(SDKError) in _ = try running.load() }, .storageError)
            XCTAssertEqual(
                failure { () throws(SDKError) in _ = try running.update(record("x").key) { $0 = nil } }, .storageError)
            XCTAssertEqual(try read(path), copy)
            XCTAssertEqual(try store().load().records.map(\.userID), ["alice"])
        }
    }

    func testAStoreThatIsGoneIsNoNewOne() throws {
        let running = try store()
        XCTAssertEqual(try running.load().records, [])
        _ = try running.update(record("alice").key) { $0 = record("alice") }
        XCTAssertEqual(unlink(path), 0)
        XCTAssertEqual(failure { () throws(SDKError) in _ = try running.load() }, .storageError)
        XCTAssertEqual(
            failure { () throws(SDKError) in _ = try running.update(record("bob").key) { $0 = record("bob") } },
            .storageError)
        XCTAssertFalse(FileManager.default.fileExists(atPath: path))
    }

    func testTwoUsersFilesExchangedAreSeen() throws {
        try save(record("alice"))
        let other = UserStore(storage: FileStorage(path: path + "2"), key: try KeyFile.loadOrCreate(path + "2.key"))
        _ = try other.update(record("bob").key) { $0 = record("bob") }
        try write(try read(path + "2"), path)
        let reopened = try store()
        XCTAssertEqual(failure { () throws(SDKError) in _ = try reopened.load() }, .storageError)
    }

    private func secret(_ text: String) -> SecretBytes {
        let bytes = Array(text.utf8)
        return SecretBytes(copying: bytes.span)
    }

    /// Returns a store in the format of an older version of the library.
    private func oldStore(_ header: String, _ key: SecretBytes, version: Int, ending: [UInt8]) throws -> [UInt8] {
        let encoder = JSONEncoder()
        let json = [
            "userID": "alice", "backend": "https://example.com", "state": "STARTED_REGISTRATION", "mpinID": mpinID,
            "regOTT": "00",
        ]
        let record = Array(try encoder.encode(json))
        func line(_ text: [UInt8], _ purpose: String) throws -> [UInt8] {
            let purpose = Array("mpin-store/\(version) \(purpose)".utf8)
            return Array(Hex.encode(try SealedBox.seal(text.span, key: key, associatedData: purpose)).utf8) + [10]
        }
        let lines = Array(header.utf8) + [10] + (try line(record, "record"))
        return lines + (try line(SHA256.hash(lines) + ending, "digest"))
    }

    private func firstLine() throws -> String {
        String(String(decoding: try read(path), as: UTF8.self).prefix { $0 != "\n" })
    }

    func testFormat1IsReadAndBecomesFormat2() throws {
        let key = try KeyFile.loadOrCreate(path + ".key")
        try write(try oldStore("mpin-store 1", key, version: 1, ending: []), path)
        XCTAssertEqual(try store().load().records.map(\.userID), ["alice"])
        XCTAssertEqual(try store().load().damaged, 0)
        XCTAssertEqual(try save(record("bob")).count, 2)
        XCTAssertEqual(try firstLine(), "mpin-store 2")
        XCTAssertEqual(try store().load().records.count, 2)
        XCTAssertEqual(try store().load().damaged, 0)
    }

    func testAPassphrasesCostGrowsWithTheLibrary() throws {
        let passphrase = secret("correct horse")
        let salt = [UInt8](repeating: 7, count: 16)
        let weak = try XCTUnwrap(Argon2id(passes: 2, kibibytes: 1 << 16, salt: salt))
        let header = "mpin-store 2 argon2id 2 65536 \(Hex.encode(salt))"
        let key = try XCTUnwrap(weak.key(passphrase))
        try write(try oldStore(header, key, version: 2, ending: [UInt8](repeating: 0, count: 8)), path)
        func open(_ passphrase: SecretBytes) -> UserStore {
            UserStore(storage: FileStorage(path: path), key: StoreKey(passphrase: passphrase))
        }
        XCTAssertEqual(try open(passphrase).load().records.map(\.userID), ["alice"])
        XCTAssertEqual(try firstLine(), header)
        _ = try open(passphrase).update(record("bob").key) { $0 = record("bob") }
        let line = try firstLine()
        XCTAssertTrue(line.hasPrefix("mpin-store 2 argon2id 3 65536 "), line)
        XCTAssertFalse(try firstLine().hasSuffix(Hex.encode(salt)))
        XCTAssertEqual(try open(passphrase).load().records.count, 2)
        let wrong = secret("wrong horse")
        XCTAssertEqual(failure { () throws(SDKError) in _ = try open(wrong).load() }, .storageError)
        XCTAssertThrowsError(try store().load(), "a key in the place of the passphrase")
    }
}
