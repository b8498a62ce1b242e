import Foundation
import MPinSecrets
import MPinService
import MPinStore
import StoreEngines
import XCTest

/// Tests the id of a service, which names in shared stores carry.
final class ServiceIDTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private let key = SecretBytes(copying: [UInt8](repeating: 1, count: 32).span)

    func testAnIDIsMadeOnceAndNamesOfANewServiceCarryIt() async throws {
        let store = MemoryStore()
        let ids = try await concurrently(8) { [now, key] _ in try await ServiceID.find(in: store, key: key, at: now) }
        XCTAssertEqual(Set(ids.map(\.text)).count, 1)
        XCTAssertEqual(ids[0].text.count, 32)
        XCTAssertTrue(ids.allSatisfy { $0.sealed == Moment(microseconds: 0) })
        let read = try await ServiceID.read(in: store, at: now)
        XCTAssertEqual(read, ids[0])
    }

    func testNamesOfAServiceThatHasRunBeforeCarryItWhenThatIsDecided() async throws {
        let store = MemoryStore()
        _ = try await store.setting("app_id") { "00" }
        let id = try await ServiceID.find(in: store, key: key, at: now)
        XCTAssertNil(id.sealed)
        let begin = try await ServiceID.seal(in: store, at: now)
        XCTAssertEqual(begin, now.adding(seconds: 4), "all servers have looked by then")
        let again = try await ServiceID.seal(in: store, at: now.adding(seconds: 60))
        XCTAssertEqual(again, begin)
        let sealed = try await ServiceID.find(in: store, key: key, at: now)
        XCTAssertEqual([sealed.text, sealed.sealed.map { "\($0.microseconds)" }], [id.text, "\(begin.microseconds)"])
    }

    func testAnIDIsBoundToItsKeyAndRenewedForAnother() async throws {
        let (store, other) = (MemoryStore(), SecretBytes(copying: [UInt8](repeating: 2, count: 32).span))
        let first = try await ServiceID.find(in: store, key: key, at: now)
        do {
            _ = try await ServiceID.find(in: store, key: other, at: now)
            XCTFail("found with another key")
        } catch is ServiceID.ForeignKey {}
        let renewed = try await ServiceID.renew(in: store, key: other, at: now)
        XCTAssertNotEqual(renewed.text, first.text)
        let found = try await ServiceID.find(in: store, key: other, at: now)
        XCTAssertEqual(found, renewed)
    }

    /// Somebody who can write to the database puts the id of another service into it.
    func testTheIDOfAnotherServiceIsRefused() async throws {
        let (store, other) = (MemoryStore(), MemoryStore())
        let otherKey = SecretBytes(copying: [UInt8](repeating: 2, count: 32).span)
        _ = try await ServiceID.find(in: store, key: key, at: now)
        _ = try await ServiceID.find(in: other, key: otherKey, at: now)
        for names in [["service"], ["service", "service_key"]] {
            for name in names {
                let item = try await other.read(ItemKey("setting", name), at: now)
                try await store.update(ItemKey("setting", name), at: now, .durable) { $0 = item }
            }
            do {
                _ = try await ServiceID.find(in: store, key: key, at: now)
                XCTFail("\(names)")
            } catch is ServiceID.ForeignKey {}
        }
        _ = try await store.take(ItemKey("setting", "service_key"), at: now)
        do {
            _ = try await ServiceID.find(in: store, key: key, at: now)
            XCTFail("without a binding")
        } catch is ServiceID.ForeignKey {}
    }

    func testABackupFromBeforeThereWereIDsKeepsThatOfTheServiceAndALaterOneItsOwn() async throws {
        let (present, old, late) = (MemoryStore(), MemoryStore(), MemoryStore())
        let id = try await ServiceID.find(in: present, key: key, at: now)
        _ = try await old.setting("app_id") { "00" }
        let own = try await ServiceID.find(in: late, key: key, at: now)
        for store in [old, late] { try await ServiceID.keep(from: present, in: store, at: now) }
        let (first, second) = (
            try await ServiceID.find(in: old, key: key, at: now), try await ServiceID.find(in: late, key: key, at: now)
        )
        XCTAssertEqual([first.text, second.text], [id.text, own.text])
        XCTAssertNil(first.sealed)
    }
}
