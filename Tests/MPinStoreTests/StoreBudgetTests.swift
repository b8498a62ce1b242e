import MPinStore
import XCTest

/// Tests the room that strangers may take in stores (``StoreBudget``).
final class StoreBudgetTests: XCTestCase {
    private let start = Moment(microseconds: 1_700_000_000_000_000)

    /// A caller, each in a network of its own unless `network` says another.
    private func caller(_ number: Int, network: Int? = nil) -> StoreBudget.Asker {
        .stranger(
            .init(
                address: .init(high: 0, low: UInt64(number)), network: .init(high: 1, low: UInt64(network ?? number))))
    }

    private func store(
        table: Int, address: Int = 1 << 30, network: Int = 1 << 30
    ) -> (memory: MemoryStore, store: BudgetedStore, budget: StoreBudget) {
        let budget = StoreBudget(.init(table: table, address: address, network: network), tables: ["login", "code"])
        let memory = MemoryStore()
        return (memory, BudgetedStore(memory, budget), budget)
    }

    /// Stores an item of `bytes` bytes, and says why not; nil: it was stored.
    private func put(
        _ key: String, _ store: BudgetedStore, _ asker: StoreBudget.Asker, table: String = "login", bytes: Int = 488,
        seconds: Int = 100, at now: Moment? = nil
    ) async throws -> NoRoom? {
        let now = now ?? start
        let item = StoredItem(value: Array(repeating: 0, count: bytes), expires: now.adding(seconds: seconds))
        return try await StoreBudget.$asker.withValue(asker) {
            do { try await store.update(ItemKey(table, key), at: now, .volatile) { $0 = item } } catch let no as NoRoom
            {
                return no
            }
            return nil
        }
    }

    func testAFullTableRefusesStrangersAndLetsTheRestGoOn() async throws {
        let (memory, store, _) = store(table: 10_000)
        var number = 0
        while try await put("\(number)", store, caller(number)) == nil { number += 1 }
        XCTAssertEqual(number, 10)
        let refused = try await put("new", store, caller(99))
        XCTAssertEqual(refused, .ofTable)
        let known = try await put("0", store, caller(0), bytes: 600)
        XCTAssertNil(known, "what has begun may change")
        let other = try await put("new", store, caller(99), table: "code")
        XCTAssertNil(other, "each table has a budget of its own")
        let uncounted = try await put("new", store, caller(99), table: "token")
        XCTAssertNil(uncounted, "a step of a login that has begun")
        let own = try await put("of a back end", store, .known)
        XCTAssertNil(own)
        let goingOn = try await put("again", store, .goingOn(nil))
        XCTAssertNil(goingOn, "somebody who goes on has a quarter more")
        XCTAssertEqual(memory.count, 14)
        _ = try await store.take(ItemKey("login", "0"), at: start)
        _ = try await store.take(ItemKey("login", "1"), at: start)
        let next = try await put("new", store, caller(99))
        XCTAssertNil(next, "what has ended makes room")
    }

    func testAnAddressAndANetworkHaveAShareOfAllTables() async throws {
        let (_, store, budget) = store(table: 1 << 20, address: 4000, network: 10_000)
        var refusals: [NoRoom?] = []
        for number in 0..<6 {
            refusals.append(try await put("a\(number)", store, caller(1), table: number % 2 == 0 ? "login" : "code"))
        }
        XCTAssertEqual(refusals, [nil, nil, nil, nil, .ofAddress, .ofAddress])
        refusals = []
        for number in 0..<9 { refusals.append(try await put("b\(number)", store, caller(number + 2, network: 1))) }
        XCTAssertEqual(refusals.filter { $0 == nil }.count, 6)
        XCTAssertEqual(refusals.last, .ofNetwork)
        let honest = try await put("c", store, caller(50))
        XCTAssertNil(honest)
        let later = start.adding(seconds: 102)
        let again = try await put("d", store, caller(1), at: later)
        XCTAssertNil(again, "what has expired makes room")
        XCTAssertEqual(budget.use.count, 1, "\(budget.use)")
    }

    /// An item that gets a later end, as a registration that begins again, counts until then.
    func testALaterEndCounts() async throws {
        let (_, store, budget) = store(table: 1 << 20)
        _ = try await put("a", store, caller(1), seconds: 10)
        let changed = start.adding(seconds: 5)
        _ = try await put("a", store, caller(2), seconds: 10, at: changed)
        _ = try await put("b", store, caller(1), at: start.adding(seconds: 12))
        XCTAssertEqual(budget.use["login"], 2002)
        _ = try await put("c", store, caller(1), at: start.adding(seconds: 17))
        XCTAssertEqual(budget.use["login"], 2002, "a has expired, c has come")
    }

    /// A change that throws, or that is run twice and stores nothing, counts nothing.
    func testOnlyWhatIsStoredCounts() async throws {
        struct Refused: Error {}
        let (_, store, budget) = store(table: 1 << 20)
        try await StoreBudget.$asker.withValue(caller(1)) {
            do {
                try await store.update(ItemKey("login", "a"), at: start, .volatile) { item in
                    item = StoredItem(value: [1], expires: nil)
                    throw Refused()
                }
            } catch is Refused {}
            try await store.update(ItemKey("login", "a"), at: start, .volatile) { _ in }
            _ = try await store.take(ItemKey("login", "a"), at: start)
        }
        XCTAssertTrue(budget.use.isEmpty)
    }

    /// Ten minutes of twenty addresses, each of which begins ten logins of 9 KB a second, as its rate allows: the store
    /// never has more than the twenty shares, and somebody else always gets in.
    func testTenMinutesOfTwentyAddresses() async throws {
        let (memory, store, budget) = store(table: 64 << 20, address: 2 << 20, network: 8 << 20)
        var most = 0
        for second in 0..<600 {
            let now = start.adding(seconds: second)
            for address in 0..<20 {
                for number in 0..<10 {
                    let key = "\(second) \(address) \(number)"
                    let refused = try await put(key, store, caller(address), bytes: 9000, seconds: 1800, at: now)
                    // All further ones of this second would be refused as well.
                    if refused != nil { break }
                }
            }
            let honest = try await put("honest \(second)", store, caller(100 + second), seconds: 300, at: now)
            XCTAssertNil(honest)
            most = max(most, budget.use["login"] ?? 0)
        }
        XCTAssertGreaterThan(most, 20 * 2 << 20)
        XCTAssertLessThan(most, (20 * 2 + 1) << 20)
        XCTAssertLessThan(memory.count, 20 * 230 + 700)
    }
}
