import MPinOpenID
import MPinSecrets
import MPinStore
import StoreEngines
import XCTest

/// Tests the registry of clients, in the store and in a file. Row 7 of the checklist by which the provider was built
/// demands that unknown clients are refused.
final class ClientRegistryTests: XCTestCase {
    private let start = Moment(microseconds: 1_800_000_000_000_000)
    private let store = RepeatingStore(MemoryStore())
    private let secret = String(repeating: "a", count: 40)

    private func client(_ id: String) throws -> Client {
        var client = Client(id: id, name: id, created: start)
        try ClientChangeTests.change(["redirect-uri": ["https://\(id.lowercased()).example/cb"]]).apply(to: &client)
        client.secrets = [ClientSecret(of: secret, created: start)]
        return client
    }

    private func fault(_ work: () async throws -> Void) async -> ClientRegistryFault? {
        do { try await work() } catch { return error as? ClientRegistryFault }
        return nil
    }

    func testRow7ClientsAreFoundByTheirIDAlone() async throws {
        let registry = ClientRegistry(in: store)
        let shop = try client("shop")
        try await registry.add(shop, at: start)
        let found = try await registry.find("shop", at: start)
        XCTAssertEqual(found, shop)
        for id in ["", "Shop", "shop ", "sho", "shop\u{0}", "shop/../shop", String(repeating: "x", count: 5000)] {
            let other = try await registry.find(id, at: start)
            XCTAssertNil(other, id)
        }
    }

    func testAnIDIsThereOnce() async throws {
        let registry = ClientRegistry(in: store)
        try await registry.add(try client("shop"), at: start)
        let again = await fault { try await registry.add(try self.client("shop"), at: self.start) }
        XCTAssertEqual(again, .exists("shop"))
    }

    func testAChangeThatIsRefusedChangesNothing() async throws {
        let registry = ClientRegistry(in: store)
        try await registry.add(try client("shop"), at: start)
        let wrong = try ClientChangeTests.change(["name": ["Another"], "scope": ["email"]])
        do {
            _ = try await registry.change("shop", wrong, at: start)
            XCTFail("a client without openid")
        } catch let fault as ClientFault { XCTAssertEqual(fault.description, "scope: needs openid") }
        let kept = try await registry.find("shop", at: start)
        XCTAssertEqual(kept?.name, "shop")
    }

    func testDisabledRemovedAndListed() async throws {
        let registry = ClientRegistry(in: store)
        for id in ["shop", "Blog", "app"] { try await registry.add(try client(id), at: start) }
        let disabled = try ClientChangeTests.change(["disabled": ["true"]])
        let changed = try await registry.change("app", disabled, at: start)
        XCTAssertTrue(changed.isDisabled)
        try await registry.remove("shop", at: start)
        let ids = try await registry.list(at: start).map(\.id)
        XCTAssertEqual(ids, ["Blog", "app"])
        let gone = await fault { try await registry.remove("shop", at: self.start) }
        XCTAssertEqual(gone, .unknown("shop"))
        let unknown = await fault { _ = try await registry.change("shop", disabled, at: self.start) }
        XCTAssertEqual(unknown, .unknown("shop"))
    }

    func testMoreClientsThanAPageOfTheStore() async throws {
        let registry = ClientRegistry(in: store)
        for number in 0..<501 { try await registry.add(try client("c\(number)"), at: start) }
        let count = try await registry.list(at: start).count
        XCTAssertEqual(count, 501)
    }

    /// After a rotation the old and the new secret are valid for the overlap, and a further rotation ends the oldest
    /// one.
    func testASecretIsRotated() async throws {
        let registry = ClientRegistry(in: store)
        try await registry.add(try client("shop"), at: start)
        let secrets = [secret, String(repeating: "b", count: 40), String(repeating: "c", count: 40)]
        func good(_ client: Client, after seconds: Int) -> [Bool] {
            secrets.map { secret in
                let now = start.adding(seconds: seconds)
                return client.secrets.contains { $0.hash.matches(secret) && $0.isLive(at: now) }
            }
        }
        let once = try await registry.rotateSecret("shop", to: secrets[1], overlap: 100, at: start)
        XCTAssertEqual(good(once, after: 99), [true, true, false])
        XCTAssertEqual(good(once, after: 100), [false, true, false])
        let same = await fault {
            _ = try await registry.rotateSecret("shop", to: secrets[1], overlap: 100, at: self.start)
        }
        XCTAssertEqual(same, .sameSecret("shop"))
        let twice = try await registry.rotateSecret("shop", to: secrets[2], overlap: 100, at: start.adding(seconds: 10))
        XCTAssertEqual(good(twice, after: 11), [false, true, true])
        let atOnce = try await registry.rotateSecret("shop", to: secrets[0], overlap: 0, at: start.adding(seconds: 20))
        XCTAssertEqual(good(atOnce, after: 20), [true, false, false])
    }

    func testAPublicClientHasNoSecret() async throws {
        let registry = ClientRegistry(in: store)
        try await registry.add(try client("shop"), at: start)
        let toPublic = try ClientChangeTests.change(["auth-method": ["none"]])
        let changed = try await registry.change("shop", toPublic, at: start)
        XCTAssertEqual(changed.secrets, [])
        let fault = await fault {
            _ = try await registry.rotateSecret("shop", to: self.secret, overlap: 0, at: self.start)
        }
        XCTAssertEqual(fault, .isPublic("shop"))
    }

    func testClientsOfAFileAreReadOnlyAndTheirIDsAreTaken() async throws {
        let hash = String(repeating: "0", count: 64)
        let text = "- id: shop\n  redirect-uri: [https://shop.example/cb]\n  secret-sha256: \(hash)\n"
        let file = try ClientsFile(text, path: "c.yaml", at: start)
        let registry = ClientRegistry(in: store, file: file)
        let found = try await registry.find("shop", at: start)
        XCTAssertEqual(found?.redirectURIs.map(\.text), ["https://shop.example/cb"])
        let change = try ClientChangeTests.change(["name": ["x"]])
        let work: [() async throws -> Void] = [
            { try await registry.add(try self.client("shop"), at: self.start) },
            { _ = try await registry.change("shop", change, at: self.start) },
            { _ = try await registry.rotateSecret("shop", to: self.secret, overlap: 0, at: self.start) },
            { try await registry.remove("shop", at: self.start) },
        ]
        for work in work {
            let refusal = await fault(work)
            XCTAssertEqual(refusal, .fixed("shop", "c.yaml:1"))
        }
        try await registry.requireSingleIDs(at: start)
        // Adds a client with the same id through a registry that does not know the file.
        try await ClientRegistry(in: store).add(try client("shop"), at: start)
        do {
            try await registry.requireSingleIDs(at: start)
            XCTFail("a double id")
        } catch let error as ClientsFileError {
            XCTAssertEqual(
                error.description, "c.yaml:1: the client shop is in the database, too: remove one of the two")
        }
    }
}
