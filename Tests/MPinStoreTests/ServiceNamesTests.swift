import MPinStore
import StoreEngines
import XCTest

/// Tests that services with the same Redis server or PostgreSQL database for what is short-lived share nothing there.
final class ServiceNamesTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private let key = ItemKey("token", "k")

    private func urls() throws -> [StoreURL] {
        [
            try StoreURL(RedisServer.shared.get().newURL()),
            try StoreURL(PostgresServer.shared.get().newDatabase()),
        ]
    }

    private func bytes(_ text: String) -> StoredItem {
        StoredItem(value: Array(text.utf8), expires: now.adding(seconds: 600))
    }

    func testServicesWithOneStoreDoNotSeeEachOthersItems() async throws {
        for url in try urls() {
            var stores: [any Store] = []
            for service in ["a1", "b2", nil] { stores.append(try await url.shortLived(names: ServiceNames(service))) }
            for (number, store) in stores.enumerated() {
                let isNew = try await store.create(key, bytes("\(number)"), at: now)
                XCTAssertTrue(isNew, "\(number)")
            }
            for (number, store) in stores.enumerated() {
                let (item, all) = (
                    try await store.read(key, at: now), try await store.list("token", after: nil, limit: 9, at: now)
                )
                XCTAssertEqual(item, bytes("\(number)"))
                XCTAssertEqual(all.map(\.key), ["k"])
                XCTAssertEqual(all.map(\.item), [bytes("\(number)")])
            }
            let taken = try await stores[0].take(key, at: now)
            XCTAssertEqual(taken, bytes("0"))
            let appended = try await stores[1].perform(Append(key: key), at: now, .ordered)
            XCTAssertEqual(appended, Array("1+".utf8))
            let left = try await stores[2].read(key, at: now)
            XCTAssertEqual(left, bytes("2"))
        }
    }

    private struct Append: NamedChange {
        static let name = "append"
        let key: ItemKey

        var keys: [ItemKey] { [key] }

        func run(_ items: inout Items) -> [UInt8]? {
            BlindWrite.append(key, Array("+".utf8), otherwise: nil).make(in: &items)?.item.value
        }

        func blindForm() -> BlindForm<[UInt8]?>? {
            BlindForm([.append(key, Array("+".utf8), otherwise: nil)]) { .some($0.first?.flatMap(\.self)?.item.value) }
        }
    }

    /// The names change between the reading and the writing of a transaction.
    func testAChangeIsMadeUnderOneName() async throws {
        for url in try urls() {
            let names = ServiceNames()
            let store = try await url.shortLived(names: names)
            _ = try await store.create(key, bytes("1"), at: now)
            let (new, other) = (bytes("2"), try await url.shortLived())
            try await store.update(key, at: now, .ordered) { item in
                names.carry("a1")
                item = item.map { _ in new }
            }
            let (before, after) = (try await other.read(key, at: now), try await store.read(key, at: now))
            XCTAssertNil(after, "what was there before has ended")
            XCTAssertNotNil(before)
            // Something is there under the new name, too. It does not become what the change has made of the old one.
            let (later, second) = (ServiceNames(), ItemKey("token", "l"))
            let (changing, renamed) = (
                try await url.shortLived(names: later), try await url.shortLived(names: ServiceNames("b2"))
            )
            _ = try await changing.create(second, bytes("3"), at: now)
            _ = try await renamed.create(second, bytes("9"), at: now)
            try await changing.update(second, at: now, .ordered) { item in
                later.carry("b2")
                item?.value.append(UInt8(ascii: "+"))
            }
            let left = try await renamed.read(second, at: now)
            XCTAssertTrue(
                [bytes("9"), bytes("9+")].contains(left),
                "\(left.map { String(decoding: $0.value, as: UTF8.self) } ?? "nil")")
        }
    }

    func testAStoreIsClaimedByOneService() async throws {
        for url in try urls() {
            let store = try await url.shortLived()
            var held: [Bool] = []
            for (service, seconds) in [("a1", 0), ("b2", 1), ("a1", 300), ("b2", 800), ("b2", 901), ("a1", 902)] {
                held.append(try await StoreClaim.hold(store, for: service, at: now.adding(seconds: seconds)))
            }
            XCTAssertEqual(held, [true, false, true, false, true, false])
        }
    }

    func testServicesCountForThemselvesAndNoCountIsLostWhenNamesChange() async throws {
        let (limit, user) = (try XCTUnwrap(RateLimit("2/600")), [UInt8](repeating: 1, count: 32))
        for url in try urls() {
            let names = ServiceNames()
            let (node, stranger) = (try url.counters(names: names), try url.counters(names: ServiceNames("b2")))
            for _ in 0..<2 {
                let wait = try await node.admit("login", user, limit)
                XCTAssertNil(wait)
            }
            let other = try await stranger.admit("login", user, limit)
            XCTAssertNil(other)
            names.carry("a1")
            let shared = try XCTUnwrap(node as? SharedCounters)
            await shared.tell()
            // Waits for the exchange that tells the counts.
            _ = try await node.admit("login", [UInt8](repeating: 2, count: 32), limit)
            let late = try await url.counters(names: ServiceNames("a1")).admit("login", user, limit)
            XCTAssertNotNil(late, "a server that knows nothing of the requests before")
        }
    }

    /// A ring wakes the servers of one service, also after its names have changed.
    func testARingIsHeardByOneService() async throws {
        guard case .redis(let url) = try StoreURL(RedisServer.shared.get().newURL()) else { return XCTFail() }
        let (names, same) = (ServiceNames(), ServiceNames())
        let first = try await RedisSignals(url, names: names, looksAgainAfter: nil)
        let second = try await RedisSignals(url, names: same, looksAgainAfter: nil)
        let stranger = try await RedisSignals(url, names: ServiceNames("b2"), looksAgainAfter: nil)
        for round in 0..<2 {
            let (heard, stopHeard) = second.rings("a", seconds: 60)
            let (silent, stopSilent) = stranger.rings("a", seconds: 60)
            _ = await heard.makeAsyncIterator().next()
            _ = await silent.makeAsyncIterator().next()
            // After a change of names nobody knows when the other server listens.
            let ringing = Task {
                while !Task.isCancelled {
                    first.ring("a")
                    try? await Task.sleep(for: .milliseconds(20))
                }
            }
            let rung: Void? = await heard.makeAsyncIterator().next()
            XCTAssertNotNil(rung, "round \(round)")
            ringing.cancel()
            stopHeard()
            stopSilent()
            let last: Void? = await silent.makeAsyncIterator().next()
            XCTAssertNil(last, "round \(round)")
            names.carry("a1")
            same.carry("a1")
        }
    }
}
