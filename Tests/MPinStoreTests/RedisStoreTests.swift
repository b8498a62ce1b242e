import Foundation
import LoopbackServer
import MPinStore
import StoreEngines
import XCTest

/// Tests properties that only a store in Redis has. ``ConformanceTests`` tests the rest.
final class RedisStoreTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private let k = ItemKey("a", "k")
    private let one = StoredItem(value: [1])

    func testTwoProcessesLoseNoUpdate() async throws {
        let url = try RedisServer.shared.get().newURL()
        let stores = try await concurrently(8) { _ in try await opened(url) }
        try await concurrently(80) { [now, k] writer in
            while true {
                do {
                    return try await stores[writer % 8].update(k, at: now, .ordered) { item in
                        item = StoredItem(value: (item?.value ?? []) + [1])
                    }
                } catch StoreError.conflict {}  // On a busy machine others are sometimes first each time.
            }
        }
        let read = try await stores[0].read(k, at: now)
        XCTAssertEqual(read?.value.count, 80)
    }

    /// Both transactions find neither item. Each makes one only if the other's is absent.
    func testTwoTransactionsDoNotBothActOnTheAbsenceOfWhatTheOtherMakes() async throws {
        let url = try RedisServer.shared.get().newURL()
        let stores = try await concurrently(2) { _ in try await opened(url) }
        for round in 0..<50 {
            let keys = ["1", "2"].map { ItemKey("round\(round)", $0) }
            let made = try await concurrently(2) { [now] index in
                try await stores[index].transaction(keys, at: now, .ordered) { items in
                    guard items[keys[1 - index]] == nil else { return false }
                    items[keys[index]] = StoredItem(value: [1])
                    return true
                }
            }
            XCTAssertEqual(made.filter(\.self).count, 1)
        }
    }

    func testTheServerDeletesAnItemSomeTimeAfterItsExpiry() async throws {
        let server = try RedisServer()
        let store = try await opened(server.url)
        _ = try await store.create(k, StoredItem(value: [1], expires: now.adding(seconds: 100)), at: now)
        let name = try server.run("KEYS", "*")
        let left = try XCTUnwrap(Int(server.run("PTTL", name)))
        XCTAssertTrue((100_000...130_000).contains(left), "\(left)")
    }

    /// A server that reads its items from its disk gives none of them back: what was used before it ended could be used
    /// again.
    func testNothingIsLeftAfterARestart() async throws {
        let server = try RedisServer(settings: ["--appendonly", "yes", "--appendfsync", "always"])
        let store = try await opened(server.url)
        _ = try await store.create(k, one, at: now)
        for round in 1...3 {
            try server.signal(SIGKILL)
            try server.startAgain()
            let back = try server.run("KEYS", "*/k").split(separator: "\n")
            XCTAssertEqual(back.count, round, "the disk has the items of the runs before")
            try await untilItWorks { _ = try await store.read(self.k, at: self.now) }
            let read = try await store.read(k, at: now)
            XCTAssertNil(read)
            let isNew = try await store.create(k, one, at: now)
            XCTAssertTrue(isNew)
        }
    }

    func testAServerThatCameBackIsUsedWithinThreeSeconds() async throws {
        let server = try RedisServer()
        let store = try await opened(server.url)
        for _ in 0..<3 {
            try server.signal(SIGKILL)
            // Long enough for the pauses between the tries to grow.
            let end = ContinuousClock.now + .seconds(3)
            while ContinuousClock.now < end {
                let start = ContinuousClock.now
                do {
                    _ = try await store.create(k, one, at: now)
                    XCTFail("nobody is there")
                } catch StoreError.unavailable {} catch StoreError.unknownOutcome {}
                XCTAssertLessThan(ContinuousClock.now - start, .seconds(6))
            }
            try server.startAgain()
            let start = ContinuousClock.now
            try await untilItWorks { _ = try await store.create(self.k, self.one, at: self.now) }
            XCTAssertLessThan(ContinuousClock.now - start, .seconds(3))
        }
    }

    func testAConnectionThatEndedIsReplacedAtOnce() async throws {
        let server = try RedisServer()
        let store = try await opened(server.url)
        for _ in 0..<20 {
            try server.run("CLIENT", "KILL", "TYPE", "normal")
            let created = try await store.create(k, one, at: now)
            let taken = try await store.take(k, at: now)
            XCTAssertTrue(created)
            XCTAssertEqual(taken, one)
        }
    }

    func testAServerThatHangsIsUnavailableInBoundedTime() async throws {
        let server = try RedisServer()
        let store = try await opened(server.url, patience: .seconds(1))
        _ = try await store.create(k, one, at: now)
        try server.signal(SIGSTOP)
        let start = ContinuousClock.now
        let errors = try await concurrently(500) { [now, k] index -> (takes: Bool, error: StoreError?) in
            let takes = index % 2 == 1
            do {
                _ = try await takes ? store.take(k, at: now) : store.read(k, at: now)
                return (takes, nil)
            } catch let error as StoreError { return (takes, error) }
        }
        XCTAssertLessThan(ContinuousClock.now - start, .seconds(15))
        for (takes, error) in errors {
            switch error {
            case .unavailable: continue
            // Nobody can know whether the server takes the item when it goes on.
            case .unknownOutcome where takes: continue
            default: XCTFail("\(takes): \(String(describing: error))")
            }
        }
        XCTAssertTrue(errors.contains { if case .unknownOutcome = $0.error { true } else { false } })
        try server.signal(SIGCONT)
        try await untilItWorks { _ = try await store.read(self.k, at: self.now) }
    }

    /// All use one connection, and the server answers in order.
    func testARequestThatHasNoTimeLeftTakesTheConnectionFromNobody() async throws {
        let server = try RedisServer()
        let store = try await opened(server.url)
        _ = try await store.create(k, one, at: now)
        let before = store.trips
        try server.signal(SIGSTOP)
        let impatient = Task { [now, k] in
            try await StorePatience.limit(to: .seconds(3)) { try await store.read(k, at: now) }
        }
        try await until { store.trips > before }
        let patient = Task { [now, k] in try await store.take(k, at: now) }
        try await until { store.trips > before + 1 }
        let result = await impatient.result
        try server.signal(SIGCONT)
        do {
            _ = try result.get()
            XCTFail("the server stands still")
        } catch StoreError.unavailable {}
        let taken = try await patient.value
        XCTAssertEqual(taken, one)
    }

    func testAServerThatEvictsIsRefused() async throws {
        let server = try RedisServer(settings: ["--maxmemory-policy", "allkeys-lru"])
        await isRefused(server.url, "noeviction")
        try server.run("CONFIG", "SET", "maxmemory-policy", "noeviction")
        _ = try await opened(server.url)
    }

    func testAFullServerIsUnavailableAndLosesNothing() async throws {
        let server = try RedisServer(settings: ["--maxmemory", "4mb"])
        let store = try await opened(server.url)
        let (big, now) = (StoredItem(value: [UInt8](repeating: 1, count: 100_000)), now)
        var count = 0
        do {
            while count < 100 {
                _ = try await store.create(ItemKey("a", String(count)), big, at: now)
                count += 1
            }
            XCTFail("never full")
        } catch StoreError.unavailable(let reason) { XCTAssertTrue(reason.contains("memory"), reason) }
        for number in 0..<count {
            let taken = try await store.take(ItemKey("a", String(number)), at: now)
            XCTAssertEqual(taken, big)
        }
        _ = try await store.create(k, big, at: now)
    }

    func testAServerThatBecomesAReplicaIsLeft() async throws {
        let server = try RedisServer()
        let store = try await opened(server.url)
        try server.run("REPLICAOF", "127.0.0.1", "1")
        await isUnavailable("replica") { _ = try await store.create(self.k, self.one, at: self.now) }
        await isRefused(server.url, "replica")
        try server.run("REPLICAOF", "NO", "ONE")
        try await untilItWorks { _ = try await store.create(self.k, self.one, at: self.now) }
    }

    /// They may follow another primary now, which only a new connection finds.
    func testAServerThatHasLostItsReplicasIsLeft() async throws {
        let server = try RedisServer()
        let store = try await opened(server.url)
        func connections() throws -> Int {
            let lines = try server.run("INFO", "stats").split(whereSeparator: \.isNewline)
            let line = lines.first { $0.hasPrefix("total_connections_received:") }
            return try XCTUnwrap(line.flatMap { Int($0.filter(\.isNumber)) })
        }
        try server.run("CONFIG", "SET", "min-replicas-to-write", "1")
        let before = try connections()
        await isUnavailable("replicas") { _ = try await store.create(self.k, self.one, at: self.now) }
        // The question itself is one.
        XCTAssertGreaterThan(try connections(), before + 1)
        try server.run("CONFIG", "SET", "min-replicas-to-write", "0")
        try await untilItWorks { _ = try await store.create(self.k, self.one, at: self.now) }
    }

    /// The replica takes over without the last change, and then the first server again, which has neither ended nor closed a
    /// connection.
    func testAServerThatTakesOverAgainGivesNothingBack() async throws {
        let ports = freePorts(2)
        let servers = try ports.map { port in
            try RedisServer(settings: [
                "--bind", "127.0.0.1", "--port", "\(port)", "--repl-diskless-sync-delay", "0",
            ])
        }
        func copy(from: Int, to: Int) async throws {
            try servers[to].run("REPLICAOF", "127.0.0.1", "\(ports[from])")
            try await until { try servers[to].run("INFO", "replication").contains("master_link_status:up") }
        }
        try await copy(from: 0, to: 1)
        let stores = try await concurrently(2) { _ in try await opened(servers[0].url) }
        _ = try await stores[0].create(k, one, at: now)
        try await until { try servers[1].run("KEYS", "*/k") != "" }
        try servers[1].run("REPLICAOF", "NO", "ONE")
        let taken = try await stores[0].take(k, at: now)
        XCTAssertEqual(taken, one)
        try await copy(from: 1, to: 0)
        try servers[0].run("REPLICAOF", "NO", "ONE")
        let back = try servers[0].run("KEYS", "*/k")
        XCTAssertNotEqual(back, "", "the first server has the item again")
        do {
            let again = try await stores[0].take(k, at: now)
            XCTAssertNil(again)
        } catch StoreError.unknownOutcome {}
        for store in stores + [try await opened(servers[0].url)] {
            let read = try await store.read(k, at: now)
            XCTAssertNil(read)
        }
        // They end with these objects.
        withExtendedLifetime(servers) {}
    }

    func testAServerThatHasForgottenOurScriptsIsToldAgain() async throws {
        let server = try RedisServer()
        let store = try await opened(server.url)
        try server.run("SCRIPT", "FLUSH")
        let isNew = try await store.create(k, one, at: now)
        XCTAssertTrue(isNew)
    }

    /// Tests the user that docs/redis.md makes. He can do nothing that `mpind` does not need.
    func testAUserMayDoWhatTheDocumentationSays() async throws {
        let server = try RedisServer()
        let file = try passfile("long and secret")
        defer { try? FileManager.default.removeItem(atPath: file) }
        try server.run(Self.documentedUser(password: "long and secret"))
        try server.run("ACL", "SETUSER", "default", "off")
        let url = server.url.replacing("///", with: "//mpind@/") + "&passfile=\(file)"
        let store = try await opened(url)
        let isNew = try await store.create(k, one, at: now)
        let taken = try await store.take(k, at: now)
        let listed = try await store.list("a", after: nil, limit: 9, at: now)
        XCTAssertTrue(isNew)
        XCTAssertEqual(taken, one)
        XCTAssertTrue(listed.isEmpty)
        _ = try await store.collectAll(at: now)
        _ = try await store.time()
        _ = try await StoreURL(url).signals()
        let limit = try XCTUnwrap(RateLimit("1/60"))
        let counters = try [StoreURL(url).counters(), StoreURL(url).counters()]
        let waits = [
            try await counters[0].admit("a", [UInt8](repeating: 1, count: 16), limit),
            try await counters[1].admit("a", [UInt8](repeating: 1, count: 16), limit),
        ]
        XCTAssertNil(waits[0])
        XCTAssertNotNil(waits[1], "both count in the server")
        await isRefused(url + "&prefix=other", "NOPERM") { _ = try await $0.create(self.k, self.one, at: self.now) }
    }

    /// The words of the command in docs/redis.md that makes the user, with another password.
    private static func documentedUser(password: String) throws -> [String] {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/redis.md")
        let text = try String(contentsOf: path, encoding: .utf8)
        let line = try XCTUnwrap(text.split(separator: "\n").first { $0.hasPrefix("user mpind ") })
        return ["ACL", "SETUSER"]
            + line.split(separator: " ").dropFirst().map { $0.hasPrefix(">") ? ">" + password : String($0) }
    }

    func testAWrongPasswordIsNamedButNotSaid() async throws {
        let server = try RedisServer(settings: ["--requirepass", "right"])
        let file = try passfile("wrong word")
        defer { try? FileManager.default.removeItem(atPath: file) }
        await isRefused(server.url, "NOAUTH")
        await isRefused(server.url + "&passfile=\(file)", "WRONGPASS", without: "wrong word")
        await isRefused(server.url + "&passfile=/nowhere", "/nowhere")
        chmod(file, 0o644)
        await isRefused(server.url + "&passfile=\(file)", file, without: "wrong word")
        try FileManager.default.removeItem(atPath: file)
        let right = try passfile("right")
        defer { try? FileManager.default.removeItem(atPath: right) }
        _ = try await opened(server.url + "&passfile=\(right)")
    }

    func testAServerThatTakesNoMoreConnectionsSaysSo() async throws {
        let server = try RedisServer(settings: ["--maxclients", "1"])
        let store = try await opened(server.url)
        await isRefused(server.url, "max number of clients")
        _ = try await store.read(k, at: now)
    }

    /// What a server that has gone wrong, or somebody in its place, says to the first command. Nobody waits for what it has
    /// announced, and no memory is taken for it.
    func testLengthsAboveWhatWasAskedForEndTheConnection() async throws {
        for noise in [
            "*2147483647\r\n", "*65537\r\n$1\r\n", "*-2\r\n", "*9223372036854775808\r\n", "$2147483647\r\n",
            "$67108865\r\nx", "$-2\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
            "%1\r\n+a\r\n+b\r\n", "~3\r\n", "+OK\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "\u{0}\u{0}\u{0}\r\n",
            "+" + String(repeating: "a", count: 5000), "*60000\r\n*60000\r\n:1\r\n",
        ] {
            let (listener, port) = try listenOnLoopback()
            let server = Task.detached {
                let connection = accept(listener, nil, nil)
                _ = send(Array(noise.utf8), to: connection)
                var byte: UInt8 = 0
                while recv(connection, &byte, 1, 0) > 0 {}
                close(connection)
            }
            let start = ContinuousClock.now
            await isRefused("redis://127.0.0.1:\(port)", "longer than any answer")
            XCTAssertLessThan(ContinuousClock.now - start, .seconds(1), noise)
            close(listener)
            await server.value
        }
    }

    func testWhoIsNotThereIsUnavailableAndNamed() async throws {
        await isRefused("redis:///?socket=/nowhere", "/nowhere")
        await isRefused("redis://127.0.0.1:1", "127.0.0.1:1")
    }

    func testAURLIsReadAndItsMistakesAreNamed() throws {
        for (url, mistake) in [
            ("redis:db", "redis://"), ("redis://u:secret@localhost", "passfile=FILE"),
            ("redis://localhost?password=secret", "passfile=FILE"), ("redis://u@localhost", "passfile=FILE"),
            ("redis://localhost/x", "database"), ("redis://localhost/-1", "database"), ("redis://localhost:0", "port"),
            ("redis://localhost:x", "port"), ("redis://localhost?color=red", "none of"),
            ("redis://u:secret/secret@localhost", "port"), ("redis://u:secret?secret@localhost", "none of"),
            ("redis://localhost?passfile", "passfile"), ("redis://localhost?passfile=a&passfile=b", "passfile"),
            ("redis://localhost?prefix=a:b", "prefix=a:b"), ("redis://", "socket"),
            ("redis://localhost?socket=/a", "socket"), ("redis://cache", "stunnel4"),
            ("redis://cache?tls=on", "tls=on"), ("rediss://cache", "stunnel4"),
            ("redis://localhost,localhost:7", "sentinel=NAME"), ("redis://localhost,?sentinel=a", "host"),
            ("redis://localhost?sentinel-passfile=/a", "sentinel=NAME"),
            ("redis://localhost?sentinel=a%20b", "sentinel="),
            ("redis:///?socket=/a&sentinel=b", "socket"), ("redis://localhost,cache?sentinel=a", "stunnel4"),
        ] {
            XCTAssertThrowsError(try StoreURL(url), url) { error in
                XCTAssertTrue("\(error)".contains(mistake), "\(url): \(error)")
                XCTAssertFalse("\(error)".contains("secret"), "\(error)")
            }
        }
        for url in [
            "redis://localhost", "redis://127.0.0.1:7000/3", "redis://[::1]:7000", "redis://u@localhost?passfile=/a",
            "redis:///2?socket=/a&prefix=b", "redis://cache?tls=off",
            "redis://localhost,[::1]:7000/1?sentinel=the-one.2",
            "redis://a,b:7?sentinel=c&sentinel-passfile=/a&tls=off",
        ] {
            for kind in [StoreURL.Kind.shortLived, .signals, .counters] {
                XCTAssertNoThrow(try StoreURL(url).require(kind), url)
            }
            XCTAssertThrowsError(try StoreURL(url).file())
        }
    }

    func testWhatLastsIsNotKeptInRedis() async throws {
        let url = try StoreURL(RedisServer.shared.get().newURL())
        for open in [{ _ = try await url.lasting() }, { _ = try await url.whole() }] as [() async throws -> Void] {
            do {
                try await open()
                XCTFail("opened")
            } catch StoreError.unusable(let reason) { XCTAssertTrue(reason.contains("short-lived"), reason) }
        }
    }

    private func passfile(_ password: String) throws -> String {
        let path = NSTemporaryDirectory() + "mpind-pass-" + UUID().uuidString
        _ = FileManager.default.createFile(
            atPath: path, contents: Data((password + "\n").utf8), attributes: [.posixPermissions: 0o600])
        return path
    }

    /// Opens a store, does something with it, and expects an error that contains `reason`.
    private func isRefused(
        _ url: String, _ reason: String, without secret: String? = nil,
        _ work: @escaping (RedisStore) async throws -> Void = { _ in }
    ) async {
        await isUnavailable(reason, without: secret) { try await work(opened(url)) }
    }

    private func isUnavailable(
        _ reason: String, without secret: String? = nil, _ work: () async throws -> Void
    ) async {
        do {
            try await work()
            XCTFail("not refused")
        } catch StoreError.unavailable(let text) {
            XCTAssertTrue(text.contains(reason), text)
            if let secret { XCTAssertFalse(text.contains(secret), text) }
        } catch { XCTFail("\(error)") }
    }
}

/// Opens a store at a Redis URL.
private func opened(_ url: String, patience: Duration = .seconds(20)) async throws -> RedisStore {
    try await RedisStore.opened(url, patience: patience)
}

extension RedisStore {
    static func opened(_ url: String, patience: Duration = .seconds(20)) async throws -> RedisStore {
        guard case .redis(let url) = try StoreURL(url) else { throw StoreError.unusable("no Redis URL") }
        return try await RedisStore(url, patience: patience)
    }
}
