import MPinService
import MPinStore
import StoreEngines
import XCTest

/// Tests logins whose changes append to items without reading them first (`BlindForm`).
final class BlindFormTests: XCTestCase {
    private let pins = ["1234", "9999", "9998", "1234", "9999", "9998", "9997", "1234"]

    func testVerdictsAreThoseOfClosures() async throws {
        let layers: [(any Store) -> any Store] = [
            { RepeatingStore($0) }, { BlindStore($0) }, { BlindStore(RepeatingStore($0)) },
        ]
        var seen: [[Verdict]] = []
        for layer in layers {
            let under = try await ServiceUnderTest(layer: layer)
            seen.append(try await verdicts(under))
        }
        XCTAssertEqual(
            seen[0],
            [
                .right, .wrong(left: 2), .wrong(left: 1), .right, .wrong(left: 2), .wrong(left: 1),
                .blocked(until: nil), .blocked(until: nil),
            ])
        XCTAssertEqual(seen[1], seen[0])
        XCTAssertEqual(seen[2], seen[0])
    }

    private func verdicts(_ under: ServiceUnderTest) async throws -> [Verdict] {
        let alice = try await under.register("alice@example.com", pin: "1234")
        var verdicts: [Verdict] = []
        for pin in pins { verdicts.append(try await under.redeem(alice.prove(pin, to: under.service)).verdict) }
        return verdicts
    }

    /// Tests with a real database that a login is six exchanges, of which those of pass 2 are two at a time: four trips.
    /// It does not matter what the login comes to.
    func testALoginWithPostgreSQLIsSixExchanges() async throws {
        let (under, trips) = try await postgres()
        let alice = try await under.register("alice@example.com", pin: "1234")
        let stranger = try await ServiceUnderTest().register("bob@example.com", pin: "1234")
        for (client, pin) in pins.map({ (alice, $0) }) + [(stranger, "1234"), (stranger, "1234")] {
            let before = trips()
            _ = try await under.redeem(client.prove(pin, to: under.service))
            XCTAssertEqual(trips() - before, 6, "\(under.surroundings.seen)")
        }
    }

    /// Tests that a token is good once, and that the token of a login for a browser stays until a page presents it.
    func testATokenIsTakenOnceAndABrowsersIsLeft() async throws {
        let (under, _) = try await postgres()
        let alice = try await under.register("alice@example.com", pin: "1234")
        let outcome = WaitingBrowser.Outcome(logoutURL: "", logoutData: nil)
        func redeem(_ token: String, isOwnPage: Bool) async throws -> Verdict {
            try await under.service.redeem(token, isOwnPage: isOwnPage, outcome: outcome).verdict
        }
        let plain = try await alice.prove("1234", to: under.service)
        let verdict = try await redeem(plain, isOwnPage: false)
        XCTAssertEqual(verdict, .right)
        await refuses(.expiredLogin) { _ = try await redeem(plain, isOwnPage: false) }
        let browser = try await under.service.openBrowser(.number)
        let token = try await alice.prove("1234", to: under.service, wid: browser.wid)
        for _ in 0..<2 { await refuses(.foreignPage) { _ = try await redeem(token, isOwnPage: false) } }
        _ = try await under.service.present(token) { _ in "code" }
        let other = try await redeem(token, isOwnPage: true)
        XCTAssertEqual(other, .right)
        await refuses(.expiredLogin) { _ = try await redeem(token, isOwnPage: true) }
    }

    /// Tests that somebody who logs in again and again leaves no growing item.
    func testManyLoginsOfOneIdentityLeaveAShortItem() async throws {
        let store = MemoryStore()
        var stores: [any Store] = [BlindStore(MemoryStore()), BlindStore(store)]
        let under = try await ServiceUnderTest(layer: { _ in stores.removeFirst() })
        let alice = try await under.register("alice@example.com", pin: "1234")
        for _ in 0..<40 {
            _ = try await alice.prove("1234", to: under.service)
            let item = try await store.read(ItemKey("pass1", alice.id.key), at: under.surroundings.now)
            XCTAssertLessThan(item?.value.count ?? 0, 5000)
        }
    }

    /// Somebody asks again and again for attempts that are refused, and does not go on with them.
    func testManyRefusedAttemptsLeaveAShortRecord() async throws {
        let (store, now) = (MemoryStore(), Moment.now())
        let slots = Slots(bits: 4, key: try .random(count: 32))
        let identities = Identities(in: BlindStore(store), slots: slots, policy: AttemptPolicy())
        let id = try MPinID.issue(userID: "alice", mobile: 1, at: now)
        for table in ["unknown_identity", "identity"] {
            for _ in 0..<300 {
                _ = try await identities.reserve(id, at: now)
                let item = try await store.list(table, after: nil, limit: 2, at: now).first?.item
                XCTAssertTrue((1..<5000).contains(item?.value.count ?? 0), table)
            }
            _ = try await identities.create(Registration(id: id, userID: "alice", regOTT: ""), keyID: "1", at: now)
        }
    }

    private func postgres() async throws -> (ServiceUnderTest, trips: () -> Int) {
        let url = try PostgresServer.shared.get().newDatabase()
        guard case .postgres(let place) = try StoreURL(url) else { throw StoreError.unusable(url) }
        let lasting = try await PostgresStore(place, .lasting)
        let shortLived = try await PostgresStore(place, .shortLived)
        var stores: [any Store] = [lasting, shortLived]
        let under = try await ServiceUnderTest(layer: { _ in stores.removeFirst() })
        return (under, { lasting.trips + shortLived.trips })
    }

    private func refuses(_ expected: ServiceError, _ work: () async throws -> Void) async {
        do {
            try await work()
            XCTFail("not refused")
        } catch { XCTAssertEqual(error as? ServiceError, expected) }
    }
}
