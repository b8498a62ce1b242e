import MPinSecrets
import MPinService
import MPinStore
import StoreEngines
import XCTest

/// Tests logins of a service whose records somebody exchanges in its stores.
final class BoundRecordsTests: XCTestCase {
    private let lasting = MemoryStore()
    private let shortLived = MemoryStore()

    /// A service in whose stores every change is blind, as in PostgreSQL and Redis.
    private func service(_ state: Binding.State) async throws -> ServiceUnderTest {
        let mac = RecordMAC(
            secret: try .random(count: 32), service: "s", owner: Identities.owner)
        var stores: [any Store] = [lasting, shortLived].map { BoundStore(BlindStore($0), mac, Binding(state)) }
        return try await ServiceUnderTest(layer: { _ in stores.removeFirst() })
    }

    private func value(_ table: String, _ key: String, in store: MemoryStore) async throws -> [UInt8] {
        let item = try await store.read(ItemKey(table, key), at: .now())
        return try XCTUnwrap(item?.value, table)
    }

    private func put(_ value: [UInt8], _ table: String, _ key: String, in store: MemoryStore) async throws {
        try await store.update(ItemKey(table, key), at: .now(), .ordered) { $0?.value = value }
    }

    private func exchange(_ table: String, _ one: String, _ other: String, in store: MemoryStore) async throws {
        let (first, second) = (try await value(table, one, in: store), try await value(table, other, in: store))
        try await put(second, table, one, in: store)
        try await put(first, table, other, in: store)
    }

    private func replace(_ text: String, by other: String, in value: [UInt8]) throws -> [UInt8] {
        let index = try XCTUnwrap(value.firstRange(of: Array(text.utf8)))
        return Array(value[..<index.lowerBound]) + Array(other.utf8) + Array(value[index.upperBound...])
    }

    private func requireRefused(_ what: String, _ call: () async throws -> Void) async {
        do {
            try await call()
            XCTFail("\(what): not refused")
        } catch StoreError.unusable {} catch { XCTFail("\(what): \(error)") }
    }

    /// What is possible in stores whose records have no MACs, so that the other test means something.
    func testWithoutMACsATokenIsWhoeverWroteItSays() async throws {
        let under = try await service(.none)
        let alice = try await under.register("alice@example.com", pin: "1234")
        let token = try await alice.prove("1234", to: under.service)
        let stored = try await value("token", AuthToken.key(token), in: shortLived)
        let changed = try replace("alice@example.com", by: "admin@example.com", in: stored)
        try await put(changed, "token", AuthToken.key(token), in: shortLived)
        let redeemed = try await under.redeem(token)
        XCTAssertEqual(redeemed.user.userID, "admin@example.com")
    }

    func testATokenWithAnotherUserOrOfAnotherLoginIsRefused() async throws {
        let under = try await service(.complete)
        let alice = try await under.register("alice@example.com", pin: "1234")
        let token = try await alice.prove("1234", to: under.service)
        let good = try await value("token", AuthToken.key(token), in: shortLived)
        try await put(
            try replace("alice@example.com", by: "admin@example.com", in: good), "token", AuthToken.key(token),
            in: shortLived)
        await requireRefused("another user") { _ = try await under.redeem(token) }
        let wrong = try await alice.prove("9999", to: under.service)
        let (place, other) = (
            AuthToken.key(wrong), AuthToken.key(try await alice.prove("1234", to: under.service))
        )
        let right = try await value("token", other, in: shortLived)
        try await put(try replace(other, by: place, in: right), "token", place, in: shortLived)
        await requireRefused("a right PIN for a wrong one") { _ = try await under.redeem(wrong) }
    }

    func testRecordsOfTwoIdentitiesAreNotExchanged() async throws {
        let under = try await service(.complete)
        let alice = try await under.register("alice@example.com", pin: "1234")
        let bob = try await under.register("bob@example.com", pin: "4321")
        try await exchange("identity", alice.id.key, bob.id.key, in: lasting)
        await requireRefused("identity") { _ = try await alice.prove("1234", to: under.service) }
        try await exchange("identity", alice.id.key, bob.id.key, in: lasting)
        let verdict = try await under.redeem(alice.prove("1234", to: under.service)).verdict
        XCTAssertEqual(verdict, .right)
    }

    func testLoginsAreThoseOfAServiceWithoutMACs() async throws {
        let under = try await service(.complete)
        let alice = try await under.register("alice@example.com", pin: "1234")
        var verdicts: [Verdict] = []
        for pin in ["1234", "9999", "9998", "1234", "9999", "9998", "9997", "1234"] {
            verdicts.append(try await under.redeem(alice.prove(pin, to: under.service)).verdict)
        }
        XCTAssertEqual(
            verdicts,
            [
                .right, .wrong(left: 2), .wrong(left: 1), .right, .wrong(left: 2), .wrong(left: 1),
                .blocked(until: nil), .blocked(until: nil),
            ])
        let stranger = try await ServiceUnderTest().register("bob@example.com", pin: "1234")
        for _ in 0..<5 { _ = try await under.redeem(stranger.prove("1234", to: under.service)) }
    }
}
