import Foundation
import GRDB
import MPinServer
import XCTest

/// The laws of the store, on a real file.
final class StoreTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private var path = ""

    override func setUp() { path = NSTemporaryDirectory() + "mpind-store-" + UUID().uuidString + ".sqlite" }

    override func tearDown() {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    func testASettingIsMadeOnceHoweverManyAsk() async throws {
        let store = try SQLiteStore(path: path)
        let values = try await concurrently(50) { index in try await store.setting("a") { "value \(index)" } }
        XCTAssertEqual(Set(values).count, 1)
        let again = try await SQLiteStore(path: path).setting("a") { "other" }
        XCTAssertEqual(again, values[0])
    }

    func testARegistrationIsFoundUntilItExpires() async throws {
        let store = try SQLiteStore(path: path)
        let registration = try registration("a")
        try await store.save(registration)
        let found = try await store.registration(registration.id, at: now)
        XCTAssertEqual(found, registration)
        let late = try await store.registration(registration.id, at: registration.expires)
        XCTAssertNil(late)
        let activated = try await store.activate(registration.id, at: registration.expires)
        XCTAssertFalse(activated)
    }

    func testOnlyAnActiveRegistrationCompletesAndItsEndIsSetOnce() async throws {
        let store = try SQLiteStore(path: path)
        let id = try registration("a").id
        try await store.save(registration("a", id: id))
        let inactive = try await store.complete(id, at: now, refetchUntil: now.adding(seconds: 10))
        XCTAssertFalse(inactive)
        let unknown = try await store.identity(hash: id.hash)
        XCTAssertNil(unknown)
        let active = try await store.activate(id, at: now)
        XCTAssertTrue(active)
        let first = try await store.complete(id, at: now, refetchUntil: now.adding(seconds: 10))
        XCTAssertTrue(first)
        let second = try await store.complete(id, at: now.adding(seconds: 9), refetchUntil: now.adding(seconds: 19))
        XCTAssertTrue(second)
        let third = try await store.complete(id, at: now.adding(seconds: 11), refetchUntil: now.adding(seconds: 21))
        XCTAssertFalse(third)
        let identity = try await store.identity(hash: id.hash)
        XCTAssertEqual(identity?.userID, "a")
        let reactivated = try await store.activate(id, at: now)
        XCTAssertFalse(reactivated, "what was handed out is not confirmed again")
    }

    func testOfAHundredReservationsAtOnceExactlyTheLimitIsGranted() async throws {
        let store = try SQLiteStore(path: path)
        let id = try await registered(store)
        // Blocking uses the records up, so each asker brings one of its own.
        let grants = try await concurrently(100) { [now] _ in
            try await store.savePass1(idHash: id.hash, u: [1], y: [2], expires: now.adding(seconds: 15), limit: 1000)
            return try await store.reserveAttempt(idHash: id.hash, maxAttempts: 5, at: now)
        }
        let numbers = grants.compactMap { grant -> Int? in
            if case .granted(let attempt, _) = grant { attempt } else { nil }
        }
        XCTAssertEqual(numbers.sorted(), [1, 2, 3, 4, 5])
        let identity = try await store.identity(hash: id.hash)
        XCTAssertEqual(identity?.attempts, 5)
    }

    func testARecordSucceedsOnceAndALaterTryGetsItsAttemptBack() async throws {
        let store = try SQLiteStore(path: path)
        let id = try await registered(store)
        try await store.savePass1(idHash: id.hash, u: [1], y: [2], expires: now.adding(seconds: 15), limit: 4)
        let reservation = try await store.reserveAttempt(idHash: id.hash, maxAttempts: 100, at: now)
        guard case .granted(1, let records) = reservation else { return XCTFail("\(reservation)") }
        let outcomes = try await concurrently(50) { [now] index in
            try await store.succeed(
                records[0],
                token: AuthToken(
                    ottHash: [UInt8(index)], idHash: id.hash, status: 200, expires: now.adding(seconds: 60)))
        }
        XCTAssertEqual(outcomes.filter { $0 }.count, 1)
        let identity = try await store.identity(hash: id.hash)
        XCTAssertEqual(identity?.attempts, 0)
    }

    func testOnlyTheNewestPass1RecordsOfAnIdentityLive() async throws {
        let store = try SQLiteStore(path: path)
        let id = try await registered(store)
        for u in 1...6 {
            try await store.savePass1(
                idHash: id.hash, u: [UInt8(u)], y: [0], expires: now.adding(seconds: u == 5 ? 1 : 15), limit: 4)
        }
        let reservation = try await store.reserveAttempt(idHash: id.hash, maxAttempts: 3, at: now.adding(seconds: 2))
        guard case .granted(1, let records) = reservation else { return XCTFail("\(reservation)") }
        XCTAssertEqual(records.map(\.u), [[6], [4], [3]], "newest first, without the expired one")
    }

    func testATokenIsTakenOnceByOneOfManyAndNotAfterItsEnd() async throws {
        let store = try SQLiteStore(path: path)
        let id = try await registered(store)
        let token = AuthToken(ottHash: [1], idHash: id.hash, status: 401, expires: now.adding(seconds: 60))
        try await store.saveToken(token)
        let taken = try await concurrently(50) { [now] _ in try await store.takeToken(ottHash: [1], at: now) }
        XCTAssertEqual(taken.compactMap { $0 }, [token])
        try await store.saveToken(token)
        let late = try await store.takeToken(ottHash: [1], at: token.expires)
        XCTAssertNil(late)
    }

    func testCollectingDeletesWhatHasExpiredAndNothingElse() async throws {
        let store = try SQLiteStore(path: path)
        let id = try await registered(store)
        try await store.save(registration("b"))
        try await store.savePass1(idHash: id.hash, u: [1], y: [2], expires: now.adding(seconds: 15), limit: 4)
        try await store.saveToken(
            AuthToken(ottHash: [1], idHash: id.hash, status: 200, expires: now.adding(seconds: 60)))
        var counts: [Int] = []
        for seconds in [0, 15, 60, 3600, 3600] {
            counts.append(try await store.collect(at: now.adding(seconds: seconds)))
        }
        XCTAssertEqual(counts, [0, 1, 2, 1, 0], "pass 1; token and finished registration; pending registration")
        let identity = try await store.identity(hash: id.hash)
        XCTAssertNotNil(identity)
    }

    func testNoSecretOfAUserAndNoOneTimeTokenLiesInTheFile() async throws {
        let server = try InProcess()
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        try client.confirm("alice@example.com")
        let secret = try client.clientSecret(registration)
        let user = try client.finishRegistration(registration, pin: "1234")
        let pass2 = try client.pass2(client.pass1(user, pin: "1234", permit: client.timePermit(user)))
        let ott = try XCTUnwrap(pass2.object["authOTT"] as? String)
        let secrets =
            [registration.regOTT, ott].flatMap { [Data($0.utf8), Data(bytes($0))] }
            + [
                Data(secret), Data(user.token), Data(secret.dropFirst().prefix(32)),
                Data(user.token.dropFirst().prefix(32)),
            ]
        for file in ["rps.sqlite", "rps.sqlite-wal"] {
            let content = try Data(contentsOf: URL(fileURLWithPath: server.backend.stateFolder + "/" + file))
            for secret in secrets { XCTAssertNil(content.range(of: secret), file) }
        }
    }

    func testASchemaFromANewerProgramIsRefusedAndOpeningAgainChangesNothing() async throws {
        _ = try await registered(SQLiteStore(path: path))
        _ = try SQLiteStore(path: path)
        try await DatabaseQueue(path: path).write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99: future')")
        }
        XCTAssertThrowsError(try SQLiteStore(path: path)) { XCTAssertTrue("\($0)".contains("newer version")) }
    }

    private func registration(_ user: String, id: MPinID? = nil) throws -> Registration {
        Registration(
            id: try id ?? MPinID.issue(userID: user, mobile: 1, at: now), userID: user, regOTTHash: [1, 2, 3],
            isActive: false, isIssued: false, expires: now.adding(seconds: 3600))
    }

    private func registered(_ store: SQLiteStore) async throws -> MPinID {
        let registration = try registration("a")
        try await store.save(registration)
        _ = try await store.activate(registration.id, at: now)
        _ = try await store.complete(registration.id, at: now, refetchUntil: now.adding(seconds: 60))
        return registration.id
    }

    private func bytes(_ hex: String) -> [UInt8] { MPinID(hex: hex)?.bytes ?? [] }

    private func concurrently<T: Sendable>(
        _ count: Int, _ work: @escaping @Sendable (Int) async throws -> T
    ) async throws -> [T] {
        try await withThrowingTaskGroup(of: T.self) { group in
            for index in 0..<count { group.addTask { try await work(index) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
