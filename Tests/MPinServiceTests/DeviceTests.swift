import MPinService
import MPinStore
import StoreEngines
import XCTest

/// Tests the list of a user's devices, and their removal.
final class DeviceTests: XCTestCase {
    private func register(
        _ user: String, _ name: String, at under: ServiceUnderTest
    ) async throws -> MPinID {
        let application = try AuthenticationService.Application(
            id: nil, userID: user, mobile: 0, registrationToken: nil, activationCode: nil, deviceName: name,
            limits: under.service.rules.limits)
        let started = try await under.service.register(application) { _ in .init(isConfirmed: true) }
        _ = try await under.service.issueShares(started.id, token: started.registrationToken)
        // The client fetches its shares again, because the answer was lost.
        _ = try await under.service.issueShares(started.id, token: started.registrationToken)
        return started.id
    }

    func testEachUserHasTheirDevicesTheLatestFirst() async throws {
        let under = try await ServiceUnderTest()
        let first = try await register("alice", "Alice's phone", at: under)
        under.surroundings.advance(seconds: 10)
        let second = try await register("alice", "", at: under)
        _ = try await register("bob", "Bob's phone", at: under)
        let devices = try await under.service.devices(of: UserKey("alice"))
        XCTAssertEqual(devices.map(\.identity), [second.key, first.key])
        XCTAssertEqual(devices.map(\.name), [nil, "Alice's phone"])
        XCTAssertEqual(devices.map(\.lastUsed), [nil, nil])
        let bobs = try await under.service.devices(of: UserKey("bob"))
        XCTAssertEqual(bobs.map(\.name), ["Bob's phone"])
        let nobodys = try await under.service.devices(of: UserKey("carol"))
        XCTAssertEqual(nobodys, [])
    }

    func testALoginIsTheLastUse() async throws {
        let under = try await ServiceUnderTest()
        let alice = try await under.register("alice", pin: "1234")
        under.surroundings.advance(seconds: 100)
        let before = under.surroundings.now
        _ = try await under.redeem(try await alice.prove("1234", to: under.service))
        let used = try await under.service.devices(of: UserKey("alice")).first?.lastUsed
        XCTAssertGreaterThanOrEqual(try XCTUnwrap(used), before)
    }

    /// A removed device gets no right verdict any more. A device of somebody else cannot be removed.
    func testARemovedDeviceNeverLogsInAgain() async throws {
        let under = try await ServiceUnderTest()
        let alice = try await under.register("alice", pin: "1234")
        let foreign = try await under.service.removeDevice(alice.id.key, of: UserKey("bob"))
        XCTAssertNil(foreign)
        let unknown = try await under.service.removeDevice(String(repeating: "0", count: 64), of: UserKey("alice"))
        XCTAssertNil(unknown)
        let right = try await under.redeem(try await alice.prove("1234", to: under.service))
        XCTAssertEqual(right.verdict, .right)
        let removed = try await under.service.removeDevice(alice.id.key, of: UserKey("alice"))
        XCTAssertEqual(removed, alice.id)
        let refused = try await under.redeem(try await alice.prove("1234", to: under.service))
        XCTAssertEqual(refused.verdict, .revoked)
        let devices = try await under.service.devices(of: UserKey("alice"))
        XCTAssertEqual(devices.map(\.isRevoked), [true])
    }

    /// Names come from clients, so what cannot be seen is removed, and long names are cut.
    func testNamesOfDevices() async throws {
        let under = try await ServiceUnderTest()
        for (name, shown) in [
            ("My\u{202e} pho\u{200b}ne\n", "My phone"),
            (String(repeating: "x", count: 1000), String(repeating: "x", count: 64)),
            ("e\u{301}", "\u{e9}"), ("\u{7}", nil),
        ] {
            let user = "user of \(name.count)"
            _ = try await register(user.replacing("\n", with: ""), name, at: under)
            let devices = try await under.service.devices(of: UserKey(user))
            XCTAssertEqual(devices.first?.name, shown)
        }
    }

    /// Identities that an older version has registered are in no index. They are added at the first start.
    func testIdentitiesOfAnOlderVersionAreAdded() async throws {
        let store = RepeatingStore(MemoryStore())
        let start = Moment.now()
        let known = Table<IdentityRecord>("identity", in: store)
        for number in 0..<3 {
            let record = IdentityRecord(mpinID: "00", userID: "alice", keyID: "1", registered: start)
            _ = try await known.create(String(repeating: "\(number)", count: 64), record, at: start)
        }
        let under = try await ServiceUnderTest(layer: { _ in store })
        let devices = try await under.service.devices(of: UserKey("alice"))
        XCTAssertEqual(devices.map { String($0.identity.prefix(1)) }.sorted(), ["0", "1", "2"])
        XCTAssertEqual(devices.compactMap(\.name), [])
    }
}
