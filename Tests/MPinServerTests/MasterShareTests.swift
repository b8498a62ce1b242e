import Foundation
import MPinSecrets
import MPinServer
import MPinStore
import StoreEngines
import Synchronization
import XCTest

/// Tests the store of a D-TA, which contains its sealed master shares.
final class MasterShareTests: XCTestCase {
    private var folder = ""
    private var path: String { folder + "/dta.sqlite" }
    private let now = Moment.now()

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "mpind-shares-" + UUID().uuidString
        try makeFolder(folder)
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private func open(_ seal: Seal, at now: Moment? = nil) async throws -> MasterShareDatabase {
        try await MasterShareDatabase(url: .sqlite(path: path), seal: seal, now: now ?? self.now)
    }

    private func error(_ body: () async throws -> Void) async -> String {
        do { try await body() } catch { return "\(error)" }
        return ""
    }

    /// Whether one of the D-TA's files contains these bytes.
    private func lies(_ bytes: [UInt8]) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: folder).contains { file in
            try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file)).range(of: Data(bytes)) != nil
        }
    }

    func testTheShareLiesSealedUnderItsKeyAndIsMadeOnce() async throws {
        let key = try SecretBytes.random(count: 32)
        let shares = try await open(.key(key)).shares()
        let first = try XCTUnwrap(shares.first)
        let again = try await open(.key(key), at: now.adding(seconds: 1000)).shares()
        XCTAssertEqual(again.count, 1)
        XCTAssertEqual(again.first?.secret, first.secret)
        XCTAssertEqual(again.first?.startTime, first.startTime)
        XCTAssertFalse(try lies(Hex.decode(first.secret.hex()) ?? []))
        XCTAssertFalse(try lies(Array(first.secret.hex().utf8)))
        let wrong = await error { _ = try await self.open(.key(.random(count: 32))) }
        XCTAssertTrue(wrong.contains("does not open under this key file"), wrong)
        try SQLiteConnection(path: path).run(
            "UPDATE item SET value = CAST(json_set(CAST(value AS TEXT), '$.startTime', '2020-01-01T00:00:00Z') AS BLOB)"
        )
        let moved = await error { _ = try await self.open(.key(key)) }
        XCTAssertFalse(moved.isEmpty, "the time is sealed with it")
    }

    func testAPassphraseSealsInThePlaceOfAKeyFile() async throws {
        let passphrase = SecretBytes(copying: Array("correct horse battery".utf8).span)
        let (first, again) = (
            try await open(.passphrase(passphrase)).shares(), try await open(.passphrase(passphrase)).shares()
        )
        XCTAssertEqual(first.count, 1)
        XCTAssertEqual(again.map(\.secret), first.map(\.secret))
        let other = SecretBytes(copying: Array("correct horse batterz".utf8).span)
        let wrong = await error { _ = try await self.open(.passphrase(other)) }
        XCTAssertTrue(wrong.contains("does not open under this passphrase"), wrong)
        let unfit = await error { _ = try await self.open(.key(.random(count: 32))) }
        XCTAssertTrue(unfit.contains("sealed by a passphrase, not by a key file"), unfit)
        let database = try SQLiteConnection(path: path)
        let salt = "json_extract(CAST(value AS TEXT), '$.salt')"
        XCTAssertEqual(try database.texts("SELECT length(\(salt)) FROM item WHERE kind = 'passphrase'"), ["32"])
        try database.run(
            "UPDATE item SET value = CAST(json_set(CAST(value AS TEXT), '$.passes', 0) AS BLOB) WHERE kind = 'passphrase'"
        )
        let strange = await error { _ = try await self.open(.passphrase(passphrase)) }
        XCTAssertTrue(strange.contains("out of bounds"), strange)
    }

    func testAShareUnderAKeyFileDoesNotOpenUnderAPassphrase() async throws {
        _ = try await open(.key(.random(count: 32)))
        let passphrase = SecretBytes(copying: Array("correct horse battery".utf8).span)
        let unfit = await error { _ = try await self.open(.passphrase(passphrase)) }
        XCTAssertTrue(unfit.contains("sealed by a key file, not by a passphrase"), unfit)
    }

    /// Tests a rotation with every store engine, including those that run each change twice or lose its answer.
    func testARotationKeepsTheOldShareUntilItsEnd() async throws {
        let engines: [any Store] = [
            try await StoreURL.sqlite(path: path).lasting(MasterShareSchema.shares, erases: true),
            RepeatingStore(MemoryStore()), ForgetfulStore(MemoryStore()),
        ]
        let key = try SecretBytes.random(count: 32)
        for store in engines {
            let database = try await MasterShareDatabase(in: store, seal: .key(key), now: now)
            let begun = try await database.shares()
            let old = try XCTUnwrap(begun.first)
            let end = Moment(microseconds: now.adding(seconds: 100).seconds * 1_000_000)
            let new = try await database.rotate(serveOldUntil: end, at: now)
            XCTAssertEqual(new.keyID, "2")
            let shares = try await MasterShareDatabase(in: store, seal: .key(key), now: now).shares()
            XCTAssertEqual(shares.map(\.keyID), ["1", "2"])
            XCTAssertEqual(shares.map(\.servedUntil), [end, nil])
            XCTAssertEqual(shares.map(\.secret), [old.secret, new.secret])
            XCTAssertNotEqual(old.secret, new.secret)
            XCTAssertTrue(shares[0].isServed(at: end.adding(seconds: -1)))
            XCTAssertFalse(shares[0].isServed(at: end))
            XCTAssertTrue(shares[1].isServed(at: end.adding(seconds: 1_000_000)))
            let third = try await database.rotate(serveOldUntil: end.adding(seconds: 50), at: now)
            XCTAssertEqual(third.keyID, "3")
            let ends = try await database.shares().map(\.servedUntil)
            XCTAssertEqual(ends, [end, end.adding(seconds: 50), nil])
        }
    }

    func testTheSharesAreInTheOrderOfTheirNumbers() async throws {
        let database = try await MasterShareDatabase(in: MemoryStore(), seal: .key(.random(count: 32)), now: now)
        for _ in 0..<11 { _ = try await database.rotate(serveOldUntil: now.adding(seconds: 100), at: now) }
        let shares = try await database.shares()
        XCTAssertEqual(shares.map(\.keyID), (1...12).map(String.init))
        XCTAssertEqual(shares.filter { $0.servedUntil == nil }.map(\.keyID), ["12"])
    }

    func testARetiredShareIsErasedAndItsIDIsNotGivenOutAgain() async throws {
        let key = try SecretBytes.random(count: 32)
        let database = try await open(.key(key))
        let boxes = try SQLiteConnection(path: path).texts(
            "SELECT json_extract(CAST(value AS TEXT), '$.sealed') FROM item")
        let box = Array(try XCTUnwrap(boxes.first).utf8)
        XCTAssertEqual(box.count, 2 * 72)
        _ = try await database.rotate(serveOldUntil: now, at: now)
        let early = try await database.eraseRetired(at: now.adding(seconds: -10))
        XCTAssertEqual(early, 0)
        XCTAssertTrue(try lies(box))
        let (erased, again) = (try await database.eraseRetired(at: now), try await database.eraseRetired(at: now))
        XCTAssertEqual([erased, again], [1, 0])
        XCTAssertFalse(try lies(box), "overwritten, while the D-TA runs")
        let left = try await open(.key(key)).shares().map(\.keyID)
        XCTAssertEqual(left, ["2"])
        let next = try await database.rotate(serveOldUntil: now, at: now)
        XCTAssertEqual(next.keyID, "3")
    }

    func testABoxIsNotGoodForAnotherKeyID() async throws {
        let key = try SecretBytes.random(count: 32)
        _ = try await open(.key(key)).rotate(serveOldUntil: now.adding(seconds: 100), at: now)
        try SQLiteConnection(path: path).run("UPDATE item SET value = (SELECT value FROM item WHERE key = '1')")
        let swapped = await error { _ = try await self.open(.key(key)) }
        XCTAssertFalse(swapped.isEmpty)
    }

    func testAFileOfANewerProgramIsRefused() async throws {
        let key = try SecretBytes.random(count: 32)
        _ = try await open(.key(key))
        try SQLiteConnection(path: path).run("INSERT INTO grdb_migrations VALUES ('99: future')")
        let newer = await error { _ = try await self.open(.key(key)) }
        XCTAssertTrue(newer.contains("newer version"), newer)
    }
}

/// Tests what happens when several processes use one store at the same time. Several databases in this process stand
/// for them.
extension MasterShareTests {
    func testThoseWhoOpenAnEmptyStoreAtOnceHaveTheSameShare() async throws {
        let key = try SecretBytes.random(count: 32)
        let (url, now) = (StoreURL.sqlite(path: path), now)
        let secrets = try await withThrowingTaskGroup(of: [SecretBytes].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await MasterShareDatabase(url: url, seal: .key(key), now: now).shares().map(\.secret)
                }
            }
            var secrets: [[SecretBytes]] = []
            for try await found in group { secrets.append(found) }
            return secrets
        }
        XCTAssertEqual(secrets.count, 8)
        for secret in secrets { XCTAssertEqual(secret, secrets.first) }
        let numbers = try await open(.key(key)).shares().map(\.keyID)
        XCTAssertEqual(numbers, ["1"])
    }

    /// Opens an empty store as two databases. After the second database has found the store empty, and before it stores
    /// a share, the first one stores a share. The second must then use the share of the first.
    func testWhoComesSecondChangesNothing() async throws {
        let passphrase = Seal.passphrase(SecretBytes(copying: Array("correct horse battery".utf8).span))
        for seal in [Seal.key(try .random(count: 32)), passphrase] {
            let memory = MemoryStore()
            let other = Mutex<MasterShareDatabase?>(nil)
            let now = now
            let late = LateStore(memory) {
                let first = try await MasterShareDatabase(in: memory, seal: seal, now: now)
                other.withLock { $0 = first }
            }
            let second = try await MasterShareDatabase(in: late, seal: seal, now: now)
            let first = try XCTUnwrap(other.withLock { $0 })
            let secrets = [try await first.shares(), try await second.shares()].map { $0.map(\.secret) }
            XCTAssertEqual(secrets[0].count, 1)
            XCTAssertEqual(secrets[0], secrets[1])
        }
    }

    func testOfTwoRotationsAtOnceBothAreMade() async throws {
        let (memory, key, now) = (MemoryStore(), try SecretBytes.random(count: 32), now)
        let first = try await MasterShareDatabase(in: memory, seal: .key(key), now: now)
        let made = Mutex<MasterShare?>(nil)
        let late = LateStore(memory) {
            let share = try await first.rotate(serveOldUntil: now.adding(seconds: 50), at: now)
            made.withLock { $0 = share }
        }
        let second = try await MasterShareDatabase(in: late, seal: .key(key), now: now)
        let newest = try await second.rotate(serveOldUntil: now.adding(seconds: 100), at: now)
        let shares = try await first.shares()
        XCTAssertEqual(shares.map(\.keyID), ["1", "2", "3"])
        XCTAssertEqual(shares.map(\.secret).suffix(2), [made.withLock { $0?.secret }, newest.secret])
        XCTAssertEqual(
            shares.map(\.servedUntil).map { $0?.iso }, [50, 100].map { now.adding(seconds: $0).iso } + [nil])
    }

    /// A store that runs the closure `first` before its first change.
    private final class LateStore: Store {
        private let store: any Store
        private let first: Mutex<(@Sendable () async throws -> Void)?>

        init(_ store: any Store, _ first: @escaping @Sendable () async throws -> Void) {
            self.store = store
            self.first = Mutex(first)
        }

        var isNear: Bool { store.isNear }

        func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? { try await store.read(key, at: now) }

        func transaction<Result: Sendable>(
            _ keys: [ItemKey], at now: Moment, _ durability: Durability,
            _ change: @escaping @Sendable (inout Items) throws -> Result
        ) async throws -> Result {
            let first = first.withLock { first in
                defer { first = nil }
                return first
            }
            try await first?()
            return try await store.transaction(keys, at: now, durability, change)
        }

        func list(
            _ table: String, after key: String?, limit: Int, at now: Moment
        ) async throws -> [(key: String, item: StoredItem)] {
            try await store.list(table, after: key, limit: limit, at: now)
        }

        func collect(at now: Moment, limit: Int) async throws -> Int { try await store.collect(at: now, limit: limit) }
    }
}

/// Tests with files of earlier versions.
extension MasterShareTests {
    func testAFileOfTheFirstReleaseIsTakenOver() async throws {
        let key = try SecretBytes.random(count: 32)
        let start = "2026-11-21T02:00:00Z"
        try OldAuthorityFile.plant(path, Section16.master, key, start: start)
        let shares = try await open(.key(key)).shares()
        XCTAssertEqual(shares.map(\.keyID), ["1"])
        XCTAssertEqual(shares.first?.secret.hex(), Hex.encode(Section16.master))
        XCTAssertEqual(shares.first?.startTime.iso, start)
    }

    /// Opens a file of an earlier version with three shares: an erased one, an old one and the current one.
    func testAFileWithRowsIsTakenOver() async throws {
        let (key, other) = (try SecretBytes.random(count: 32), try SecretBytes.random(count: 32))
        let times = ["2026-11-21T02:00:00Z", "2026-11-22T02:00:00Z", "2026-11-23T02:00:00Z"]
        let database = try OldAuthorityFile.withRows(path)
        try database.run(
            "INSERT INTO master_share VALUES (1, NULL, '\(times[0])', '\(times[1])'), (2, ?, '\(times[1])', '\(times[2])'), (3, ?, '\(times[2])', NULL)",
            [
                .bytes(try OldAuthorityFile.box(Section16.master, key, "2 " + times[1])),
                .bytes(try OldAuthorityFile.box(other.bytes, key, "3 " + times[2])),
            ])
        for _ in 0..<2 {
            let shares = try await open(.key(key)).shares()
            XCTAssertEqual(shares.map(\.keyID), ["2", "3"])
            XCTAssertEqual(shares.map { $0.secret.hex() }, [Hex.encode(Section16.master), other.hex()])
            XCTAssertEqual(shares.map(\.startTime.iso), Array(times[1...]))
            XCTAssertEqual(shares.map { $0.servedUntil?.iso }, [times[2], nil])
        }
        let share = try await open(.key(key)).rotate(serveOldUntil: now, at: now)
        XCTAssertEqual(share.keyID, "4")
    }

    func testAFileUnderAPassphraseIsTakenOver() async throws {
        let passphrase = SecretBytes(copying: Array("correct horse battery".utf8).span)
        let salt = try randomBytes(Argon2id.saltSize)
        let derivation = try XCTUnwrap(Argon2id(passes: 3, kibibytes: 65_536, salt: salt))
        let start = "2026-11-21T02:00:00Z"
        let box = try OldAuthorityFile.box(Section16.master, XCTUnwrap(derivation.key(passphrase)), start)
        let database = try OldAuthorityFile.withRows(path)
        try database.run("INSERT INTO master_share VALUES (1, ?, '\(start)', NULL)", [.bytes(box)])
        try database.run("INSERT INTO passphrase VALUES (1, ?, 3, 65536)", [.bytes(salt)])
        let shares = try await open(.passphrase(passphrase)).shares()
        XCTAssertEqual(shares.map { $0.secret.hex() }, [Hex.encode(Section16.master)])
        let unfit = await error { _ = try await self.open(.key(.random(count: 32))) }
        XCTAssertTrue(unfit.contains("sealed by a passphrase, not by a key file"), unfit)
    }
}

extension SecretBytes {
    fileprivate var bytes: [UInt8] { Hex.decode(hex()) ?? [] }
}
