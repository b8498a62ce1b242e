import Foundation
import MPinSecrets
import XCTest

final class KeyFileTests: XCTestCase {
    private var folder = ""
    private var path: String { folder + "/key" }

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "mpin-keys-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    override func tearDownWithError() throws { try FileManager.default.removeItem(atPath: folder) }

    private func write(_ text: String, mode: Int = 0o600) throws {
        try? FileManager.default.removeItem(atPath: path)
        XCTAssertTrue(FileManager.default.createFile(atPath: path, contents: Data(text.utf8)))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func failure(_ body: () throws -> Void) -> KeyFileError? {
        do { try body() } catch { return error as? KeyFileError }
        return nil
    }

    func testNewKeyIsPrivateAndReadBack() throws {
        let key = try KeyFile.loadOrCreate(path)
        XCTAssertEqual(key.count, 32)
        XCTAssertEqual(try KeyFile.loadOrCreate(path), key)
        XCTAssertEqual(try KeyFile.load(path), key)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o600)
        XCTAssertEqual(try String(contentsOfFile: path, encoding: .utf8), key.hex() + "\n")
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["key"])
    }

    func testNewKeysDiffer() throws {
        let key = try KeyFile.create(path)
        try FileManager.default.removeItem(atPath: path)
        XCTAssertNotEqual(try KeyFile.create(path), key)
    }

    func testCreateNeverReplacesAKey() throws {
        let key = try KeyFile.create(path)
        XCTAssertEqual(failure { _ = try KeyFile.create(path) }, .system(path: path, errno: EEXIST))
        XCTAssertEqual(try KeyFile.load(path), key)
    }

    func testFileThatOthersMayTouchIsRefused() throws {
        let text = String(repeating: "ab", count: 32) + "\n"
        for mode in [0o640, 0o604, 0o620, 0o602, 0o660, 0o666, 0o610] {
            try write(text, mode: mode)
            XCTAssertEqual(failure { _ = try KeyFile.load(path) }, .permissions(path: path), String(mode, radix: 8))
            XCTAssertEqual(failure { _ = try KeyFile.loadOrCreate(path) }, .permissions(path: path))
        }
        for mode in [0o600, 0o400, 0o700] {
            try write(text, mode: mode)
            XCTAssertNil(failure { _ = try KeyFile.load(path) }, String(mode, radix: 8))
        }
    }

    /// The group may read a file of root, but only if this program is not root.
    func testTheGroupMayReadAFileOfRoot() {
        func isPrivate(_ mode: mode_t, of owner: uid_t, to user: uid_t) -> Bool {
            var status = stat()
            status.st_mode = S_IFREG | mode
            status.st_uid = owner
            return PlainFile.isPrivate(status, to: user)
        }
        for mode: mode_t in [0o600, 0o400, 0o700] {
            for (owner, user): (uid_t, uid_t) in [(0, 0), (0, 10001), (10001, 10001), (5, 10001)] {
                XCTAssertTrue(isPrivate(mode, of: owner, to: user))
            }
        }
        for mode: mode_t in [0o440, 0o640] {
            XCTAssertTrue(isPrivate(mode, of: 0, to: 10001), String(mode, radix: 8))
            for (owner, user): (uid_t, uid_t) in [(0, 0), (10001, 10001), (10001, 0)] {
                XCTAssertFalse(isPrivate(mode, of: owner, to: user), String(mode, radix: 8))
            }
        }
        for mode: mode_t in [0o444, 0o460, 0o604, 0o602, 0o450, 0o410, 0o420] {
            XCTAssertFalse(isPrivate(mode, of: 0, to: 10001), String(mode, radix: 8))
        }
    }

    /// A FIFO must be refused before it is opened, because opening it would wait until another process writes to it.
    func testWhatIsNoFileIsRefusedAtOnce() throws {
        try? FileManager.default.removeItem(atPath: path)
        XCTAssertEqual(mkfifo(path, 0o600), 0)
        let refused = expectation(description: "refused")
        let path = path
        Thread.detachNewThread {
            do { _ = try KeyFile.load(path) } catch { XCTAssertEqual(error as? KeyFileError, .notRegular(path: path)) }
            do { _ = try SecretFile.loadPassphrase(path) } catch {
                XCTAssertEqual(error as? KeyFileError, .notRegular(path: path))
            }
            refused.fulfill()
        }
        wait(for: [refused], timeout: 30)
        XCTAssertEqual(failure { _ = try KeyFile.load(self.folder) }, .notRegular(path: folder))
    }

    func testOnly64DigitsAndANewlineAreAKey() throws {
        let digits = String(repeating: "0f", count: 32)
        for good in [digits, digits + "\n", digits.uppercased() + "\n"] {
            try write(good)
            XCTAssertNil(failure { _ = try KeyFile.load(path) }, good)
        }
        for bad in [
            "", "\n", String(digits.dropLast()), digits + "\n\n", digits + "00", " " + digits.dropLast(),
            "g" + digits.dropFirst(),
        ] {
            try write(bad)
            XCTAssertEqual(failure { _ = try KeyFile.load(path) }, .content(path: path), bad)
        }
    }

    func testMissingFileAndMissingFolder() {
        XCTAssertEqual(failure { _ = try KeyFile.load(path) }, .system(path: path, errno: ENOENT))
        let lost = folder + "/none/key"
        XCTAssertEqual(failure { _ = try KeyFile.loadOrCreate(lost) }, .system(path: lost, errno: ENOENT))
    }

    func testErrorTextsNameTheFileAndNoPartOfAKey() throws {
        try write("secretdigits")
        let text = failure { _ = try KeyFile.load(path) }?.description ?? ""
        XCTAssertTrue(text.contains(path), text)
        XCTAssertFalse(text.contains("secretdigits"), text)
    }

    func testStartersAtTheSameMomentAgreeOnOneKey() throws {
        for round in 0..<20 {
            let path = "\(folder)/race-\(round)"
            let keys = KeyBag()
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                if let key = try? KeyFile.loadOrCreate(path) { keys.add(key.hex()) }
            }
            XCTAssertEqual(keys.all.count, 4)
            XCTAssertEqual(Set(keys.all).count, 1)
        }
    }
}

/// The keys that several threads have loaded.
private final class KeyBag: @unchecked Sendable {
    private let lock = NSLock()
    private var keys: [String] = []
    var all: [String] { lock.withLock { keys } }
    func add(_ key: String) { lock.withLock { keys.append(key) } }
}
