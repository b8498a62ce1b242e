import MPinService
import MPinStore
import XCTest

/// Tests that expired short-lived items are deleted soon.
final class CollectingTests: XCTestCase {
    /// Tests that the challenges of invented IDs are deleted while new ones come.
    func testChallengesOfInventedIDsLeaveTheMemory() async throws {
        let store = MemoryStore()
        let challenges = Challenges(in: store, limit: 4)
        let start = Moment.now()
        for number in 0..<10_000 {
            let now = Moment(microseconds: start.microseconds + Int64(number) * 100_000)
            let id = try MPinID.issue(userID: "nobody\(number)@example.com", mobile: 0, at: now)
            let challenge = Challenge(id: id.key, u: [4], y: [1], expires: now.adding(seconds: 15))
            try await challenges.add(challenge, for: id, at: now)
        }
        XCTAssertLessThan(store.count, 1500, "150 live")
    }

    /// Tests that the items of every short-lived table have an expiry, so that the collector deletes all of them.
    func testNothingShortLivedIsLeftWhenItsTimeIsOver() async throws {
        let store = MemoryStore()
        var stores: [any Store] = [MemoryStore(), store]
        let under = try await ServiceUnderTest(
            {
                $0.waitsForResult = true
                $0.limits.waitSeconds = 0
            }, layer: { _ in stores.removeFirst() })
        let alice = try await under.register("alice@example.com", pin: "1234")
        let stranger = try await ServiceUnderTest().register("bob@example.com", pin: "1234")
        for (client, pin) in [(alice, "1234"), (alice, "9999"), (stranger, "1234")] {
            let token = try await client.prove(pin, to: under.service)
            if pin == "1234" { _ = try await under.redeem(token) }
            _ = try await client.prove(pin, to: under.service)
        }
        for kind in [AuthenticationService.BrowserName.number, .code] {
            let browser = try await under.service.openBrowser(kind)
            let token = try await alice.prove("1234", to: under.service, wid: browser.wid)
            _ = try? await under.service.present(token)
        }
        XCTAssertGreaterThan(store.count, 8)
        under.surroundings.advance(seconds: 2 * 86_400)
        _ = try await store.collectAll(at: under.surroundings.now)
        XCTAssertEqual(store.count, 0)
    }
}
