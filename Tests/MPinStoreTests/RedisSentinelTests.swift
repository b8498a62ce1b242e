import Foundation
import LoopbackServer
import MPinStore
import StoreEngines
import XCTest

/// Tests a store in the Redis server that Sentinels name: real ones, which promote a replica.
final class RedisSentinelTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private let k = ItemKey("a", "k")
    private let one = StoredItem(value: [1])
    private let passfile = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path

    override func setUpWithError() throws {
        XCTAssertTrue(
            FileManager.default.createFile(
                atPath: passfile, contents: Data("long and secret\n".utf8), attributes: [.posixPermissions: 0o600]))
    }

    override func tearDownWithError() throws { try FileManager.default.removeItem(atPath: passfile) }

    /// The primary is killed, and its replica becomes the primary. What was kept before is gone: the new primary may lack
    /// the last changes, and a token that was used would be good again.
    func testThePrimaryThatSentinelsNameIsUsed() async throws {
        let servers = try RedisServer(withSentinels: passfile)
        let store = try await opened(servers.url)
        let (ringing, listening) = (try await signals(servers.url), try await signals(servers.url))
        var isNew = try await store.create(k, one, at: now)
        XCTAssertTrue(isNew)
        try servers.failOver()
        try await untilItWorks { _ = try await store.read(self.k, at: self.now) }
        isNew = try await store.create(k, one, at: now)
        XCTAssertTrue(isNew)
        await assertHeard(ringing, listening)
    }

    func testASentinelThatIsGoneIsPassedOver() async throws {
        let servers = try RedisServer(withSentinels: passfile)
        let first = servers.url.replacing("redis://", with: "redis://127.0.0.1:1,")
        let store = try await opened(first)
        let isNew = try await store.create(k, one, at: now)
        XCTAssertTrue(isNew)
        await assertRefused(servers.url.replacing("sentinel=mpin", with: "sentinel=other"), "does not know other")
        await assertRefused(servers.url.replacing("&sentinel-passfile=\(passfile)", with: ""), "NOAUTH")
        await assertRefused("redis://127.0.0.1:1,localhost:1?sentinel=mpin", "127.0.0.1:1: ", "localhost:1: ")
    }

    /// Nobody encrypts the connection to the servers that Sentinels name. Other machines than this one are used only if the URL
    /// says that anybody on the way may read it.
    func testAPrimaryOnAnotherMachineIsRefused() async throws {
        let servers = try RedisServer(withSentinels: passfile)
        // An address of no machine (RFC 5737).
        try servers.tellSentinel("SENTINEL", "MONITOR", "far", "192.0.2.1", "6379", "1", password: "long and secret")
        let far = servers.url.replacing("sentinel=mpin", with: "sentinel=far")
        await assertRefused(far, "192.0.2.1 is another machine", "stunnel4")
        await assertRefused(far + "&tls=off", "Redis at 192.0.2.1:6379")
    }

    private func signals(_ url: String) async throws -> RedisSignals {
        guard case .redis(let url) = try StoreURL(url) else { throw StoreError.unusable("no Redis URL") }
        return try await RedisSignals(url, looksAgainAfter: nil)
    }

    /// Rings again and again, because a signal may get lost while its listener changes the server.
    private func assertHeard(_ ringing: RedisSignals, _ listening: RedisSignals) async {
        let (rings, stop) = listening.rings("name", seconds: 60)
        let task = Task {
            while !Task.isCancelled {
                ringing.ring("name")
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
        // One element comes at once, and one when the listener has changed the server.
        let heard = await rings.prefix(5).reduce(0) { count, _ in count + 1 }
        task.cancel()
        stop()
        XCTAssertEqual(heard, 5, "within a minute")
    }

    private func opened(_ url: String) async throws -> RedisStore { try await RedisStore.opened(url) }

    private func assertRefused(_ url: String, _ reasons: String...) async {
        do {
            _ = try await opened(url)
            XCTFail("opened \(url)")
        } catch StoreError.unavailable(let reason) {
            for expected in reasons { XCTAssertTrue(reason.contains(expected), reason) }
            XCTAssertFalse(reason.contains("secret"), reason)
        } catch { XCTFail("\(error)") }
    }
}
