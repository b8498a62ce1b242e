import MPinOpenID
import MPinSecrets
import MPinStore
import MPinWire
import StoreEngines
import XCTest

/// Tests the signing keys. Row numbers are those of the checklist by which the provider was built; each comment says
/// what its row demands.
final class SigningKeysTests: XCTestCase {
    private let start = Moment(microseconds: 1_800_000_000_000_000)

    private func names(_ keys: SigningKeys) -> [String] {
        guard case .array(let list)? = keys.published["keys"] else { return [] }
        return list.compactMap { if case .string(let kid)? = $0["kid"] { kid } else { nil } }
    }

    /// Row 68: a client that has fetched the list within the last hour (`cacheSeconds`) has every key that signs.
    func testRow68NoClientMeetsAnUnknownKey() async throws {
        let store = RepeatingStore(MemoryStore())
        let keys = SigningKeys(in: store, sealKey: try .random(count: 32))
        try await keys.refresh(at: start)
        XCTAssertEqual(names(keys).count, 2)
        var fetched: [(Moment, [String])] = []
        let step = 1800
        for round in 0..<(200 * 86_400 / step) {
            let now = start.adding(seconds: round * step)
            // The keys are refreshed in every second round only, because a server does it now and then.
            if round % 2 == 0 { try await keys.refresh(at: now) }
            if round == 100 { try await keys.rotate(at: now) }
            fetched.append((now, names(keys)))
            fetched.removeAll { $0.0.adding(seconds: SigningKeys.cacheSeconds) < now }
            for algorithm in SigningAlgorithm.allCases {
                let kid = try keys.signer(algorithm, at: now).kid
                XCTAssertTrue(fetched.allSatisfy { $0.1.contains(kid) }, "round \(round)")
            }
        }
        // For each algorithm two keys are left: the one that signs and the one before. Keys whose tokens have all
        // expired are gone.
        XCTAssertEqual(names(keys).count, 4)
    }

    /// Two servers with one database start at the same time: they agree on one key for each algorithm.
    func testTwoServersMakeTheSameKeys() async throws {
        let (gate, memory, sealKey) = (TripGate(), MemoryStore(), try SecretBytes.random(count: 32))
        let one = SigningKeys(in: FarStore(memory, gate), sealKey: sealKey)
        let two = SigningKeys(in: FarStore(memory, gate), sealKey: sealKey)
        // Both find no keys, and then both store one of each algorithm.
        gate.expect([2, 2, 2])
        let now = start
        async let first: Void = one.refresh(at: now)
        async let second: Void = two.refresh(at: now)
        _ = try await (first, second)
        XCTAssertEqual(gate.result().failures, [])
        XCTAssertEqual(names(one).count, 2)
        XCTAssertEqual(Set(names(one)), Set(names(two)))
    }

    /// Eight servers with one PostgreSQL database start at the same time, and are all told to make a new key at the same
    /// time: all find that there is none, and then all try to store one.
    func testServersWithOneDatabaseMakeOneKey() async throws {
        let url = try PostgresServer.shared.get().newDatabase()
        let (gate, sealKey) = (TripGate(), try SecretBytes.random(count: 32))
        let servers = try await concurrently(8) { _ in
            let store = FarStore(try await StoreURL(url).lasting(), gate)
            return SigningKeys(in: store, sealKey: sealKey, algorithms: [.es256])
        }
        for count in [1, 2] {
            gate.expect([8, 8])
            try await concurrently(8) { [start] number in
                if count == 1 {
                    try await servers[number].refresh(at: start)
                } else {
                    try await servers[number].rotate(at: start)
                }
            }
            XCTAssertEqual(gate.result().failures, [])
            for server in servers {
                XCTAssertEqual(names(server).count, count)
                XCTAssertEqual(names(server), names(servers[0]))
            }
            let late = SigningKeys(in: try await StoreURL(url).lasting(), sealKey: sealKey, algorithms: [.es256])
            try await late.refresh(at: start)
            XCTAssertEqual(names(late), names(servers[0]))
        }
    }

    /// Row 68: a token can be verified after another key has begun to sign, until the old key is deleted.
    func testRow68OldKeysAreKept() async throws {
        let keys = SigningKeys(in: MemoryStore(), sealKey: try .random(count: 32))
        try await keys.refresh(at: start)
        let old = try keys.signer(.es256, at: start)
        let token = try JWT.sign(["a": .int(1)], type: "t", by: old)
        try await keys.rotate(at: start)
        let later = start.adding(seconds: 3 * 3600)
        try await keys.refresh(at: later)
        XCTAssertNotEqual(try keys.signer(.es256, at: later).kid, old.kid)
        XCTAssertEqual(try JWT.verified(token, .es256, type: "t", by: keys.signers)["a"], .int(1))
        try await keys.refresh(at: later.adding(seconds: 40 * 86_400))
        XCTAssertThrowsError(try JWT.verified(token, .es256, type: "t", by: keys.signers))
    }

    /// After a key was withdrawn, its tokens are not valid any more, and the next key signs at once. If none is published
    /// yet, a new one does, and not an old one, whose time is over. Other servers see it when they refresh.
    func testAKeyThatIsWithdrawnEndsAtOnce() async throws {
        let (store, seal) = (RepeatingStore(MemoryStore()), try SecretBytes.random(count: 32))
        let (keys, other) = (SigningKeys(in: store, sealKey: seal), SigningKeys(in: store, sealKey: seal))
        for keys in [keys, other] { try await keys.refresh(at: start) }
        let (rsa, leaked) = (try keys.signer(.rs256, at: start).kid, try keys.signer(.es256, at: start))
        let token = try JWT.sign(["a": .int(1)], type: "t", by: leaked)
        let isUnknown = try await keys.withdraw("unknown", at: start)
        XCTAssertFalse(isUnknown)
        try await keys.rotate(at: start)
        let next = try XCTUnwrap(keys.signers.last { $0.algorithm == .es256 }).kid
        let isDone = try await keys.withdraw(leaked.kid, at: start)
        XCTAssertTrue(isDone)
        XCTAssertEqual(try keys.signer(.es256, at: start).kid, next)
        XCTAssertEqual(try keys.signer(.rs256, at: start).kid, rsa, "the keys of the other algorithm stay as they are")
        XCTAssertThrowsError(try JWT.verified(token, .es256, type: "t", by: keys.signers))
        XCTAssertNoThrow(try JWT.verified(token, .es256, type: "t", by: other.signers), "before it refreshes")
        try await other.refresh(at: start)
        XCTAssertThrowsError(try JWT.verified(token, .es256, type: "t", by: other.signers))
        XCTAssertEqual(try other.signer(.es256, at: start).kid, next)

        let later = start.adding(seconds: 3 * 3600)
        let signing = try keys.signer(.rs256, at: later).kid
        XCTAssertNotEqual(signing, rsa)
        _ = try await keys.withdraw(signing, at: later)
        let fresh = try keys.signer(.rs256, at: later).kid
        XCTAssertFalse([rsa, signing].contains(fresh))
        _ = try await keys.withdraw(rsa, at: later)
        XCTAssertEqual(try keys.signer(.rs256, at: later).kid, fresh, "an old key leaves and nothing else changes")
        XCTAssertEqual(names(keys).count, 2)
        let thief = SigningKeys(in: store, sealKey: try .random(count: 32))
        do {
            _ = try await thief.withdraw(fresh, at: later)
            XCTFail("withdrawn with another key")
        } catch is SealedBox.Failure {}
    }

    /// Row 69: the published keys have no private members.
    func testRow69NothingPrivateIsPublished() async throws {
        let keys = SigningKeys(in: MemoryStore(), sealKey: try .random(count: 32))
        try await keys.refresh(at: start)
        guard case .array(let list)? = keys.published["keys"] else { return XCTFail("no list") }
        for key in list {
            guard case .object(let members) = key else { return XCTFail("no key") }
            let isRSA = members["kty"] == .string("RSA")
            XCTAssertEqual(
                Set(members.keys),
                Set(["kty", "use", "alg", "kid"] + (isRSA ? ["n", "e"] : ["crv", "x", "y"])))
        }
        for name in names(keys) { XCTAssertEqual(Hex.decode(name)?.count, 12, "\(name) could be taken for an option") }
        XCTAssertEqual([Set(names(keys)).count, list.count], [2, 2])
    }

    /// A second server with the same store and sealing key has the same signing keys. With another sealing key, they
    /// cannot be opened.
    func testKeysAreSealed() async throws {
        let (store, sealKey) = (MemoryStore(), try SecretBytes.random(count: 32))
        let first = SigningKeys(in: store, sealKey: sealKey)
        try await first.refresh(at: start)
        let second = SigningKeys(in: store, sealKey: sealKey)
        try await second.refresh(at: start)
        XCTAssertEqual(names(first), names(second))
        let thief = SigningKeys(in: store, sealKey: try .random(count: 32))
        do {
            try await thief.refresh(at: start)
            XCTFail("opened")
        } catch is SealedBox.Failure {}
        let item = try await store.read(ItemKey("oidc_keys", "all"), at: start)
        let text = String(decoding: try XCTUnwrap(item).value, as: UTF8.self)
        XCTAssertFalse(text.contains("PRIVATE"))
    }

    /// Refuses tokens whose header names another algorithm, type or key: the provider decides on these, not the token.
    func testConfusedTokens() async throws {
        let keys = SigningKeys(in: MemoryStore(), sealKey: try .random(count: 32))
        try await keys.refresh(at: start)
        let signer = try keys.signer(.rs256, at: start)
        let good = try JWT.sign(["sub": .string("a")], type: "JWT", by: signer)
        XCTAssertEqual(try JWT.verified(good, .rs256, type: "JWT", by: keys.signers)["sub"], .string("a"))
        XCTAssertThrowsError(try JWT.verified(good, .es256, type: "JWT", by: keys.signers))
        XCTAssertThrowsError(try JWT.verified(good, .rs256, type: "at+jwt", by: keys.signers))
        let parts = good.split(separator: ".").map(String.init)
        guard case .string(let modulus)? = signer.publicMembers["n"] else { return XCTFail("no modulus") }
        let headers = [
            #"{"alg":"none","kid":"\#(signer.kid)","typ":"JWT"}"#,
            #"{"alg":"HS256","kid":"\#(signer.kid)","typ":"JWT"}"#,
            #"{"alg":"RS256","kid":"../../dev/null","typ":"JWT"}"#, #"{"alg":"RS256","typ":"JWT"}"#,
            #"{"alg":"RS256","kid":"\#(signer.kid)","typ":"JWT","crit":["exp"]}"#,
            #"{"alg":"RS256","kid":"x","jwk":{"kty":"RSA","n":"\#(modulus)","e":"AQAB"},"typ":"JWT"}"#,
        ]
        for header in headers {
            let head = Base64URL.encode(Array(header.utf8))
            let key = SecretBytes(utf8: modulus)
            let forged = Base64URL.encode(HMACSHA256.tag(Array("\(head).\(parts[1])".utf8), key: key))
            for signature in ["", parts[2], forged] {
                let token = "\(head).\(parts[1]).\(signature)"
                XCTAssertThrowsError(try JWT.verified(token, .rs256, type: "JWT", by: keys.signers), header)
            }
        }
    }
}
