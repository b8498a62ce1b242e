import MPinOpenID
import MPinSecrets
import MPinStore
import MPinWire
import StoreEngines
import XCTest

/// Tests what a store keeps of secrets.
final class SecretHashTests: XCTestCase {
    private let start = Moment(microseconds: 1_800_000_000_000_000)
    private let secret = String(repeating: "s", count: 80)

    private func seal() throws -> HashSeal { HashSeal(from: try .random(count: 32, from: systemRandom)) }

    func testTheSealedHashIsOpenedForItsOwnerOnly() throws {
        let (seal, open) = (try seal(), SecretHash(of: secret))
        let sealed = try open.sealed(by: seal, owner: "clients/shop")
        XCTAssertEqual([open, sealed].map { $0.matches(secret) }, [true, true])
        XCTAssertEqual([open, sealed].map { $0.matches(secret + "s") }, [false, false])
        let hash = SHA256.hash(Array(secret.utf8))
        XCTAssertEqual(open.key(seal, owner: "clients/shop")?.plainBytes, hash)
        XCTAssertEqual(sealed.key(seal, owner: "clients/shop")?.plainBytes, hash)
        XCTAssertNil(sealed.key(seal, owner: "clients/shop2"))
        XCTAssertNil(sealed.key(try self.seal(), owner: "clients/shop"))
        guard case .sealed(_, let box) = sealed else { return XCTFail("not sealed") }
        let foreign = SecretHash.sealed(digest: SecretHash(of: "another").digest, box: box)
        XCTAssertNil(foreign.key(seal, owner: "clients/shop"), "the digest of another secret")
        XCTAssertEqual(try sealed.sealed(by: seal, owner: "clients/shop"), sealed)
        XCTAssertEqual(try open.sealed(by: nil, owner: "clients/shop"), open)
    }

    /// A row of the version before is read, and as long as nothing is sealed, it is written as that version reads it.
    func testTheFormOfTheVersionBefore() throws {
        let hash = Hex.encode(SHA256.hash(Array(secret.utf8)))
        let old = #"{"hash":"\#(hash)","created":1800000000000000}"#
        let read: ClientSecret = try JSON.decode(from: Array(old.utf8).span)
        XCTAssertEqual(read, ClientSecret(of: secret, created: start))
        XCTAssertEqual(String(decoding: try JSON.bytes(read), as: UTF8.self), old)
        let sealed = try read.sealed(by: seal(), of: "shop")
        let text = String(decoding: try JSON.bytes(sealed), as: UTF8.self)
        XCTAssertFalse(text.contains(hash))
        XCTAssertEqual(try JSON.decode(ClientSecret.self, from: Array(text.utf8).span), sealed)
        for bad in ["", "00", hash + "00", "x" + hash.dropFirst()] {
            for name in ["hash", "digest"] {
                let text = #"{"\#(name)":"\#(bad)","sealed":"00","created":1800000000000000}"#
                XCTAssertThrowsError(try JSON.decode(ClientSecret.self, from: Array(text.utf8).span), text)
            }
        }
    }

    func testTheHashesOfStoredClientsAreSealed() async throws {
        let registry = ClientRegistry(in: RepeatingStore(MemoryStore()))
        var shop = Client(id: "shop", name: "shop", created: start)
        shop.redirectURIs = [try RedirectURI("https://shop.example/cb")]
        shop.secrets = [ClientSecret(of: secret, created: start)]
        try await registry.add(shop, at: start)
        let (seal, second) = (try seal(), String(repeating: "t", count: 80))
        _ = try await registry.rotateSecret("shop", to: second, overlap: 100, at: start)
        for _ in 0..<2 { try await registry.sealHashes(by: seal, at: start) }
        let found = try await registry.find("shop", at: start)
        let secrets = try XCTUnwrap(found?.secrets)
        XCTAssertEqual(secrets.map { $0.hash.matches(second) }, [true, false])
        XCTAssertEqual(secrets.map { $0.hash.matches(secret) }, [false, true])
        XCTAssertEqual(secrets.map(\.expires), [nil, start.adding(seconds: 100)])
        for secret in secrets {
            guard case .sealed = secret.hash else { return XCTFail("not sealed") }
            XCTAssertNotNil(secret.hash.key(seal, owner: ClientSecret.owner("shop")))
        }
        do {
            _ = try await registry.rotateSecret("shop", to: second, overlap: 0, sealing: seal, at: start)
            XCTFail("the same secret again")
        } catch let fault as ClientRegistryFault { XCTAssertEqual(fault, .sameSecret("shop")) }
    }
}
