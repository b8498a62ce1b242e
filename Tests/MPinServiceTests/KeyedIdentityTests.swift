import MPinCrypto
import MPinSecrets
import MPinService
import MPinStore
import StoreEngines
import XCTest

/// Tests what identities with key pairs and M-Pin IDs of version 5 change in the stores.
final class KeyedIdentityTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)

    /// A record that an earlier version has stored has no public key.
    func testAnOldRecordHasNoPublicKey() throws {
        var record = IdentityRecord(mpinID: "7b7d", userID: "a", keyID: "1", registered: now)
        XCTAssertEqual(record.publicKeyHash, IdentityRecord.noPublicKey)
        let renewal = 4 + SHA256.size + 4 + 1
        let successor = 1 + 4 + SHA256.size + renewal
        for without in [renewal, successor, successor + 4 + SHA256.size] {
            XCTAssertEqual(try IdentityRecord(stored: Array(record.stored().dropLast(without))), record)
        }
        let length = try record.stored().count
        record.publicKeyHash = SHA256.hash([1])
        (record.mustRenew, record.successor) = (true, SHA256.hash([2]))
        record.renewal = .init(publicKeyHash: SHA256.hash([3]), keyID: "2")
        XCTAssertEqual(try IdentityRecord(stored: record.stored()), record)
        XCTAssertEqual(try record.stored().count, length, "the length does not reveal whether there is a key")
    }

    /// Whoever has stolen the server secret could log in as anybody with it as public key: then the proof -(x + y) A is
    /// right. So only the registered key counts (TRUST wire section 10, item 1).
    func testTheServerSecretIsNobodysPublicKey() async throws {
        let world = try await ServiceUnderTest()
        let projects = ProjectService(world.service, durable: MemoryStore(), shortLived: MemoryStore())
        let client = try await world.register("a@example.com", pin: "1234")
        let (first, second) = (try await secret(world, 0), try await secret(world, 1))
        let stolen = try output(MPinSize.g2) { sum throws(MPinError) in
            try Shares.recombineG2(first.span, second.span, into: &sum)
        }
        let hash = SHA256.hash(client.id.bytes + stolen)
        let a = try output(MPinSize.g1) { a throws(MPinError) in try Identity.mapToG1(hash: hash.span, into: &a) }
        let x = [UInt8](repeating: 0, count: 31) + [1]
        let y = try await projects.challenge(
            client.id, u: Hex.encode(a), publicKey: Hex.encode(stolen), scope: "dvs-auth")
        let challenge = try XCTUnwrap(Hex.decode(y))
        let v = try output(MPinSize.g1) { v throws(MPinError) in
            try Client.pass2(x: x.span, y: challenge.span, sec: a.span, into: &v)
        }
        let proof = AuthenticationService.Proof(
            id: client.id, v: Hex.encode(v), wid: "0", wantsDigits: false, isScoped: true)
        let token = try await world.service.judge(proof, ServiceUnderTest.logger).token
        let outcome = try await projects.redeem(token)
        XCTAssertEqual(outcome.verdict, .wrong(left: 2))
    }

    private func secret(_ world: ServiceUnderTest, _ index: Int) async throws -> [UInt8] {
        let share = try await world.authorities[index].serverSecretShare(keyID: "1")
        return try XCTUnwrap(Hex.decode(share.hex()))
    }

    private func output(
        _ count: Int, _ fill: (inout MutableSpan<UInt8>) throws(MPinError) -> Void
    ) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        try fill(&span)
        return bytes
    }

    /// The user of an ID of version 5 that a restore has lost is told to register again, and nobody else is.
    func testARestoreFindsLostIDsOfVersion5() async throws {
        let store = MemoryStore()
        let id = try MPinID.issue(userID: "a@example.com", project: "p", at: now)
        XCTAssertEqual([id.userID, id.projectID], ["a@example.com", "p"])
        let record = IdentityRecord(mpinID: id.hex, userID: "a@example.com", keyID: "1", registered: now)
        _ = try await Table<IdentityRecord>("identity", in: store).create(id.key, record, at: now)
        try await LostRegistrations.note(in: store, at: now.adding(seconds: 10))
        let lost = try await LostRegistrations(in: store, at: now)
        let times = [0, 1, 9, 11]
        let found = try times.map { seconds in
            lost.contains(try MPinID.issue(userID: "b", project: "p", at: now.adding(seconds: seconds)))
        }
        XCTAssertEqual(found, [false, true, true, false])
    }

    /// IDs of version 5 in the server's own form are read without a JSON parser, others with it. Both find the same.
    func testIDsInAnotherFormHaveTheSameMembers() throws {
        for user in ["a@example.com", "zoë", #"a "quoted" one"#, #"back\slash"#, "a/b", ""] {
            let id = try MPinID.issue(userID: user, project: "p.1", verification: .quickCode, at: now)
            let text = String(decoding: id.bytes, as: UTF8.self)
            let others = [text.replacing(",", with: ", "), text.replacing(#""v":5"#, with: #""v":6"#)]
            for text in [text] + others {
                let read = try XCTUnwrap(MPinID(hex: Hex.encode(Array(text.utf8))))
                XCTAssertEqual([read.userID, read.projectID], [user, "p.1"], text)
                XCTAssertEqual(read.verification, .quickCode, text)
            }
            for text in [text + " x", String(text.dropLast())] {
                XCTAssertNil(MPinID(hex: Hex.encode(Array(text.utf8)))?.projectID, text)
            }
        }
    }
}
