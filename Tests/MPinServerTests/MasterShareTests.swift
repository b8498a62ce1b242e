import Foundation
import MPinSecrets
import MPinServer
import MPinStore
import XCTest

/// The file of a D-TA, which contains its sealed master shares.
final class MasterShareTests: XCTestCase {
    private var folder = ""
    private var path: String { folder + "/dta.sqlite" }
    private let now = Moment.now()

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "mpind-shares-" + UUID().uuidString
        try makeFolder(folder)
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private func open(_ seal: Seal) throws -> MasterShareDatabase {
        try MasterShareDatabase(path: path, seal: seal, now: now)
    }

    private func error(_ body: () throws -> Void) -> String {
        do { try body() } catch { return "\(error)" }
        return ""
    }

    func testTheShareLiesSealedUnderItsKeyAndIsMadeOnce() throws {
        let key = try SecretBytes.random(count: 32)
        let first = try XCTUnwrap(open(.key(key)).shares().first)
        let again = try MasterShareDatabase(path: path, seal: .key(key), now: now.adding(seconds: 1000)).shares()
        XCTAssertEqual(again.count, 1)
        XCTAssertEqual(again.first?.secret, first.secret)
        XCTAssertEqual(again.first?.startTime, first.startTime)
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file))
            XCTAssertNil(bytes.range(of: Data(Hex.decode(first.secret.hex()) ?? [])), file)
            XCTAssertNil(bytes.range(of: Data(first.secret.hex().utf8)), file)
        }
        let wrong = error { _ = try self.open(.key(.random(count: 32))) }
        XCTAssertTrue(wrong.contains("does not open under this key file"), wrong)
        try SQLiteConnection(path: path).run("UPDATE master_share SET start_time = '2020-01-01T00:00:00Z'")
        XCTAssertThrowsError(try open(.key(key)), "the time is sealed with it")
    }

    func testAPassphraseSealsInThePlaceOfAKeyFile() throws {
        let passphrase = SecretBytes(copying: Array("correct horse battery".utf8).span)
        let share = try XCTUnwrap(open(.passphrase(passphrase)).shares().first)
        XCTAssertEqual(try open(.passphrase(passphrase)).shares().first?.secret, share.secret)
        let other = SecretBytes(copying: Array("correct horse batterz".utf8).span)
        let wrong = error { _ = try self.open(.passphrase(other)) }
        XCTAssertTrue(wrong.contains("does not open under this passphrase"), wrong)
        let unfit = error { _ = try self.open(.key(.random(count: 32))) }
        XCTAssertTrue(unfit.contains("sealed by a passphrase, not by a key file"), unfit)
        let database = try SQLiteConnection(path: path)
        XCTAssertEqual(try database.texts("SELECT length(salt) FROM passphrase"), ["16"])
        try database.run("UPDATE passphrase SET passes = 0")
        let strange = error { _ = try self.open(.passphrase(passphrase)) }
        XCTAssertTrue(strange.contains("out of bounds"), strange)
    }

    func testAShareUnderAKeyFileDoesNotOpenUnderAPassphrase() throws {
        _ = try open(.key(.random(count: 32)))
        let passphrase = SecretBytes(copying: Array("correct horse battery".utf8).span)
        let unfit = error { _ = try self.open(.passphrase(passphrase)) }
        XCTAssertTrue(unfit.contains("sealed by a key file, not by a passphrase"), unfit)
    }

    func testARotationKeepsTheOldShareUntilItsEnd() throws {
        let key = try SecretBytes.random(count: 32)
        let database = try open(.key(key))
        let old = try XCTUnwrap(database.shares().first)
        let end = Moment(microseconds: now.adding(seconds: 100).seconds * 1_000_000)
        let new = try database.rotate(serveOldUntil: end, at: now)
        XCTAssertEqual(new.keyID, "2")
        let shares = try open(.key(key)).shares()
        XCTAssertEqual(shares.map(\.keyID), ["1", "2"])
        XCTAssertEqual(shares.map(\.servedUntil), [end, nil])
        XCTAssertEqual(shares.map(\.secret), [old.secret, new.secret])
        XCTAssertNotEqual(old.secret, new.secret)
        XCTAssertTrue(shares[0].isServed(at: end.adding(seconds: -1)))
        XCTAssertFalse(shares[0].isServed(at: end))
        XCTAssertTrue(shares[1].isServed(at: end.adding(seconds: 1_000_000)))
        XCTAssertEqual(try database.rotate(serveOldUntil: end.adding(seconds: 50), at: now).keyID, "3")
        XCTAssertEqual(try database.shares().map(\.servedUntil), [end, end.adding(seconds: 50), nil])
    }

    func testARetiredShareIsErasedAndItsIDIsNotGivenOutAgain() throws {
        let key = try SecretBytes.random(count: 32)
        let database = try open(.key(key))
        let old = try XCTUnwrap(database.shares().first)
        _ = try database.rotate(serveOldUntil: now, at: now)
        XCTAssertEqual(try database.eraseRetired(at: now.adding(seconds: -10)), 0)
        XCTAssertEqual(try database.eraseRetired(at: now), 1)
        XCTAssertEqual(try database.eraseRetired(at: now), 0)
        XCTAssertEqual(try open(.key(key)).shares().map(\.keyID), ["2"])
        XCTAssertEqual(try database.rotate(serveOldUntil: now, at: now).keyID, "3")
        XCTAssertNotNil(old)
    }

    func testABoxIsNotGoodForAnotherKeyID() throws {
        let key = try SecretBytes.random(count: 32)
        _ = try open(.key(key)).rotate(serveOldUntil: now.adding(seconds: 100), at: now)
        try SQLiteConnection(path: path).run(
            "UPDATE master_share SET sealed = (SELECT sealed FROM master_share WHERE key_id = 1)")
        XCTAssertThrowsError(try open(.key(key)))
    }

    func testAFileOfTheFirstReleaseIsTakenOver() throws {
        let key = try SecretBytes.random(count: 32)
        let start = "2026-11-21T02:00:00Z"
        let master = Section16.master
        let box = try SealedBox.seal(
            master.span, key: key, associatedData: Array("libmpin D-TA master share \(start)".utf8))
        let database = try SQLiteConnection(path: path, creates: true)
        try database.run("CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        try database.run("INSERT INTO grdb_migrations VALUES ('1: master share')")
        try database.run(
            """
            CREATE TABLE master_share (
                id INTEGER PRIMARY KEY CHECK (id = 1), sealed BLOB NOT NULL, start_time TEXT NOT NULL
            ) STRICT
            """)
        try database.run("INSERT INTO master_share VALUES (1, ?, ?)", [.bytes(box), .text(start)])
        let shares = try open(.key(key)).shares()
        XCTAssertEqual(shares.map(\.keyID), ["1"])
        XCTAssertEqual(shares.first?.secret.hex(), Hex.encode(Section16.master))
        XCTAssertEqual(shares.first?.startTime.iso, start)
    }

    func testAFileOfANewerProgramIsRefused() throws {
        let key = try SecretBytes.random(count: 32)
        _ = try open(.key(key))
        try SQLiteConnection(path: path).run("INSERT INTO grdb_migrations VALUES ('99: future')")
        XCTAssertTrue(error { _ = try self.open(.key(key)) }.contains("newer version"))
    }
}
